"""A purge reaches the WARC files of jobs: what they have of a domain is overwritten, and the rest stays."""

from __future__ import annotations

import gzip
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.archive.search import SearchOrder, search
from crawler.clock import utc_now
from crawler.db.models import Job, Record, Snapshot, WarcFile
from crawler.errors import LockedError
from crawler.evidence.archive_folders import entries_of
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.warc_tools import digest_of, verify, verify_manifest
from crawler.jobs import upkeep
from crawler.retention import archives, purge
from crawler.retention.holds import Target
from crawler.retention.purge import PurgeOrder
from crawler.views import snapshots
from tests.unit.archive.warcs import Page
from tests.unit.jobs import test_indexing as indexing
from tests.unit.jobs.conftest import bench
from tests.unit.retention.contents import naming

if TYPE_CHECKING:
    from typing import Any

    from crawler.db.engine import Database
    from tests.unit.jobs.conftest import Bench

__all__ = ["bench"]
pytestmark = indexing.pytestmark
GONE, KEPT = "canary.example", "other.example"
LOG = "archive_crawl_20260101T000000000000Z.combined.log"
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


def manifest_of(archive: Path) -> list[dict[str, Any]]:
    """What the manifest of an archive's stable files says of them."""
    return entries_of(archive / "warcs")


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


def test_a_jobs_log_names_the_domain_no_more(bench: Bench, tmp_path: Path) -> None:
    """Lines that name it go; others, and names that only look alike, stay."""
    job_id, _ = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    archive = Path(bench.shown(job_id).output_dir)
    log = archive / LOG
    kept = [f"GET https://{KEPT}/p/0", f"GET https://my{GONE}/", f"GET https://{GONE}.net/", "ended"]
    gone = [
        f"GET https://www.{GONE}/p/0", f"lock domain={GONE}:8080 attempt=1", f"{GONE.upper()} slept",
        f"GET https://{KEPT}/?u=https%3A%2F%2F{GONE}%2Fp", f'{{"message": "one\\n{GONE} two"}}',
    ]  # fmt: skip
    log.write_text("".join(f"{line}\n" for line in [*gone, *kept]), encoding="utf-8")
    log.chmod(0o640)
    (archive / "archive_crawl_link.combined.log").symlink_to(log)
    with bench.database.read() as db:
        folders = purge.logs_of(db, order(tmp_path))
        figures = purge.preview(db, order(tmp_path))
    assert purge.with_logs(figures, folders, order(tmp_path)).log_lines == len(gone)
    assert purged(bench.database, tmp_path)["log_lines"] == len(gone)
    assert log.read_text(encoding="utf-8").splitlines() == kept
    assert (stat.S_IMODE(log.stat().st_mode), list(archive.glob(".*.cut"))) == (0o640, [])


def test_a_link_beside_a_log_leads_nowhere(bench: Bench, tmp_path: Path) -> None:
    """A folder may come from a stranger: what a link names is not written to."""
    job_id, _ = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    archive = Path(bench.shown(job_id).output_dir)
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (archive / LOG).write_text(f"https://{GONE}/\n", encoding="utf-8")
    (archive / f".{LOG}.cut").symlink_to(victim)
    purged(bench.database, tmp_path)
    assert (victim.read_text(encoding="utf-8"), (archive / LOG).read_bytes()) == ("precious", b"")
    assert not (archive / LOG).is_symlink()


def test_a_log_of_a_job_that_was_to_visit_it_is_cut_too(bench: Bench, tmp_path: Path) -> None:
    """Its order is what tells, where nothing came of it; no purge emptied it."""
    job_id, _ = indexing.crawled(bench, [])
    with bench.database.write() as db:
        job = db.get_one(Job, job_id)
        job.config, job.status = {"seeds": [f"https://{GONE}/"]}, "failed"
    log = Path(bench.shown(job_id).output_dir) / LOG
    log.write_text(f"https://{GONE}/ is forbidden by robots.txt\n", encoding="utf-8")
    purged(bench.database, tmp_path)
    assert (log.read_bytes(), bench.shown(job_id).emptied_at) == (b"", None)


def test_a_job_says_what_a_purge_left_of_it(bench: Bench, tmp_path: Path) -> None:
    """Its counts are those of what is there, and the manifest names no digest that is gone."""
    job_id, _ = indexing.crawled(bench, PAGES)
    upkeep.consolidate(bench.database, job_id, who="me")
    indexing.index(bench, job_id)
    archive = Path(bench.shown(job_id).output_dir)
    before = manifest_of(archive)
    shutil.copyfile(archive / "warcs" / "a.warc.gz", archive / "a.copy")
    (archive / before[0]["found_at"]).unlink()
    (archive / "a.copy").rename(archive / before[0]["found_at"])  # as where no file can be linked
    purged(bench.database, tmp_path)
    job = bench.shown(job_id)
    assert (job.indexed_page_count, job.emptied_at, job.status) == (3, None, "indexed")
    assert [each.state for each in verify_manifest(archive / "warcs")] == ["sealed"]
    assert manifest_of(archive)[0]["sha256"] != before[0]["sha256"]
    assert b"canary" not in unpacked(archive / before[0]["found_at"])


