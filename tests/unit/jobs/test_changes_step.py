"""After a job's index its captures are compared: once, by one worker, again after it was indexed again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, update

from crawler.config import load_settings
from crawler.db.models import Job, JobStep, SnapshotChange, Text
from crawler.jobs.changes_step import Comparer
from tests.unit.archive.warcs import Page
from tests.unit.jobs.test_indexing import crawled, index

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.jobs.conftest import Bench

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning",
        "ignore:Unclosed:ResourceWarning",
    ),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def comparer(bench: Bench, stopping: Event | None = None, **changed: object) -> Comparer:
    """A worker's part that compares."""
    settings = load_settings({**bench.settings.model_dump(), **changed})
    return Comparer(bench.database, settings, stopping or Event())


def step(bench: Bench) -> JobStep:
    """The step of the only job that has one."""
    with bench.database.read() as db:
        return db.scalars(select(JobStep).where(JobStep.kind == "changes")).one()


def events(bench: Bench) -> int:
    """How many comparisons were written."""
    with bench.database.read() as db:
        return db.scalar(select(func.count(SnapshotChange.id))) or 0


def test_it_comes_after_the_index(bench: Bench) -> None:
    """The job stays indexed; its captures know it; nothing is due after."""
    assert not comparer(bench).work_once()
    job_id, _ = crawled(bench)
    index(bench, job_id)
    assert step(bench).status == "pending"
    assert comparer(bench).work_once()
    assert (step(bench).status, step(bench).outcome, events(bench)) == ("finished", "success", 12)
    with bench.database.read() as db:
        assert db.get_one(Job, job_id).status == "indexed"
        assert set(db.scalars(select(SnapshotChange.to_job_id))) == {job_id}
        assert set(db.scalars(select(SnapshotChange.computed_by))) == {"incremental"}
    assert not comparer(bench).work_once()
    index(bench, job_id, again=True)
    assert step(bench).status == "pending"


def test_a_worker_that_died_leaves_the_jobs_state_alone(bench: Bench) -> None:
    """Though the job is indexed again meanwhile; the step is due at once."""
    job_id, _ = crawled(bench)
    index(bench, job_id)
    with bench.database.write() as db:
        gone = {"status": "in_progress", "process": "a machine:1:0", "lease_epoch": 1, "lease_owner": "x"}
        db.execute(update(JobStep).where(JobStep.kind == "changes").values(**gone, lease_expires_at=db.now))
        db.execute(update(Job).values(status="indexing"))
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(comparer(bench).work_once).result()
    with bench.database.read() as db:
        assert db.get_one(Job, job_id).status == "indexing"
    assert step(bench).status == "finished"


def test_pages_of_visits_are_compared_too(bench: Bench) -> None:
    """When a worker has nothing else to do."""
    job_id, _ = crawled(bench)
    index(bench, job_id)
    comparer(bench, change_tracking_enabled=False).visits_once()
    assert events(bench) == 0
    comparer(bench).visits_once()
    assert events(bench) == 12


def test_what_a_source_ignores_is_no_change(bench: Bench, tmp_path: Path) -> None:
    """Neither in the text nor in the comparison; another rule holds when the job is indexed again."""
    page = "<title>Shoe</title><main><h1>Shoe</h1><p>Red.<p class=seen>{} people looked<p>Visit {}</main>"
    answers = [Page("https://shop.example/p", page.format(n, n), f"2026-05-0{n}T12:00:00Z") for n in (1, 2)]
    job_id, _ = crawled(bench, answers)
    rules = tmp_path / "sources.toml"
    index(bench, job_id)
    comparer(bench).work_once()
    assert kinds(bench) == ["new_page", "updated"]
    source = '[sources.shop]\nstart_urls = ["https://shop.example/"]\n'
    for more, expected in (
        ('ignore_selectors = [".seen", ".nothing-has-it"]', "updated"),
        ('ignore_selectors = [".seen"]\nignore_text = ["Visit "]', "unchanged"),
    ):
        rules.write_text(source + more, encoding="utf-8")
        index(bench, job_id, again=True, sources_file=rules)
        comparer(bench).work_once()
        assert kinds(bench) == ["new_page", expected]
    with bench.database.read() as db:
        assert [each for each in db.scalars(select(Text.body)) if "looked" in each or "Visit" in each] == []
    rules.write_text("broken", encoding="utf-8")
    index(bench, job_id, again=True, sources_file=rules)
    comparer(bench).work_once()
    assert kinds(bench) == ["new_page", "updated"]


def kinds(bench: Bench) -> list[str]:
    """Of what kind the changes are, in the order of the captures."""
    query = select(SnapshotChange.change_type).order_by(SnapshotChange.to_captured_at)
    with bench.database.read() as db:
        return list(db.scalars(query))
