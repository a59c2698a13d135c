"""A snapshot's story: what happened to it, what proves it, and its neighbours."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.db.models import Snapshot
from crawler.errors import NotFoundError
from crawler.evidence.folder_store import FolderStore
from crawler.views.exhibit import exhibit, verified
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import NOON, SHOP, a_file, a_record, index
from tests.unit.views.rows import a_hold, a_job

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

DAY = timedelta(days=1)


def numbers(database: Database) -> list[int]:
    """The snapshots, as they were written."""
    with database.read() as db:
        return list(db.scalars(select(Snapshot.id).order_by(Snapshot.id)))


def findings(database: Database, blobs: FolderStore, key: str) -> list[str]:
    """What is found of a page, and of its file."""
    return [each.finding for each in verified(database, blobs, key, is_stored=True).checks]


def test_every_capture_has_its_neighbours(database: Database) -> None:
    """Those of one moment, too: whoever goes on from one to the next sees all of them, and comes back."""
    index(
        database, {"at": NOON}, {"at": NOON + DAY}, {"at": NOON}, {"at": NOON - DAY}, {"url": f"{SHOP}other"}
    )
    first, last, second, before, other = numbers(database)
    way = [before, first, second, last]
    with database.read() as db:
        shown = {key: exhibit(db, str(key)) for key in numbers(database)}
    assert [shown[key].next for key in way] == [first, second, last, None]
    assert [shown[key].previous for key in way] == [None, before, first, second]
    assert (shown[other].previous, shown[other].next) == (None, None)


def test_a_jobs_capture_tells_of_its_job_and_its_file(database: Database) -> None:
    """In the order in which it happened; nobody holds what no session brought."""
    with database.write() as db:
        job = a_job(name="shop-1")
        db.add(job)
        db.flush()
        file = a_file(db, job_id=job.id, path="a.warc.gz", sha256="f" * 64, sealed_at=NOON + DAY)
        record = a_record(db, warc_file_id=file.id, length=99).id
    index(database, {"record_id": record, "status_code": None})
    with database.read() as db:
        found = exhibit(db, str(numbers(database)[0]))
    assert [step.what for step in found.chain] == ["Ordered", "Answered", "Kept", "Sealed"]
    assert found.chain[1].detail == "without a status, text/html"
    assert (found.file_sha256, found.file_bytes, found.holds, found.verdict) == ("f" * 64, 99, [], None)


def test_a_visits_capture_is_held_with_its_session_or_its_domain(database: Database, tmp_path: Path) -> None:
    """A hold of another domain is none of it, and one that was lifted none any more."""
    blobs = FolderStore(tmp_path / "artifacts")
    keep(database, blobs, "<title>Red</title><p>leather")
    index_pages(database, blobs)
    with database.write() as db:
        db.add(a_hold(domain="shop.example", why="mine"))
        db.add(a_hold(domain="other.example", why="other"))
        db.add(a_hold(domain="shop.example", why="lifted", released_at=NOON))
    key = str(numbers(database)[0])
    with database.read() as db:
        found = exhibit(db, key)
    assert [step.what for step in found.chain] == ["Ordered", "Domain held", "Answered", "Kept"]
    assert [hold.why for hold in found.holds] == ["mine"]
    assert findings(database, blobs, key) == ["intact", "intact"]
    with database.write() as db:
        db.execute(update(Snapshot).values(content_hash="0" * 64))
    assert findings(database, blobs, key) == ["content_differs", "intact"]
    for path in blobs.root.rglob("*.gz"):
        path.write_bytes(b"damaged")
    assert findings(database, blobs, key) == ["damaged", "checksum_differs"]


@pytest.mark.parametrize("given", ["7", "x", "", "-1", "9" * 99])
def test_what_is_not_there(database: Database, given: str) -> None:
    """Whatever is asked for."""
    with database.read() as db, pytest.raises(NotFoundError):
        exhibit(db, given)
