"""The worker: what becomes of a job by whatever its tool does."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, select, update

from crawler.config import load_settings
from crawler.db.engine import DatabaseUnavailableError
from crawler.db.models import Job, JobStep, ScrapeRecord, WarcFile
from crawler.jobs import orders, steps
from crawler.jobs.lifecycle import JobStateError
from crawler.jobs.storage import locked
from crawler.jobs.worker import Worker
from tests.unit.engines.test_process import alive
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.config import Settings
    from tests.unit.jobs.conftest import Bench


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
    assert (job.status, job.crawler_status, job.crawler_exit_code, job.retry_count) == (
        "completed",
        "success",
        0,
        0,
    )
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
    assert (step.status, step.outcome, [one["outcome"] for one in step.history]) == (
        "finished",
        "success",
        ["success"],
    )
    assert not work(bench)
    with bench.database.read() as db:
        [record] = db.scalars(select(ScrapeRecord))
    assert (record.kind, record.subject_id, record.status, record.domain) == (
        "job",
        str(job_id),
        "completed",
        "shop",
    )


def test_warc_files_in_a_jobs_folder_are_the_jobs(bench: Bench) -> None:
    """Whoever wrote them."""
    job_id = bench.order()
    folder = bench.shown(job_id).output_dir
    with bench.database.write() as db:
        for where in (folder, f"{folder}/warcs", "/elsewhere"):
            db.add(WarcFile(folder=where, path="a.warc.gz", state="sealed", created_at=db.now))
    assert work(bench)
    with bench.database.read() as db:
        found = db.scalars(select(WarcFile.job_id).order_by(WarcFile.id)).all()
    assert found == [job_id, job_id, None]


def test_a_crawl_that_fails_is_tried_again_twice(bench: Bench) -> None:
    """SPEC 115, 139: `retryable` twice, then `failed`; asked for again it begins anew, before the others."""
    bench.plan("fail")
    job_id = bench.order()
    seen = []
    for _ in range(3):
        assert work(bench)
        job = bench.shown(job_id)
        seen.append((job.status, job.retry_count, job.crawler_status, job.crawler_exit_code))
    assert seen == [("retryable", 1, "failed", 1), ("retryable", 2, "failed", 1), ("failed", 2, "failed", 1)]
    assert not work(bench)
    assert "error: it did not work, see https://me:***@shop.example/" in str(
        bench.shown(job_id).steps[0].last_error
    )
    other = bench.order()
    with bench.database.write() as db:
        orders.retry(db, db.get_one(Job, job_id), db.now)
    bench.plan("ok")
    assert work(bench)
    assert (bench.shown(job_id).status, bench.shown(other).status) == ("completed", "queued")


def test_jobs_go_in_the_order_of_their_queueing(bench: Bench) -> None:
    """SPEC 113; one without a source is nobody's."""
    jobs = [bench.order() for _ in range(3)]
    with bench.database.write() as db:
        db.execute(update(Job).where(Job.id == jobs[0]).values(source_id=None))
    while work(bench):
        pass
    assert [note["job"] for note in bench.notes()] == [str(jobs[1]), str(jobs[2])]


@pytest.mark.parametrize(("order", "cause"), [("fail:75", "infrastructure"), ("disk", "infrastructure")])
def test_the_machine_is_to_blame(bench: Bench, order: str, cause: str) -> None:
    """SPEC 49: no retry is counted; each rest is longer than the one before, and after five it is enough."""
    bench.plan(order)
    job_id = bench.order()
    rests = []
    for attempt in range(1, 6):
        assert work(bench)
        job = bench.shown(job_id)
        assert (job.retry_count, job.infra_errors, job.crawler_status) == (0, attempt, "infra_error")
        if job.status == "retryable":
            assert not work(bench)  # it rests
            with bench.database.write() as db:
                step = db.scalars(select(JobStep)).one()
                rests.append(round((step.next_run_at - db.now) / timedelta(minutes=1)))
                step.next_run_at = db.now
    assert rests == [10, 20, 40, 60]
    job = bench.shown(job_id)
    assert (job.status, job.steps[0].cause) == ("failed", cause)


def test_wrong_arguments_are_never_tried_again(bench: Bench) -> None:
    """SPEC 49."""
    bench.plan("fail:2")
    job_id = bench.order()
    assert work(bench)
    job = bench.shown(job_id)
    assert (job.status, job.crawler_status, job.retry_count) == ("failed", "infra_error_config", 0)
    assert not work(bench)


def test_a_tool_that_is_missing_is_no_failure_of_the_crawl(bench: Bench) -> None:
    """It costs no retry."""
    job_id = bench.order()
    assert work(bench, TOOL_CMD="/nowhere/tool --fast")
    job = bench.shown(job_id)
    assert (job.status, job.crawler_status, job.retry_count) == ("retryable", "infra_error", 0)


def test_a_disk_that_is_full_lets_nothing_begin(bench: Bench) -> None:
    """SPEC 118: the job is as it was, says why it waits, and others go on meanwhile."""
    job_id = bench.order()
    assert work(bench, JOB_DISK_LIMIT_PERCENT=1)
    job = bench.shown(job_id)
    assert (job.status, job.retry_count, job.infra_errors, job.steps[0].cause) == (
        "queued",
        0,
        0,
        "disk_limit",
    )
    assert "JOB_DISK_LIMIT_PERCENT" in str(job.steps[0].last_error)
    assert not bench.notes()
    assert not work(bench)


