"""The step that indexes: due once a crawl is done, one worker's, and its job says what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import select, update

from crawler.archive.warc_indexing import JobResult
from crawler.db.models import Job, JobStep
from crawler.html.content import Ignored
from crawler.jobs.index_steps import IndexSteps, IndexWork, NotOursError
from crawler.jobs.lifecycle import JobStateError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.jobs.conftest import Bench


def crawled(bench: Bench, status: str = "completed") -> int:
    """A job whose crawl is over."""
    job_id = bench.order()
    with bench.database.write() as db:
        db.execute(update(Job).where(Job.id == job_id).values(status=status))
        db.execute(update(JobStep).where(JobStep.job_id == job_id).values(status="finished"))
    return job_id


@pytest.fixture
def worker(bench: Bench) -> IndexSteps:
    """Somebody who indexes."""
    return IndexSteps(bench.database, bench.settings)


def taken(worker: IndexSteps, job_id: int | None = None) -> IndexWork:
    """A step that is due."""
    work = worker.acquire(job_id)
    assert work is not None
    return work


def job(bench: Bench, job_id: int) -> Job:
    """As its row is."""
    with bench.database.read() as db:
        return db.get_one(Job, job_id)


def test_a_crawled_job_is_due(bench: Bench, worker: IndexSteps) -> None:
    """Once, whoever asks; one that has no source, or was indexed, is not."""
    assert worker.acquire() is None
    first, homeless, done = crawled(bench), crawled(bench), crawled(bench, "indexed")
    with bench.database.write() as db:
        db.execute(update(Job).where(Job.id == homeless).values(source_id=None))
    work = taken(worker)
    assert (work.job_id, job(bench, first).status) == (first, "indexing")
    assert IndexSteps(bench.database, bench.settings).acquire() is None
    assert job(bench, done).status == "indexed"


def test_what_was_found_is_written_with_its_end(bench: Bench, worker: IndexSteps) -> None:
    """And its pages are compared next; a second word counts for nothing."""
    job_id = crawled(bench)
    work = taken(worker)
    assert worker.done(work, JobResult(pages=3, bad=2))
    row = job(bench, job_id)
    assert (row.status, row.indexed_page_count, row.records_bad) == ("indexed", 0, 2)
    assert not worker.done(work, JobResult())
    assert not worker.failed(work, "late", "cause", None)
    with bench.database.read() as db:
        kinds = db.scalars(select(JobStep.kind).where(JobStep.status == "pending")).all()
    assert list(kinds) == ["changes"]


def test_who_lost_the_lease_may_write_nothing(bench: Bench, worker: IndexSteps) -> None:
    """It is told in the transaction that it would have written in."""
    job_id = crawled(bench)
    work = taken(worker)
    worker.progress(work, 1, 7)
    assert job(bench, job_id).indexed_page_count == 7
    stale = evolve(work, lease=evolve(work.lease, epoch=work.lease.epoch - 1))
    with pytest.raises(NotOursError):
        worker.progress(stale, 1, 8)
    worker.put_back(stale, "x")
    assert (job(bench, job_id).indexed_page_count, job(bench, job_id).status) == (7, "indexing")
    assert [list(worker.renew([each.lease])) for each in (stale, work)] == [[], [work.lease]]


def test_a_job_without_a_source_cannot_be_indexed(bench: Bench, worker: IndexSteps) -> None:
    """The hint says what registers one."""
    job_id = crawled(bench)
    with bench.database.write() as db:
        db.execute(update(Job).values(source_id=None))
        with pytest.raises(JobStateError, match="has no source"):
            worker.make_due(db, db.get_one(Job, job_id))


def test_rules_are_those_of_the_file_as_it_is_now(bench: Bench, worker: IndexSteps, tmp_path: Path) -> None:
    """A file that cannot be read holds nobody up: then as it was ordered."""
    crawled(bench)
    file = tmp_path / "sources.toml"
    worker.settings = worker.settings.model_copy(update={"sources_file": file})
    text = '[sources.Shop]\nstart_urls = ["https://shop.example/"]\nignore_text = ["visitors"]\n'
    file.write_text(text, encoding="utf-8")
    work = taken(worker)
    assert work.ignored == Ignored((), ("visitors",))
    worker.put_back(work, "x")
    with bench.database.write() as db:
        row = db.scalars(select(Job)).one()
        row.config = {**(row.config or {}), "source": {"ignore_selectors": [".ad"], "group_by": "path"}}
    file.write_text("[sources", encoding="utf-8")
    work = taken(worker)
    assert (work.ignored, work.group_by) == (Ignored((".ad",), ()), "path")
