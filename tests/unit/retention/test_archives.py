"""A purge reaches the WARC files of jobs: what they have of a domain is overwritten, and the rest stays."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.archive.search import SearchOrder, search
from crawler.clock import utc_now
from crawler.db.models import Job, Record, Snapshot, WarcFile
from crawler.errors import LockedError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.warc_tools import verify
from crawler.retention import holds, purge
from crawler.retention.holds import HeldError, Target
from crawler.retention.purge import PurgeOrder
from crawler.views import snapshots
from tests.unit.archive.warcs import Page
from tests.unit.jobs import test_indexing as indexing
from tests.unit.jobs.conftest import bench
from tests.unit.retention.contents import naming

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from crawler.db.engine import Database
    from tests.unit.jobs.conftest import Bench

__all__ = ["bench"]
pytestmark = indexing.pytestmark
GONE, KEPT = "canary.example", "other.example"
PAGES = [
    Page(f"https://{host}/p/{n}", f"<title>{host} {n}</title><p>zanzibar{n} is a word of {host}.")
    for n in range(3)
    for host in (f"www.{GONE}", KEPT)
]


def order(path: Path) -> PurgeOrder:
    """Everything of the domain."""
    return PurgeOrder(Target(domain=GONE), with_prices=True, who="me", before=utc_now(), reports=path)


def purged(database: Database, path: Path) -> dict[str, Any]:
    """Do it."""
    return purge.purge(database, FolderStore(path / "artifacts"), order(path))


def unpacked(path: Path) -> bytes:
    """A file's bytes, as they were before they were packed."""
    return gzip.decompress(path.read_bytes())


def test_records_of_a_domain_are_overwritten(bench: Bench, tmp_path: Path) -> None:
    """Its bytes, its snapshots and its words are gone; the other's are where they were, and read well."""
    job_id, path = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    before = path.stat().st_size
    with bench.database.read() as db:
        assert (
            purge.preview(db, order(tmp_path)).captures,
            purge.preview(db, order(tmp_path)).snapshots,
        ) == (3, 3)
    done = purged(bench.database, tmp_path)
    assert (done["captures"], done["snapshots"], done["texts"]) == (3, 3, 3)
    assert b"canary" not in unpacked(path)
    assert (path.stat().st_size, verify(path).is_well) == (before, True)
    assert set(naming(bench.database, GONE)) == {"audit_log"}
    with bench.database.read() as db:
        left = search(db, SearchOrder("zanzibar1")).snapshots
        assert [each.url for each in left] == [f"https://{KEPT}/p/1"]
        [row] = db.scalars(select(WarcFile))
    assert row.damage is not None
    assert row.damage["erased"][0]["why"] == "purged"
    body = snapshots.raw(bench.database, FolderStore(tmp_path / "artifacts"), str(left[0].id)).body
    assert b"zanzibar1" in body
    again = indexing.index(bench, job_id)
    assert again is not None
    assert again.result is not None
    assert (again.result.bad, again.result.unchanged) == (0, 3)


def test_a_file_that_has_nothing_else_goes(bench: Bench, tmp_path: Path) -> None:
    """Whole, and its row says why."""
    job_id, path = indexing.crawled(bench, [page for page in PAGES if GONE in page.url])
    indexing.index(bench, job_id)
    purged(bench.database, tmp_path)
    assert not path.exists()
    with bench.database.read() as db:
        [row] = db.scalars(select(WarcFile))
        assert (row.state, row.gone_why) == ("gone", "purged")
        assert db.scalars(select(Record.id)).all() == db.scalars(select(Snapshot.id)).all() == []


def test_what_was_never_indexed_is_read(bench: Bench, tmp_path: Path) -> None:
    """No row tells what is in it."""
    _, path = indexing.crawled(bench, PAGES)
    purged(bench.database, tmp_path)
    assert b"canary" not in unpacked(path)
    assert unpacked(path).count(b"zanzibar") == 3


@pytest.mark.parametrize("status", ["running", "indexing"])
def test_not_while_somebody_is_at_it(bench: Bench, tmp_path: Path, status: str) -> None:
    """Nothing is touched."""
    job_id, path = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    before = path.read_bytes()
    with bench.database.write() as db:
        db.execute(update(Job).where(Job.id == job_id).values(status=status))
    with pytest.raises(LockedError):
        purged(bench.database, tmp_path)
    assert path.read_bytes() == before


def test_a_hold_forbids_it(bench: Bench, tmp_path: Path) -> None:
    """The archive's captures are evidence too."""
    job_id, path = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    before = path.read_bytes()
    with bench.database.write() as db:
        holds.hold(db, Target(domain=GONE), who="me", why="a case", until=None, now=db.now)
    with pytest.raises(HeldError):
        purged(bench.database, tmp_path)
    assert path.read_bytes() == before
