"""The worker: what becomes of a job by whatever its tool does."""

from __future__ import annotations

import os
import signal
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.config import load_settings
from crawler.db.engine import DatabaseUnavailableError
from crawler.db.models import JobStep, ScrapeRecord
from crawler.jobs.worker import Worker
from tests.unit.engines.test_process import alive
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.config import Settings
    from tests.unit.jobs.conftest import Bench

# The statements that differ between databases are tested where they are written.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def with_settings(bench: Bench, **changed: object) -> Settings:
    """The bench's settings, some of them otherwise."""
    return load_settings({**bench.settings.model_dump(), **changed})


def work(bench: Bench, **changed: object) -> bool:
    """One pass of a worker."""
    return Worker(bench.database, with_settings(bench, **changed)).work_once()


def test_a_root_that_is_not_mounted_takes_no_archive(bench: Bench) -> None:
    """The first archive makes it; once there are some in it, nothing is made in the place of its mount."""
    bench.order()
    assert work(bench)
    root = bench.settings.archives
    root.rename(root.with_name("elsewhere"))
    job_id = bench.order()
    assert work(bench)
    job = bench.shown(job_id)
    assert (job.status, job.crawler_status, job.retry_count) == ("retryable", "infra_error", 0)
    assert not root.exists()
    assert len(bench.notes()) == 1


def test_a_job_is_crawled(bench: Bench) -> None:
    """From the order to `completed`, with what the tool said of it (SPEC 37-46)."""
    job_id = bench.order(initial_workers=3)
    assert work(bench)
    job = bench.shown(job_id)
    assert (job.status, job.crawler_status, job.crawler_exit_code) == ("completed", "success", 0)
    assert (job.pages_crawled, job.pages_total, job.pages_failed) == (7, 9, 2)
    assert (job.warc_file_count, job.warc_bytes_total) == (1, 100)
    assert job.output_bytes_total > 100
    assert None not in {job.started_at, job.finished_at, job.storage_scanned_at}
    [said] = bench.notes()
    assert said["arguments"] == [
        "--seeds", "https://shop.example/", "--name", job.name, "--output-dir", job.output_dir,
        "--initial-workers", "3", "--log-level", "INFO", "--relax-perms",
    ]  # fmt: skip
    [step] = job.steps
    assert (step.status, [one["outcome"] for one in step.history]) == ("finished", ["success"])
    assert not work(bench)
    with bench.database.read() as db:
        [record] = db.scalars(select(ScrapeRecord))
    found = (record.kind, record.subject_id, record.status, record.domain)
    assert found == ("job", str(job_id), "completed", "shop")


def test_a_flood_does_not_hurt(bench: Bench) -> None:
    """Ten megabytes in a line, what steers terminals, JSON without end, statistics that are none."""
    bench.plan("flood:10")
    job_id = bench.order()
    assert work(bench)
    job = bench.shown(job_id)
    assert (job.status, job.pages_crawled) == ("completed", 7)
    path = Path(str(job.combined_log_path))
    data = path.read_bytes()
    assert len(data) < 200_000
    assert (b"\x1b" in data, b"\x00" in data, path.stat().st_mode & 0o777) == (False, False, 0o640)


def running(bench: Bench, worker: Worker, until: Callable[[], object]) -> threading.Thread:
    """A worker in a thread of its own, once something holds."""
    thread = threading.Thread(target=worker.work_once)
    thread.start()
    wait_for(until)
    return thread


def test_who_lost_the_lease_changes_nothing(bench: Bench) -> None:
    """Its engine is ended at once, and what it says of the job is not written."""
    bench.plan("deaf", "ok")
    job_id = bench.order()
    worker = Worker(bench.database, with_settings(bench, JOB_LEASE_SECONDS=3))
    thread = running(bench, worker, bench.notes)
    with bench.database.write() as db:
        db.execute(update(JobStep).values(lease_epoch=JobStep.lease_epoch + 1, lease_owner="another"))
    thread.join(60)
    assert not thread.is_alive()
    assert not alive(bench.notes()[0]["pid"])
    assert bench.shown(job_id).steps[0].worker == "another"


def test_what_a_dead_worker_left_is_ended_first(bench: Bench, tmp_path: Path) -> None:
    """Where its engine still writes, the next worker ends that before it begins."""
    job_id = bench.order()
    folder = Path(bench.shown(job_id).output_dir)
    folder.mkdir(parents=True)
    bench.plan("deaf", "ok")
    worker = Worker(bench.database, bench.settings)
    thread = running(bench, worker, bench.notes)
    with bench.database.write() as db:  # as if the worker had been taken for dead
        past = db.now - timedelta(seconds=1)
        db.execute(update(JobStep).values(lease_expires_at=past))
    assert work(bench)
    thread.join(60)
    first, second = bench.notes()
    assert not alive(first["pid"])
    assert bench.shown(job_id).status == "completed"
    assert [one["outcome"] for one in bench.shown(job_id).steps[0].history] == ["worker_died", "success"]
    assert second["at"] > first["at"]


def test_a_signal_ends_engine_and_worker_and_costs_no_attempt(bench: Bench) -> None:
    """SIGTERM to the worker: the job is as it was, and the next worker begins at once."""
    bench.plan("silence", "ok")
    job_id = bench.order()
    worker = Worker(bench.database, bench.settings)
    seen: list[tuple[str, str | None]] = []

    def tell() -> None:
        wait_for(bench.notes)
        job = bench.shown(job_id)
        seen.append((job.status, job.worker))
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=tell).start()
    worker.run(poll_interval=30, once=False)
    assert seen == [("running", worker.steps.owner)]
    job = bench.shown(job_id)
    assert (job.status, job.retry_count, job.steps[0].attempts) == ("queued", 0, 0)
    assert not alive(bench.notes()[0]["pid"])
    assert work(bench)
    assert bench.shown(job_id).status == "completed"


def test_a_database_that_was_away_gets_the_end_later(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was crawled for days is not lost to a moment."""
    monkeypatch.setattr("crawler.jobs.worker.PATIENCE_SECONDS", (0.01, 0.01))
    job_id = bench.order()
    worker = Worker(bench.database, bench.settings)
    end, tries = worker.steps.end, []

    def away(*given: object) -> object:
        tries.append(given)
        if len(tries) < 3:
            raise DatabaseUnavailableError("away")
        return end(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(worker.steps, "end", away)
    assert worker.work_once()
    assert (bench.shown(job_id).status, len(tries)) == ("completed", 3)
