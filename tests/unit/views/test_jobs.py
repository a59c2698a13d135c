"""Jobs as documents: what they came to, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.access.process import this_process
from crawler.db.models import Job, RegisteredSource
from crawler.errors import NotFoundError
from crawler.views import jobs
from crawler.views.paging import Wanted
from tests.unit.views.rows import HOUR, NOW, THEN, a_job, a_step

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


def one(database: Database, status: str, step: dict[str, Any] | None = None, **columns: Any) -> int:
    """A job with a step, at a time that the test says."""
    with database.write() as db:
        job = a_job(status=status, **columns)
        db.add(job)
        db.flush()
        if step is not None:
            db.add(a_step(job.id, **step))
        return job.id


def shown(database: Database, key: int) -> jobs.JobDocument:
    """As everybody sees it."""
    with database.read() as db:
        return jobs.shown(db, db.get_one(Job, key), NOW)


AT_WORK = {"status": "in_progress", "lease_owner": "me", "lease_expires_at": NOW + HOUR}


@pytest.mark.parametrize(
    ("status", "step", "said", "worker"),
    [
        ("running", AT_WORK, "running", "me"),
        ("running", {**AT_WORK, "process": this_process()}, "running", "me"),
        ("running", {**AT_WORK, "lease_expires_at": NOW}, "retryable", None),
        ("running", {**AT_WORK, "lease_expires_at": None}, "retryable", None),
        ("indexing", {**AT_WORK, "lease_expires_at": THEN}, "completed", None),
        ("running", None, "retryable", None),
        ("queued", {}, "queued", None),
        ("indexed", {"status": "finished"}, "indexed", None),
    ],
)
def test_a_worker_counts_while_its_lease_lasts(
    database: Database, status: str, step: dict[str, Any] | None, said: str, worker: str | None
) -> None:
    """However its row stands."""
    found = shown(database, one(database, status, step))
    assert (found.status, found.worker) == (said, worker)


def test_one_of_this_machine_that_died_is_gone_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease need not run out for that."""
    key = one(database, "running", {**AT_WORK, "process": this_process()})
    monkeypatch.setattr(jobs, "is_gone", lambda _process: True)
    assert shown(database, key).status == "retryable"
    with database.read() as db:
        assert [row.job_id for row in jobs.left_behind(db, NOW)] == [key]


def test_a_step_says_when_it_is_due_while_it_waits(database: Database) -> None:
    """And has its attempts; one at work is due no more."""
    waits = shown(database, one(database, "queued", {"detail": {"attempts": [{"epoch": 1}]}}))
    works = shown(database, one(database, "running", AT_WORK))
    assert (waits.steps[0].next_run_at, waits.steps[0].history) == (THEN, [{"epoch": 1}])
    assert works.steps[0].next_run_at is None


def test_every_state_is_counted_as_it_is_shown(database: Database) -> None:
    """Those that no job has, too."""
    one(database, "running", AT_WORK)
    one(database, "running")
    one(database, "indexing")
    one(database, "completed")
    with database.read() as db:
        found = jobs.counts(db, NOW)
    assert found == {
        "queued": 0, "running": 1, "retryable": 1, "failed": 0, "completed": 2, "indexing": 0, "indexed": 0,
        "index_failed": 0,
    }  # fmt: skip


def test_lists_look_for_states_as_they_are_shown(database: Database) -> None:
    """And are not cut short by those that only look so."""
    for _ in range(3):
        one(database, "running")
    at_work = one(database, "running", AT_WORK)
    for _ in range(3):
        one(database, "running")
    with database.read() as db:
        assert [each.id for each in jobs.newest(db, NOW, Wanted(limit=2), statuses=["running"])] == [at_work]
        assert len(jobs.newest(db, NOW, Wanted(limit=2), statuses=["retryable"])) == 2
        assert len(jobs.newest(db, NOW)) == 7


def test_of_a_source_or_a_domain(database: Database) -> None:
    """By its code, or by where it begins; an unknown source is an error, not an empty list."""
    with database.write() as db:
        for code in ("shop.example", "blog"):
            given = {"base_url": "https://blog.shop.example/", "enabled": True, "created_at": THEN}
            db.add(RegisteredSource(code=code, name=code, updated_at=THEN, **given))
    for source in (1, 2):
        one(database, "queued", source_id=source)
    with database.read() as db:
        assert [each.source for each in jobs.newest(db, NOW, source="BLOG")] == ["blog"]
        assert [each.source for each in jobs.newest(db, NOW, Wanted(domain="blog.shop.example"))] == [
            "blog",
            "shop.example",
        ]
        assert [each.source for each in jobs.newest(db, NOW, Wanted(domain="shop.example"))][-1:] == [
            "shop.example"
        ]
        with pytest.raises(NotFoundError):
            jobs.newest(db, NOW, source="nobody")
