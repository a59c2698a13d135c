"""The page of a snapshot: the headers of both sides, and whether it is still what was captured."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from attrs import evolve
from sqlalchemy import select, update

from crawler.archive.warc_indexing import index_job
from crawler.db.models import Page, Record, Snapshot, WarcFile
from crawler.views.attention import attention
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import crawled_job, index_pages, keep

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tests.unit.web.conftest import Serve, Served

PEOPLE = {"Accept": "text/html"}


def test_a_snapshot_has_the_headers_of_both_sides(served: Served, tmp_path: Path) -> None:
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


def test_a_loose_file_that_was_changed_is_found_out(filled: Served) -> None:
    """By what it unpacks to, and by its own digest."""
    assert "byte for byte" in filled.get("/snapshots/1?verify=1").text
    path = next(filled.stores.settings.artifacts.rglob("*.gz"))
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"1234" + whole[8:])  # when it was packed: what it unpacks to is the same
    shown = [filled.get(f"/snapshots/{number}?verify=1").text for number in (1, 2)]
    [changed] = [each for each in shown if "not all of it is what was recorded" in each]
    assert "byte for byte, what was captured" in changed
    assert "byte for byte, what was written" not in changed
    path.write_bytes(b"something else")
    shown = [filled.get(f"/snapshots/{number}?verify=1").text for number in (1, 2)]
    assert sum("byte for byte" in each for each in shown) == 1


def shelve(served: Served, folder: Path) -> Path:
    """Index a file with three pages on three days, two of them of one address; the file."""
    pages = (
        exchange(SHOP, "<title>Beech</title><p>Beech.", day(1)),
        exchange(SHOP, "<title>Beech</title><p>Beech and oak.", day(2)),
        exchange(f"{SHOP}2", "<title>Elm</title><p>Elm.", day(3)),
    )
    record(served.database, folder, *pages)
    with ThreadPoolExecutor(1) as thread:  # pytest-twisted's loop runs in this one
        order = crawled_job(served.database, folder.parent)
        thread.submit(index_job, served.database, order, lambda _: None).result()
    [path] = folder.glob("*.warc.gz")
    return path


def overwrite(served: Served, path: Path, url: str, at: datetime) -> bytes:
    """Write 16 other bytes into the middle of a record; the file's bytes from before."""
    with served.database.read() as db:
        row = db.scalars(select(Record).where(Record.url == url, Record.captured_at == at)).one()
    whole = path.read_bytes()
    middle = (row.offset or 0) + (row.length or 0) // 2
    path.write_bytes(whole[:middle] + bytes(16) + whole[middle + 16 :])
    return whole


def numbers(served: Served) -> dict[tuple[str, datetime], int]:
    """The snapshots by address and time."""
    with served.database.read() as db:
        return {(row.url, row.captured_at): row.id for row in db.scalars(select(Snapshot))}


def test_a_change_elsewhere_in_the_file_is_not_certified(served_on_both: Served, tmp_path: Path) -> None:
    """The page's own bytes are well, the file's digest is not; both are said, stored and raised."""
    served = served_on_both
    path = shelve(served, tmp_path / "warcs")
    beech, elm = (numbers(served)[key] for key in ((SHOP, day(1)), (f"{SHOP}2", day(3))))
    well = served.get(f"/snapshots/{elm}?verify=1").text
    assert "page and file are what was recorded" in well
    whole = overwrite(served, path, SHOP, day(1))
    shown = served.get(f"/snapshots/{elm}?verify=1").text
    assert "not all of it is what was recorded" in shown
    assert "byte for byte, what was captured" in shown
    assert "something in it was changed, its digest is another" in shown
    with served.database.read() as db:
        assert db.scalars(select(WarcFile.state)).one() == "damaged"
        assert [each.code for each in attention(db)] == ["warc_damaged"]
    assert "its digest is another" in served.get(f"/snapshots/{beech}").text
    path.write_bytes(whole)
    assert "page and file are what was recorded" in served.get(f"/snapshots/{elm}?verify=1").text
    with served.database.read() as db:
        assert db.scalars(select(WarcFile.state)).one() == "sealed"
        assert list(attention(db)) == []


def test_a_read_only_server_stores_no_outcome(serve: Serve, tmp_path: Path) -> None:
    """With WEB_READ_ONLY it is shown, and that is all."""
    served = serve(web_read_only=True)
    path = shelve(served, tmp_path / "warcs")
    overwrite(served, path, SHOP, day(1))
    beech = numbers(served)[SHOP, day(1)]
    assert "not all of it is what was recorded" in served.get(f"/snapshots/{beech}?verify=1").text
    with served.database.read() as db:
        assert db.scalars(select(WarcFile.state)).one() == "sealed"


def test_a_page_in_a_damaged_part_is_called_damaged(served_on_both: Served, tmp_path: Path) -> None:
    """Neither there nor missing, with the way to its neighbours; no longer once the file is restored."""
    served = served_on_both
    path = shelve(served, tmp_path / "warcs")
    beech = numbers(served)[SHOP, day(1)]
    whole = overwrite(served, path, SHOP, day(1))
    framed = served.get(f"/web/20260501120000/{SHOP}", headers=PEOPLE)
    assert framed.status_code == 404
    assert f'href="/web/20260502120000/{SHOP}"' in framed.text
    inside = served.get(f"/web/20260501120000mp_/{SHOP}")
    assert (inside.status_code, inside.headers["X-Vitrine-Code"]) == (404, "capture_damaged")
    beside = f"/web/20260503120000/{SHOP}2"
    assert "is damaged" not in served.get(beside, headers=PEOPLE).text
    for query in ("", "?verify=1", ""):
        shown = served.get(f"/snapshots/{beech}{query}").text
        assert "the part of the file in which it lies is damaged" in shown
        assert "file missing" not in shown
        assert served.get(f"/snapshots/{beech}.json").json()["snapshot"]["body"] == "damaged"
    assert served.get(f"/api/snapshots/raw/{beech}").json()["code"] == "damaged"
    assert "is damaged" in served.get(beside, headers=PEOPLE).text
    path.rename(tmp_path / "away")
    assert "the file in which it lies is missing" in served.get(f"/snapshots/{beech}?verify=1").text
    path.write_bytes(whole)
    assert "page and file are what was recorded" in served.get(f"/snapshots/{beech}?verify=1").text
    assert served.get(f"/snapshots/{beech}.json").json()["snapshot"]["body"] == "there"
