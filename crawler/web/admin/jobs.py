"""Archive jobs: in which state how many are, what became of one, and what may be done about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from attrs import frozen
from fastapi import APIRouter, Query, Request, Response

from crawler.db import lookup
from crawler.db.models import Job
from crawler.evidence.archive_folders import logs_in
from crawler.jobs import cleanup, orders
from crawler.jobs.cleanup import CleanupPlan
from crawler.jobs.index_steps import IndexSteps
from crawler.jobs.lifecycle import CLEANABLE, INDEXABLE, RETRIED, JobStateError, JobStatus
from crawler.jobs.storage import lines_backwards
from crawler.retention.holds import note_action
from crawler.storable import plain
from crawler.views import job_snapshots
from crawler.views import jobs as views
from crawler.views.attention import Attention, of_job
from crawler.views.job_snapshots import JobSnapshots
from crawler.views.jobs import JobDetails, StepDocument
from crawler.views.paging import Wanted, numbered
from crawler.web.access import WHO, Change
from crawler.web.admin.done import sentence_of
from crawler.web.answering import page, rows_of, see, shown
from crawler.web.parameters import Field, Id, number_of, pager
from crawler.web.site import Reading, SiteHere

router = APIRouter(prefix="/admin", include_in_schema=False)
PAGE_SIZE = 50
LOG_LINES = 100
LOG_CHARS = 500  # of a line
COLUMNS = (
    "id", "source_code", "name", "status", "created_at", "started_at", "finished_at", "pages_crawled",
    "pages_failed", "indexed_page_count", "warc_file_count", "warc_bytes_total", "emptied_at",
)  # fmt: skip


@frozen(kw_only=True)
class JobRoom:
    """A job, its steps, the end of its log, and some of what came of it."""

    job: JobDetails
    attention: list[Attention]  # what a person should know of it
    steps: list[StepDocument]
    log: list[str]
    snapshots: JobSnapshots
    may: list[str]  # what may be done about it now


@page(router, "/jobs", "json", "csv")
def jobs(
    request: Request,
    db: Reading,
    *,
    source: Field = "",
    status: Field = "",
    number: Annotated[str, Query(alias="page", max_length=20)] = "1",
) -> Response:
    """All of them, by state."""
    known = status if status in set(JobStatus) else None
    wanted = numbered(number_of(number), PAGE_SIZE)
    found = views.listed(db, wanted, source=source or None, status=known)
    kept = {name: value for name, value in (("source", source), ("status", known or "")) if value}
    return shown(
        request, "jobs.html", found, rows_of(found.items, COLUMNS), counts=views.counts(db, db.now),
        source=source, status=known or "",
        **pager("/admin/jobs", kept, wanted, listed=len(found.items), total=found.total),
    )  # fmt: skip


@page(router, "/jobs/{job_id}", "json")
def job(request: Request, db: Reading, job_id: Id, done: Field = "") -> Response:
    """One of them."""
    details, steps = views.details(db, str(job_id))
    document = JobRoom(
        job=details, steps=steps, log=log_tail(details), may=_may(details),
        attention=of_job(db, db.get_one(Job, details.id)),
        snapshots=job_snapshots.snapshots_of(db, details.id, Wanted(limit=10)),
    )  # fmt: skip
    return shown(request, "job.html", document, done=sentence_of(db, done))


@router.post("/jobs/{job_id}/retry")
def retry(site: SiteHere, job_id: Id, _: Change) -> Response:
    """Let it be tried again."""
    with site.database.write() as db:
        row = lookup.find(db, Job, str(job_id))
        before = row.status
        after = orders.retry(db, row, db.now)
        subject = f"job {row.id}"
        note_action(db, "job.retry", subject, actor=WHO, now=db.now, before=before, after=after)
    return see(f"/admin/jobs/{job_id}?done=job.retry")


@router.post("/jobs/{job_id}/index")
def index(site: SiteHere, job_id: Id, _: Change) -> Response:
    """Let a worker index it, again where it was indexed before."""
    with site.database.write() as db:
        row = lookup.find(db, Job, str(job_id))
        IndexSteps(site.database, site.settings).make_due(db, row)
        note_action(db, "job.index", f"job {row.id}", actor=WHO, now=db.now, before=row.status)
    return see(f"/admin/jobs/{job_id}?done=job.index")


@router.get("/jobs/{job_id}/cleanup")
def plan_cleanup(request: Request, db: Reading, job_id: Id) -> Response:
    """What a cleanup would take, before anything goes."""
    return shown(request, "job_cleanup.html", _planned(db, job_id))


@router.post("/jobs/{job_id}/cleanup")
def clean_up(site: SiteHere, job_id: Id, fields: Change) -> Response:
    """Remove what was shown, and nothing else."""
    with site.database.read() as db:
        planned = _planned(db, job_id)
    seen = (fields.get("folders", ""), fields.get("records", ""))
    if seen != (",".join(planned.folders), str(planned.records)):
        raise JobStateError(f"job {job_id} is not what it was when it was shown", hint="look again")
    cleanup.clean_up(site.database, site.settings, job_id, force=False, who=WHO)
    return see(f"/admin/jobs/{job_id}?done=job.cleanup")


def log_tail(job: JobDetails) -> list[str]:
    """The last lines of its log, or of the one that a crawl under way writes; none where there is none."""
    folder = Path(job.output_dir)
    try:
        path = Path(job.combined_log_path) if job.combined_log_path else next(logs_in(folder), None)
        if path is None or path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
            return []
        lines = lines_backwards(path)
        found = [line for line, _ in zip(lines, range(LOG_LINES + 1), strict=False) if line]
    except OSError:
        return []
    return [plain(line[:LOG_CHARS]) for line in reversed(found)]


def _planned(db: Reading, job_id: int) -> CleanupPlan:
    return cleanup.plan(db, lookup.find(db, Job, str(job_id)))


def _may(job: JobDetails) -> list[str]:
    actions = {
        "retry": job.status in RETRIED,
        "index": job.status in INDEXABLE and bool(job.source_code),
        "cleanup": job.status in CLEANABLE and job.cleaned_at is None,
    }
    return [name for name, is_legal in actions.items() if is_legal]
