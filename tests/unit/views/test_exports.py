"""Exports: every row once, whole, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import json
import tracemalloc
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import insert

from crawler.clock import utc_now
from crawler.db.models import Listing
from crawler.views import exports
from crawler.views.exports import Form, What, defused, lines
from tests.integration.catalogue.visits import CHAIR, DAY, Visits, new_visits

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def visits(database: Database, tmp_path: Path) -> Visits:
    """Nothing was visited yet."""
    return new_visits(database, tmp_path / "artifacts")


def from_csv(texts: Iterable[str]) -> list[dict[str, str]]:
    """What a spreadsheet reads."""
    return list(csv.DictReader(texts))


@pytest.mark.parametrize("what", [each for each in What if each not in {What.ASSETS, What.RUNS}])
@pytest.mark.parametrize("form", [Form.CSV, Form.JSONL])
def test_every_row_is_written_once(
    visits: Visits, what: What, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the size of a page, and where its end falls."""
    for number in range(5):
        visits.visit({**CHAIR, "price": str(number)}, url=f"https://shop.example/p/{number}")
    for rows in (1, 2, 5, 6):
        monkeypatch.setattr(exports, "PAGE_ROWS", rows)
        texts = list(lines(visits.database, what, form))
        found = from_csv(texts) if form is Form.CSV else [json.loads(text) for text in texts]
        assert len({row["id"] for row in found}) == len(found) == 5
        assert set(found[0]) == set(exports.TABLES[what].columns)


def test_a_price_carries_its_proof(visits: Visits) -> None:
    """As texts that lose nothing."""
    session = visits.visit({**CHAIR, "price": "1234567.1"})
    [row] = from_csv(lines(visits.database, What.PRICES, Form.CSV))
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
    [row] = from_csv(lines(visits.database, What.LISTINGS, Form.CSV))
    assert row["name"] == '\'=1+1","x'
    [text] = lines(visits.database, What.LISTINGS, Form.JSONL)
    assert json.loads(text)["name"] == '=1+1","x'


def test_memory_stays_the_same(visits: Visits) -> None:
    """Ten times the rows take no more of it."""
    rows = [
        {"id": uuid4(), "domain": "shop.example", "url": f"https://shop.example/{number}", "name": "n" * 200,
         "url_sha256": str(number), "first_seen_at": utc_now(), "last_seen_at": utc_now() - DAY}
        for number in range(10_000)
    ]  # fmt: skip
    with visits.database.write() as db:
        db.execute(insert(Listing), rows)
    tracemalloc.start()
    try:
        assert sum(1 for _ in lines(visits.database, What.LISTINGS, Form.CSV)) == 10_001
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
