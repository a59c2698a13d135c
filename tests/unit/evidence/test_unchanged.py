"""What a 304 says is still current: the latest earlier capture of its version, if it was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.db.models import Record
from tests.unit.archive.captured import SHOP, day, exchange, record

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.warc.messages import Exchange

ONE, TWO = '"one"', '"two"'
MAY, JUNE = "Fri, 01 May 2026 00:00:00 GMT", "Mon, 01 Jun 2026 00:00:00 GMT"


def version(number: int, **headers: Any) -> Exchange:
    """A page of a day."""
    return exchange(SHOP, f"<p>{number}", day(number), **headers)


@pytest.mark.parametrize(
    ("headers", "original"),
    [
        ({}, 2),
        ({"ETag": ONE}, 1),
        ({"ETag": f"W/{TWO}"}, 2),
        ({"ETag": '"three"'}, None),
        ({"Last_Modified": MAY}, 1),
        ({"Last_Modified": JUNE, "ETag": ONE}, 1),
        ({"Last_Modified": "Thu, 02 Apr 2026 00:00:00 GMT"}, None),
    ],
)
def test_it_repeats_its_version(
    database: Database, tmp_path: Path, headers: dict[str, Any], original: int | None
) -> None:
    """By its ETag, else by its date, else whatever was there last; never what came later."""
    numbers = record(
        database, tmp_path, version(1, ETag=ONE, Last_Modified=MAY), version(2, ETag=TWO, Last_Modified=JUNE),
        exchange(SHOP, "", day(3), status=304, **headers), version(4, ETag='"four"'),
        exchange(f"{SHOP}other", "", day(3), status=304, **headers),
    )  # fmt: skip
    with database.read() as db:
        found = dict(db.execute(select(Record.id, Record.original_id)).all())
    assert found[numbers[2]] == (numbers[original - 1] if original else None)
    assert found[numbers[4]] is None
