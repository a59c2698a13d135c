"""Exports: every row once, whole, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import json
import sys
import tracemalloc
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert

from crawler.clock import utc_now
from crawler.db.models import Listing
from crawler.views import exports, parquet
from crawler.views.export_tables import TABLES, Archived, ArchiveOrder, What, archived_rows
from crawler.views.exports import Form, defused, lines
from tests.integration.catalogue.visits import CHAIR, DAY, Visits, new_visits
from tests.unit.archive.written import SHOP, content, index

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.db.engine import Database

KEY = UUID(int=7)
MIDNIGHT = datetime(2026, 5, 2, tzinfo=UTC)
OF_VISITS = [each for each in What if each not in {What.ASSETS, What.RUNS}]


@pytest.fixture
def visits(database: Database, tmp_path: Path) -> Visits:
    """Nothing was visited yet."""
    return new_visits(database, tmp_path / "artifacts")


def from_csv(texts: Iterable[str]) -> list[dict[str, str]]:
    """What a spreadsheet reads."""
    return list(csv.DictReader(texts))


def test_every_row_is_written_once(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """In both forms, with all columns, whatever the number of rows that are read at once."""
    for number in range(5):
        visits.visit({**CHAIR, "price": str(number)}, url=f"https://shop.example/p/{number}")
    for rows in (1, 2, 5, 6):
        monkeypatch.setattr(exports, "PAGE_ROWS", rows)
        for what in OF_VISITS:
            for found in (
                from_csv(lines(visits.database, TABLES[what], Form.CSV)),
                [json.loads(text) for text in lines(visits.database, TABLES[what], Form.JSONL)],
            ):
                assert len({row["id"] for row in found}) == len(found) == 5
                assert set(found[0]) == set(TABLES[what].columns)


def test_a_price_carries_its_proof(visits: Visits) -> None:
    """As texts that lose nothing."""
    session = visits.visit({**CHAIR, "price": "1234567.1"})
    [row] = from_csv(lines(visits.database, TABLES[What.PRICES], Form.CSV))
    assert (row["price"], row["currency"], row["session_id"]) == ("1234567.10", "EUR", str(session))
    assert len(row["content_sha256"]) == 64
    assert row["seen_at"].endswith("+00:00")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_formula_is_text(start: str) -> None:
    """A spreadsheet that opens the file runs nothing."""
    assert defused(f'{start}HYPERLINK("http://x")') == f'\'{start}HYPERLINK("http://x")'
    assert defused(f"a{start}") == f"a{start}"


def test_a_hostile_name_is_defused_in_csv_only(visits: Visits) -> None:
    """JSON has no formulas; there the name is as it was."""
    visits.visit({**CHAIR, "name": '=1+1","x\n'})
    [row] = from_csv(lines(visits.database, TABLES[What.LISTINGS], Form.CSV))
    assert row["name"] == '\'=1+1","x'
    [text] = lines(visits.database, TABLES[What.LISTINGS], Form.JSONL)
    assert json.loads(text)["name"] == '=1+1","x'


def test_an_export_of_any_length_takes_the_same_memory(database: Database) -> None:
    """No more than a part of the rows is held at once."""
    rows = [
        {"id": uuid4(), "domain": "shop.example", "url": f"https://shop.example/{number}", "name": "n" * 200,
         "url_sha256": str(number), "first_seen_at": utc_now(), "last_seen_at": utc_now() - DAY}
        for number in range(10_000)
    ]  # fmt: skip
    with database.write() as db:
        db.execute(insert(Listing), rows)
    tracemalloc.start()
    try:
        assert sum(1 for _ in lines(database, TABLES[What.LISTINGS], Form.CSV)) == 10_001
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def captured(database: Database, **how: Any) -> list[dict[str, Any]]:
    """The snapshots as JSON lines."""
    order = ArchiveOrder(what=Archived.SNAPSHOTS, **how)
    return [json.loads(line) for line in lines(database, archived_rows(order), Form.JSONL, most=order.limit)]


@pytest.fixture
def filled(database: Database) -> Database:
    """Five pages of a shop around a midnight, and one of a source for tests."""
    moments = (-DAY, -timedelta(microseconds=1), timedelta(), timedelta(hours=23), DAY)
    index(
        database,
        *({"url": f"{SHOP}{n}", "at": MIDNIGHT + moment} for n, moment in enumerate(moments)),
        {"url": "https://hidden.example/", "source": "test", "at": MIDNIGHT},
    )
    return database


@pytest.mark.parametrize("rows", [1, 2, 5, 6])
def test_every_snapshot_is_given_out_once(
    filled: Database, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In parts of any size, up to a limit, behind an id; those of the source for tests never."""
    monkeypatch.setattr(exports, "PAGE_ROWS", rows)
    found = captured(filled)
    assert [row["original_url"] for row in found] == [f"{SHOP}{n}" for n in range(5)]
    assert len(captured(filled, limit=3)) == 3
    assert captured(filled, after_id=found[2]["id"]) == found[3:]
    assert len(captured(filled, source="Shop.Example")) == 5
    assert captured(filled, source="nobody") == captured(filled, source="test") == []


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        (date(2026, 5, 2), None, 3), (None, date(2026, 5, 1), 2), (date(2026, 5, 2), date(2026, 5, 2), 2),
        (date(2026, 5, 3), date(2026, 5, 2), 0), (date.min, date.max, 5),
    ],
)  # fmt: skip
def test_days_are_whole_and_of_utc(
    filled: Database, since: date | None, until: date | None, found: int
) -> None:
    """The last one included."""
    assert len(captured(filled, since=since, until=until)) == found


def test_a_list_of_snapshots_has_no_formula_and_no_password(database: Database) -> None:
    """And a list of nothing has its columns."""
    order = archived_rows(ArchiveOrder(what=Archived.SNAPSHOTS))
    assert len(list(lines(database, order, Form.CSV))) == 1
    page = content('=HYPERLINK("x")', 'a,b\n"c"')
    index(database, {"url": "https://u:geheim@shop.example/", "content": page})
    [row] = from_csv(lines(database, order, Form.CSV))
    assert row["title"] == '\'=HYPERLINK("x")'
    assert "geheim" not in row["original_url"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None), (True, True), (7, 7), (MIDNIGHT, MIDNIGHT), (Decimal("1.50"), Decimal("1.50")),
        (KEY, str(KEY)), ({"a": [1]}, '{"a": [1]}'), ("https://u:p@shop.example/", "https://u:***@shop.example/"),
    ],
)  # fmt: skip
def test_the_cells_of_parquet_lose_nothing_but_secrets(value: Any, written: Any) -> None:
    """Numbers and times stay what they are."""
    assert parquet.cell(value) == written


def test_parquet_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As wrong usage."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(parquet.NoParquetError) as refused:
        parquet.library()
    assert "vitrine[parquet]" in refused.value.hint
    assert refused.value.exit_code == 2
