"""Which state of a job may follow which. Pure."""

from __future__ import annotations

from enum import StrEnum

from crawler.errors import CrawlerError


class JobStatus(StrEnum):
    """The states of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRYABLE = "retryable"
    FAILED = "failed"
    COMPLETED = "completed"
    INDEXING = "indexing"
    INDEXED = "indexed"
    INDEX_FAILED = "index_failed"


_S = JobStatus
# From running and indexing a job goes back, too, when its worker is stopped or dies.
FOLLOWS: dict[JobStatus, frozenset[JobStatus]] = {
    _S.QUEUED: frozenset({_S.RUNNING}),
    _S.RETRYABLE: frozenset({_S.RUNNING}),
    _S.RUNNING: frozenset({_S.COMPLETED, _S.FAILED, _S.RETRYABLE, _S.QUEUED}),
    _S.FAILED: frozenset({_S.RETRYABLE}),
    _S.COMPLETED: frozenset({_S.INDEXING}),
    _S.INDEXING: frozenset({_S.INDEXED, _S.INDEX_FAILED, _S.COMPLETED}),
    _S.INDEX_FAILED: frozenset({_S.COMPLETED, _S.INDEXING}),
    _S.INDEXED: frozenset({_S.INDEXING}),
}
CRAWLABLE = (_S.QUEUED, _S.RETRYABLE)
INDEXABLE = (_S.COMPLETED, _S.INDEX_FAILED, _S.INDEXED)
CLEANABLE = (_S.INDEXED, _S.INDEX_FAILED)
# What `vitrine jobs retry` makes of which.
RETRIED = {_S.FAILED: _S.RETRYABLE, _S.INDEX_FAILED: _S.COMPLETED}


class JobStateError(CrawlerError):
    """The job is in a state that does not allow that."""

    code = "job_state"
    exit_code = 5
    http_status = 409


def require_change(job_id: int, before: str, after: JobStatus) -> None:
    """Refuse a change that is no way of a job, and name both states."""
    if after not in FOLLOWS[JobStatus(before)]:
        raise JobStateError(f"job {job_id} is {before}; it cannot become {after}")


def after_failed_crawl(retry_count: int, most: int) -> JobStatus:
    """What becomes of a job whose crawl failed."""
    return JobStatus.RETRYABLE if retry_count < most else JobStatus.FAILED
