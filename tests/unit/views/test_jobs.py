"""Jobs as documents: what they came to, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.db.models import RegisteredSource
from crawler.views import jobs
from tests.unit.views.rows import HOUR, THEN, a_job, a_step

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_sums_are_of_all_and_of_each_source(database: Database) -> None:
    """A job without a source is among all of them; a source without a job is not told."""
    with database.write() as db:
        sources = [
            RegisteredSource(code=code, name=code, created_at=THEN, updated_at=THEN)
            for code in ("b", "a", "c")
        ]
        db.add_all(sources)
        db.flush()
        db.add(a_job(source_id=sources[0].id, pages_crawled=5, warc_bytes_total=2**40, tmp_bytes_total=1))
        db.add(a_job(source_id=sources[0].id, pages_crawled=2, warc_bytes_total=2**40, tmp_bytes_total=1))
        db.add(a_job(source_id=sources[1].id, pages_failed=3))
        db.add(a_job(pages_crawled=1))
    with database.read() as db:
        found = jobs.sums(db)
    assert [(each.source, each.pages_crawled, each.pages_failed) for each in found] == [
        (None, 8, 3), ("a", 0, 3), ("b", 7, 0),
    ]  # fmt: skip
    assert (found[0].warc_bytes_total, found[2].tmp_bytes_total) == (2**41, 2)


def test_nothing_comes_to_nothing(database: Database) -> None:
    """An empty installation has sums, and no state but zeros."""
    with database.read() as db:
        [whole] = jobs.sums(db)
        assert (whole.source, whole.pages_crawled, whole.tmp_non_warc_bytes_total) == (None, 0, 0)
        assert (jobs.cleaned(db), jobs.storage_counted(db)) == ({}, 0)
        assert set(jobs.counts(db, THEN).values()) == {0}


def test_jobs_are_counted_by_what_was_cleaned_up_and_counted(database: Database) -> None:
    """Each once."""
    with database.write() as db:
        db.add_all([a_job(cleanup_status="temp_cleaned"), a_job(storage_scanned_at=THEN), a_job()])
    with database.read() as db:
        assert jobs.cleaned(db) == {"none": 2, "temp_cleaned": 1}
        assert jobs.storage_counted(db) == 1


def test_a_job_whose_worker_is_gone_counts_as_the_next_one_finds_it(database: Database) -> None:
    """In the counts, in the list, and in what is left behind; one at work is what its row says."""
    with database.write() as db:
        for owner, until in (("gone", THEN - HOUR), ("there", THEN + HOUR)):
            row = a_job(status="running", name=owner)
            db.add(row)
            db.flush()
            db.add(a_step(row.id, status="in_progress", lease_owner=owner, lease_expires_at=until))
    with database.read() as db:
        counts = jobs.counts(db, THEN)
        assert (counts["running"], counts["retryable"]) == (1, 1)
        assert [each.name for each in jobs.newest(db, THEN, statuses=["retryable"])] == ["gone"]
        assert [(each.name, each.worker) for each in jobs.newest(db, THEN, statuses=["running"])] == [
            ("there", "there")
        ]
        assert [step.lease_owner for step in jobs.left_behind(db, THEN)] == ["gone"]