@pytest.mark.parametrize("number", [107, 116, 5, 13])
def test_a_broken_mount_is_a_finding(bench: Bench, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever asks it: it rests, and costs no retry."""
    job_id = bench.order()

    def broken(_path: object) -> None:
        raise OSError(number, os.strerror(number), "/mount")

    with monkeypatch.context() as patched:
        patched.setattr("crawler.jobs.crawling.shutil.disk_usage", broken)
        assert work(bench)
    job = bench.shown(job_id)
    assert (job.status, job.crawler_status, job.retry_count) == ("retryable", "infra_error", 0)
    assert os.strerror(number) in str(job.steps[0].last_error)


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


def test_ten_thousand_seeds_come_in_a_file(bench: Bench) -> None:
    """A command line has its limit."""
    job_id = bench.order()
    seeds = [f"https://shop.example/{number:020}" for number in range(10_000)]
    with bench.database.write() as db:
        db.execute(update(Job).values(config={"seeds": seeds}))
    assert work(bench)
    assert bench.shown(job_id).status == "completed"
    [said] = bench.notes()
    assert said["arguments"][0] == "--seeds-file"
    assert Path(said["arguments"][1]).read_text("utf-8").splitlines() == seeds


def test_a_folder_that_a_link_leads_to_is_refused(bench: Bench, tmp_path: Path) -> None:
    """Nothing is written there, and it is never tried again."""
    job_id = bench.order()
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "shop").symlink_to(tmp_path)
    assert work(bench)
    assert bench.shown(job_id).status == "failed"
    assert not bench.notes()


def running(bench: Bench, worker: Worker, until: Callable[[], object]) -> threading.Thread:
    """A worker in a thread of its own, once something holds."""
    thread = threading.Thread(target=worker.work_once)
    thread.start()
    wait_for(until)
    return thread


def test_told_to_stop_the_job_is_as_it_was(bench: Bench) -> None:
    """The engine ends, no attempt is counted, and the next worker begins at once."""
    bench.plan("silence", "ok")
    job_id = bench.order()
    worker = Worker(bench.database, bench.settings)
    thread = running(bench, worker, bench.notes)
    assert (bench.shown(job_id).status, bench.shown(job_id).worker) == ("running", worker.steps.owner)
    assert worker._crawl is not None
    worker._crawl.stop()
    thread.join(60)
    job = bench.shown(job_id)
    assert (job.status, job.retry_count, job.steps[0].attempts) == ("queued", 0, 0)
    assert not alive(bench.notes()[0]["pid"])
    assert work(bench)
    assert bench.shown(job_id).status == "completed"


def test_two_workers_never_have_the_same_job(bench: Bench) -> None:
    """Promise 1: nor is the second told anything but that."""
    bench.plan("silence")
    job_id = bench.order()
    worker = Worker(bench.database, bench.settings)
    thread = running(bench, worker, bench.notes)
    assert not work(bench)
    other = Worker(bench.database, bench.settings)
    assert other.steps.acquire(job_id) is None
    with bench.database.write() as db, pytest.raises(JobStateError, match=f"job {job_id} is running"):
        steps.make_due(db, db.get_one(Job, job_id), other.steps.leases)
    assert worker._crawl is not None
    worker._crawl.stop()
    thread.join(60)


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


def test_a_crawl_that_takes_its_whole_time_has_failed(bench: Bench) -> None:
    """It is stopped, and the attempt counts."""
    bench.plan("silence")
    job_id = bench.order()
    assert work(bench, JOB_MAX_SECONDS=10, JOB_LEASE_SECONDS=10, MAX_CRAWL_RETRIES=0)
    job = bench.shown(job_id)
    assert (job.status, job.steps[0].cause) == ("failed", "too_long")


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


def test_an_archive_that_somebody_else_writes_to_is_left_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody whom this machine cannot see: the job waits."""
    monkeypatch.setattr("crawler.jobs.storage.PATIENCE_SECONDS", 0.2)
    job_id = bench.order()
    folder = Path(bench.shown(job_id).output_dir)
    folder.mkdir(parents=True)
    with locked(folder):
        assert work(bench)
    job = bench.shown(job_id)
    assert (job.status, job.steps[0].cause, bench.notes()) == ("queued", "archive_busy", [])


def test_an_idle_worker_hardly_asks(bench: Bench) -> None:
    """Three queries a look at most, and none that another writer waits for."""
    asked: list[str] = []
    event.listen(bench.database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    worker = Worker(bench.database, bench.settings)
    worker.work_once()
    asked.clear()
    assert not worker.work_once()
    assert len(asked) <= 3, asked
    assert not [line for line in asked if line.startswith(("UPDATE", "BEGIN IMMEDIATE"))]


def test_the_loop_goes_on_after_a_failure(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC 117; with --once the failure is told."""
    worker = Worker(bench.database, bench.settings)
    passes = []

    def fails() -> bool:
        passes.append(time.monotonic())
        if len(passes) > 2:
            worker.stopping.set()
        raise ValueError("whatever")

    monkeypatch.setattr(worker, "work_once", fails)
    worker.run(poll_interval=0.05, once=False)
    assert len(passes) == 3
    worker.stopping.clear()
    with pytest.raises(ValueError, match="whatever"):
        worker.run(poll_interval=0.05, once=True)


def test_signals_reach_the_engine(bench: Bench) -> None:
    """SIGTERM to the worker: the engine ends, the loop too."""
    bench.plan("silence")
    job_id = bench.order()
    worker = Worker(bench.database, bench.settings)

    def tell() -> None:
        wait_for(bench.notes)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=tell).start()
    worker.run(poll_interval=30, once=False)
    assert bench.shown(job_id).status == "queued"
    assert json.dumps(bench.notes("end"))


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
