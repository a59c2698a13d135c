"""An exhibit: the headers of both sides, and whether it is still what was captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from sqlalchemy import update

from crawler.db.models import Page, Record
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.web.conftest import Served


def test_an_exhibit_has_the_headers_of_both_sides(served: Served, tmp_path: Path) -> None:
    """What was asked with and what was answered, from the WARC file; not what belongs to other records."""
    asked = (b"Accept-Language", b"cy"), (b"X-Odd", b"<script>alert(1)</script>")
    keys = record(
        served.database, tmp_path / "warcs",
        evolve(exchange(SHOP, "<p>Beech.", day(1), Server="made-up"), request_headers=asked),
        evolve(exchange(f"{SHOP}2", "<p>Oak.", day(2)), request_headers=((b"X-Other", b"1"),)),
    )  # fmt: skip
    keep(served.database, served.blobs, "<p>Beech.", SHOP)
    with served.database.write() as db:
        db.execute(update(Page).values(record_id=keys[0]))
    index_pages(served.database, served.blobs)
    shown = served.get("/snapshots/1").text
    for said in ("Headers of the answer", "made-up", "Headers of the request", "Accept-Language", ">cy<"):
        assert said in shown
    assert "<script>alert" not in shown
    assert "X-Other" not in shown
    with served.database.write() as db:  # the file says otherwise than the row: nothing is guessed
        db.execute(update(Record).where(Record.id == keys[0]).values(record_urn="<urn:uuid:another>"))
    assert "Headers of the request" not in served.get("/snapshots/1").text


def test_a_snapshot_is_verified_when_it_is_asked(filled: Served) -> None:
    """A file that was changed is found out."""
    assert "byte for byte" in filled.get("/snapshots/1?verify=1").text
    path = next(filled.stores.settings.artifacts.rglob("*.gz"))
    path.write_bytes(b"something else")
    shown = [filled.get(f"/snapshots/{number}?verify=1").text for number in (1, 2)]
    assert sum("byte for byte" in each for each in shown) == 1
