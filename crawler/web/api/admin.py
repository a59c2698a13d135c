"""Jobs for operators' programs; the guard stands before every route here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query

from crawler.archive.search import SearchOrder
from crawler.db.models import Job
from crawler.errors import NotFoundError
from crawler.jobs.lifecycle import JobStatus
from crawler.views import jobs as views
from crawler.views import search
from crawler.views.job_snapshots import JobSnapshots, snapshots_of
from crawler.views.paging import Wanted
from crawler.web.access import operators
from crawler.web.answers import shape
from crawler.web.parameters import MAX_NUMBER, Id, SourceCode
from crawler.web.site import Reading

router = APIRouter(prefix="/api/admin", tags=["admin"], dependencies=[Depends(operators)])
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=MAX_NUMBER)]


@router.get("/jobs", response_model=shape(views.JobPage))
def jobs(
    db: Reading,
    source: SourceCode = None,
    status: JobStatus | None = None,
    *,
    limit: Limit = 50,
    offset: Offset = 0,
) -> views.JobPage:
    """Jobs, the newest first."""
    return views.listed(db, Wanted(limit=limit, offset=offset), source=source, status=status)


@router.get("/jobs/status-counts")
def status_counts(db: Reading) -> dict[Literal["counts"], dict[str, int]]:
    """How many jobs there are of each state."""
    return {"counts": views.counts(db, db.now)}


@router.get("/jobs/{job_id}", response_model=shape(views.JobDetails))
def job(db: Reading, job_id: Id) -> views.JobDetails:
    """Everything about a job."""
    if db.get(Job, job_id) is None:
        raise NotFoundError("Job not found")
    return views.details(db, str(job_id))[0]


@router.get("/jobs/{job_id}/snapshots", response_model=shape(JobSnapshots))
def snapshots(db: Reading, job_id: Id, *, limit: Limit = 50, offset: Offset = 0) -> JobSnapshots:
    """What came of a job; of an unknown one nothing."""
    return snapshots_of(db, job_id, Wanted(limit=limit, offset=offset))


@router.get("/search-debug")
def search_debug(db: Reading, q: Annotated[str, Query(min_length=1, max_length=256)]) -> dict[str, Any]:
    """How a query is understood, and what answers it."""
    found = search.results(db, SearchOrder(q, page_size=5), explain=True)
    return {
        "query": q,
        "total": found.total,
        "explain": found.explain,
        "ids": [hit.id for hit in found.results],
    }