def test_a_job_of_which_nothing_is_left(bench: Bench, tmp_path: Path) -> None:
    """Its counts are none, no manifest names its file, and its index is empty, as often as it is made."""
    job_id, path = indexing.crawled(bench, [page for page in PAGES if GONE in page.url])
    upkeep.consolidate(bench.database, job_id, who="me")
    indexing.index(bench, job_id)
    purged(bench.database, tmp_path)
    job = bench.shown(job_id)
    assert (job.warc_file_count, job.warc_bytes_total, job.indexed_page_count) == (0, 0, 0)
    assert (job.tmp_bytes_total, job.emptied_at is not None) == (0, True)
    assert manifest_of(Path(job.output_dir)) == []
    assert not path.exists()
    with bench.database.read() as db:
        assert {(row.state, row.gone_why) for row in db.scalars(select(WarcFile))} == {("gone", "purged")}
        assert db.scalars(select(Record.id)).all() == db.scalars(select(Snapshot.id)).all() == []
    for _ in range(2):
        came = indexing.index(bench, job_id)
        assert came is not None
        assert (came.status, came.emptied_at) == ("indexed", job.emptied_at)


def test_files_that_somebody_took_away_are_still_missed(bench: Bench, tmp_path: Path) -> None:
    """A purge that left something excuses no loss."""
    job_id, path = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    purged(bench.database, tmp_path)
    path.unlink()
    came = indexing.index(bench, job_id)
    assert came is not None
    assert (came.status, came.cause) in {
        ("index_failed", "no_warc_files"),
        ("index_failed", "too_much_is_bad"),
    }


def test_what_was_never_indexed_is_read(bench: Bench, tmp_path: Path) -> None:
    """No row tells what is in it."""
    _, path = indexing.crawled(bench, PAGES)
    with bench.database.read() as db:
        assert purge.unread(db, order(tmp_path)) == 1
    assert purged(bench.database, tmp_path)["captures"] == 3
    assert b"canary" not in unpacked(path)
    assert unpacked(path).count(b"zanzibar") == 3


def test_not_while_somebody_is_asked_for_it(bench: Bench, tmp_path: Path) -> None:
    """A crawl whose files have no rows yet would bring it back; one of other domains would not."""
    job_id = bench.order()
    with bench.database.write() as db:
        db.execute(update(Job).values(status="running", config={"seeds": [f"https://www.{GONE}/"]}))
    with pytest.raises(LockedError, match=f"job {job_id} is at work"):
        purged(bench.database, tmp_path)
    with bench.database.write() as db:
        db.execute(update(Job).values(config={"seeds": [f"https://not{GONE}/"], "source": None}))
    purged(bench.database, tmp_path)


def test_a_purge_that_died_before_it_had_written_down(bench: Bench, tmp_path: Path) -> None:
    """The next one finds nothing to overwrite, and says all the same that the file is another."""
    job_id, path = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    with bench.database.write() as db:
        db.execute(update(WarcFile).values(sha256=digest_of(path)))
    with bench.database.read() as db:
        [file] = archives.files_with(db, order(tmp_path).scope)
    assert archives.erased(file, GONE, utc_now())
    purged(bench.database, tmp_path)
    with bench.database.read() as db:
        [row] = db.scalars(select(WarcFile))
    assert (row.sha256, row.state) == (digest_of(path), "sealed")
    assert bench.shown(job_id).indexed_page_count == 3


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_job_at_work_forbids_it(bench: Bench, tmp_path: Path, when: str) -> None:
    """Neither its files nor its log are touched; when the job is over, the same purge goes on."""
    job_id, path = indexing.crawled(bench, PAGES)
    indexing.index(bench, job_id)
    log = Path(bench.shown(job_id).output_dir) / LOG
    log.write_text(f"https://{GONE}/\n", encoding="utf-8")
    before = path.read_bytes(), log.read_bytes()

    def work(status: str) -> None:
        with bench.database.write() as db:
            db.get_one(Job, job_id).status = status

    if when == "before":
        work("indexing")
    with pytest.raises(LockedError, match=f"job {job_id} is at work"):
        purge.purge(
            bench.database, FolderStore(tmp_path / "artifacts"), order(tmp_path), lambda _: work("running")
        )
    work("running")
    with pytest.raises(LockedError), bench.database.write() as db:
        archives.cut_logs(db, job_id, order(tmp_path).scope)
    assert (path.read_bytes(), log.read_bytes()) == before
    work("indexed")
    purged(bench.database, tmp_path)
    assert log.read_bytes() == b""
