"""What a person should look at: what is stuck, failed, late or damaged, why, and what is to be done."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.db import lookup
from crawler.db.models import Artifact, CrawlException, CrawlSession, Job, JobStep, Run, RunWorker, WarcFile
from crawler.evidence.bodies import is_readable
from crawler.jobs.lifecycle import JobStatus
from crawler.jobs.presence import workers_at
from crawler.runs.rows import RunStatus
from crawler.sessions.store import is_stale
from crawler.views import jobs as job_views
from crawler.views.retention import last_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from crawler.db.engine import Transaction

CLEANUP_IS_LATE = timedelta(days=1)
LONG_WAIT = timedelta(minutes=10)  # of a job, while no worker runs
PENDING = "pending"
_DONE = {"crawl": "crawled", "index": "indexed", "changes": "compared"}


@frozen(kw_only=True)
class Attention:
    """Something that a person should look at, why, and where."""

    code: str
    severity: str  # bad, warn
    count: int
    what: str
    why: str
    link: str


def attention(db: Transaction) -> Iterator[Attention]:
    """The worst first."""
    yield from _stuck_jobs(db)
    yield from _waiting_jobs(db)
    yield from _resting_jobs(db)
    yield from _failed_jobs(db)
    yield from _silent_runs(db)
    yield from _silent_sessions(db)
    yield from _damaged_files(db)
    yield from _late_cleanup(db)
    yield from _open_exceptions(db)


# ── jobs ──


def of_job(db: Transaction, job: Job) -> list[Attention]:
    """What its own page says of a job."""
    steps = db.scalars(select(JobStep).where(JobStep.job_id == job.id).order_by(JobStep.id))
    found = (_of_step(db, step) for step in steps)
    return [each for each in found if each is not None]


def _of_step(db: Transaction, step: JobStep) -> Attention | None:
    if job_views.is_left_behind(step, db.now):
        return _stuck(step)
    if step.status == PENDING and step.next_run_at > db.now and step.last_error:
        return _resting(step, 1)
    is_late = step.status == PENDING and step.next_run_at < db.now - LONG_WAIT
    return _waiting(step, 1) if is_late and not workers_at(db, db.now) else None


def _stuck_jobs(db: Transaction) -> Iterator[Attention]:
    for step in job_views.left_behind(db, db.now):
        yield _stuck(step)


def _stuck(step: JobStep) -> Attention:
    return Attention(
        code="job_stuck", severity="bad", count=1, what=f"Job {step.job_id} is stuck",
        why=f"Its worker is gone: the last sign of it was at {_minute(step.updated_at)}, at the step"
        f" {step.kind}. Nothing is lost, the next worker goes on with it. Start one with `vitrine worker`, or"
        " look why none runs",
        link=f"/admin/jobs/{step.job_id}",
    )  # fmt: skip


def _waiting_jobs(db: Transaction) -> Iterator[Attention]:
    """Those that were due long ago, while no worker runs."""
    if workers_at(db, db.now):
        return
    late = JobStep.status == PENDING, JobStep.next_run_at < db.now - LONG_WAIT
    if count := lookup.count(db, JobStep, *late):
        query = select(JobStep).where(*late).order_by(JobStep.next_run_at, JobStep.id).limit(1)
        yield _waiting(db.scalars(query).one(), count)


def _waiting(oldest: JobStep, count: int) -> Attention:
    which = f"Job {oldest.job_id} waits" if count == 1 else f"{count:,} jobs wait"
    of_these = "It" if count == 1 else f"Job {oldest.job_id}"
    return Attention(
        code="job_waits", severity="bad", count=count, what=f"{which}, and no worker runs",
        why=f"{of_these} could be {_DONE[oldest.kind]} since {_minute(oldest.next_run_at)}. "
        "Start one with `vitrine worker`, or look why none runs",
        link=f"/admin/jobs/{oldest.job_id}" if count == 1 else "/admin/jobs",
    )  # fmt: skip


def _resting_jobs(db: Transaction) -> Iterator[Attention]:
    """Those that were put back for something that a person may mend."""
    rest = JobStep.status == PENDING, JobStep.next_run_at > db.now, JobStep.last_error.is_not(None)
    if count := lookup.count(db, JobStep, *rest):
        query = select(JobStep).where(*rest).order_by(JobStep.updated_at.desc(), JobStep.id.desc()).limit(1)
        yield _resting(db.scalars(query).one(), count)


def _resting(step: JobStep, count: int) -> Attention:
    which = f"Job {step.job_id} was put back" if count == 1 else f"{count:,} jobs were put back"
    of_these = "It" if count == 1 else f"The last of them is job {step.job_id}"
    return Attention(
        code="job_put_back", severity="warn", count=count, what=which,
        why=f"{of_these}: {(step.cause or 'its page says why').replace('_', ' ')}. It is tried again at "
        f"{_minute(step.next_run_at)}",
        link=f"/admin/jobs/{step.job_id}",
    )  # fmt: skip


def _failed_jobs(db: Transaction) -> Iterator[Attention]:
    for status, did in ((JobStatus.FAILED, "could not be crawled"), (JobStatus.INDEX_FAILED, "has no index")):
        count = lookup.count(db, Job, Job.status == status)
        if count:
            newest = db.scalars(
                select(Job).where(Job.status == status).order_by(Job.id.desc()).limit(1)
            ).one()
            code = "" if newest.crawler_exit_code is None else f" with exit code {newest.crawler_exit_code}"
            stage = newest.crawler_stage or newest.crawler_status or status.replace("_", " ")
            yield Attention(
                code=f"job_{status}", severity="bad", count=count,
                what=f"{_number(count, 'job')} {did if count == 1 else did.replace('has', 'have')}",
                why=f"The newest is job {newest.id}: {stage}{code}; its page has the log",
                link=f"/admin/jobs?status={status}",
            )  # fmt: skip


# ── runs, sessions, what is kept ──


def _silent_runs(db: Transaction) -> Iterator[Attention]:
    alive = select(RunWorker.run_id).where(RunWorker.alive_until > db.now)
    count = lookup.count(db, Run, Run.status == RunStatus.RUNNING, Run.id.not_in(alive))
    yield from _so_many(
        count, "run", "without a process", code="run_silent", severity="bad",
        why="Running by their rows, and nobody is at them; `vitrine runs resume` goes on",
        link="/admin/runs?status=running",
    )  # fmt: skip


def _silent_sessions(db: Transaction) -> Iterator[Attention]:
    yield from _so_many(
        lookup.count(db, CrawlSession, is_stale(db.now)), "session", "without a process",
        code="session_silent",
        why="Their process is gone; the next crawl ends them as abandoned",
        link="/admin/sessions?status=running",
    )  # fmt: skip


def _damaged_files(db: Transaction) -> Iterator[Attention]:
    yield from _so_many(
        lookup.count(db, WarcFile, WarcFile.state == "damaged"), "WARC file", "damaged", code="warc_damaged",
        why="They are missing, or not what was written. `vitrine warcs verify FILE` says what is wrong, and"
        " clears it once a good copy lies there again",
        link="/admin/warcs?state=damaged",
    )  # fmt: skip


def _late_cleanup(db: Transaction) -> Iterator[Attention]:
    late = lookup.count(
        db, Artifact, is_readable(db.now), ~Artifact.legal_hold,
        Artifact.retention_until < db.now - CLEANUP_IS_LATE,
    )  # fmt: skip
    yield from _so_many(
        late, "file", "should have gone a day ago", code="cleanup_late",
        why="No cleanup has taken them; is `vitrine cleanup` on a timer?", link="/admin/retention",
    )  # fmt: skip
    last = last_result(db)
    failed = [each["collection"] for each in last.details if each.get("error")] if last else []
    if failed:
        yield Attention(
            code="cleanup_failed", severity="bad", count=len(failed), what="The last cleanup failed in part",
            why=f"These collections could not be looked after: {', '.join(failed)}", link="/admin/retention",
        )  # fmt: skip


def _open_exceptions(db: Transaction) -> Iterator[Attention]:
    yield from _so_many(
        lookup.count(db, CrawlException, CrawlException.resolved_at.is_(None)), "exception", "of runs open",
        code="exceptions_open", link="/admin/runs",
        why="Pages that could not be had or read; `vitrine exceptions list` has them",
    )  # fmt: skip


def _so_many(
    count: int, noun: str, state: str, *, code: str, why: str, link: str, severity: str = "warn"
) -> Iterator[Attention]:
    """That things are in a state, counted; nothing where none is."""
    if count:
        what = f"{_number(count, noun)} {state}"
        yield Attention(code=code, severity=severity, count=count, what=what, why=why, link=link)


def _number(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
