"""Snapshots and changes go out once each, within the days that were asked for, and never those of tests."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crawler.views import archive_exports
from crawler.views.archive_exports import Exported, ExportForm, ExportOrder, columns, lines
from tests.unit.archive.written import SHOP, content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

MIDNIGHT = datetime(2026, 5, 2, tzinfo=UTC)


def exported(database: Database, **how: Any) -> list[dict[str, Any]]:
    """The rows as JSON lines."""
    order = ExportOrder(what=Exported.SNAPSHOTS, form=ExportForm.JSONL, **how)
    return [json.loads(line) for line in lines(database, order)]


@pytest.fixture
def filled(database: Database) -> Database:
    """Five pages of a shop around a midnight, and one of tests."""
    moments = (
        -timedelta(days=1),
        -timedelta(microseconds=1),
        timedelta(),
        timedelta(hours=23),
        timedelta(days=1),
    )
    index(
        database,
        *({"url": f"{SHOP}{n}", "at": MIDNIGHT + moment} for n, moment in enumerate(moments)),
        {"url": "https://hidden.example/", "source": "test", "at": MIDNIGHT},
    )
    return database


@pytest.mark.parametrize("rows", [1, 2, 5, 6, 1000])
def test_every_row_goes_out_once(filled: Database, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is read at once; what is only a test is nobody's."""
    monkeypatch.setattr(archive_exports, "PAGE_ROWS", rows)
    found = exported(filled)
    assert [row["originalUrl"] for row in found] == [f"{SHOP}{n}" for n in range(5)]
    assert list(found[0]) == columns(Exported.SNAPSHOTS)
    assert len(exported(filled, limit=3)) == 3
    assert exported(filled, limit=0) == []
    assert [row["id"] for row in exported(filled, after_id=found[2]["id"])] == [
        row["id"] for row in found[3:]
    ]


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        (None, None, 5), (date(2026, 5, 2), None, 3), (None, date(2026, 5, 1), 2),
        (date(2026, 5, 2), date(2026, 5, 2), 2), (date(2026, 5, 3), date(2026, 5, 2), 0),
        (date.min, date.max, 5),
    ],
)  # fmt: skip
def test_days_are_whole_and_of_utc(
    filled: Database, since: date | None, until: date | None, found: int
) -> None:
    """The last one included."""
    assert len(exported(filled, since=since, until=until)) == found


def test_a_source_in_whichever_case(filled: Database) -> None:
    """One that is not there has nothing; nor has the one that is hidden, though it is named."""
    assert len(exported(filled, source="Shop.Example")) == 5
    assert exported(filled, source="nobody") == exported(filled, source="test") == []


def test_a_spreadsheet_runs_nothing(database: Database) -> None:
    """What a page calls itself may be a formula; a password in an address is taken out."""
    index(
        database, {"url": "https://u:geheim@shop.example/", "content": content('=HYPERLINK("x")', 'a,b\n"c"')}
    )
    order = ExportOrder(what=Exported.SNAPSHOTS, form=ExportForm.CSV)
    [row] = csv.DictReader(lines(database, order))
    assert row["title"] == '\'=HYPERLINK("x")'
    assert "geheim" not in row["originalUrl"]


def test_an_export_of_nothing_has_its_names(database: Database) -> None:
    """Of changes as well."""
    for what in Exported:
        assert len(list(lines(database, ExportOrder(what=what, form=ExportForm.CSV)))) == 1
        assert list(lines(database, ExportOrder(what=what, form=ExportForm.JSONL))) == []
