"""One attempt at a job's index, and pages of visits in between; what came of it."""

from __future__ import annotations

import time
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING

from attrs import frozen

from crawler import logs
from crawler.archive.indexing import index_pages
from crawler.archive.sites import Sites
from crawler.archive.warc_indexing import JobPass, JobResult, index_job
from crawler.errors import CrawlerError
from crawler.jobs.index_steps import IndexSteps, NotOursError
from crawler.leases.renewer import Renewer

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.capture.failures import Cause
    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore
    from crawler.jobs.index_steps import IndexWork
    from crawler.leases.rows import Lease

SAFE_PART = 0.75  # of a lease, after which what was not renewed is not ours any more
PROGRESS_SECONDS = 5.0
PAGES_AT_ONCE = 200  # of visits, between two looks for a job
NO_FOLDER, NO_FILES, TOO_BAD, FAILED = "no_folder", "no_warc_files", "too_much_is_bad", "index_failed"

log = logs.get_logger(__name__)


class _StoppedError(Exception):
    """Somebody said stop."""


@frozen
class Indexed:
    """What an attempt came to."""

    job: int
    result: JobResult | None  # None where nothing was read
    status: str  # indexed, index_failed; completed where it was put back
    error: str = ""
    cause: str | None = None
    emptied_at: datetime | None = None  # when a purge took all that there was to be indexed


class Indexer:
    """Indexes one job at a time, under its lease."""

    def __init__(self, database: Database, settings: Settings, stopping: Event | None = None) -> None:
        self.database = database
        self.settings = settings
        self.steps = IndexSteps(database, settings)
        self._stopping = stopping or Event()

    def work_once(self) -> bool:
        """Index one job that is due; False where none is."""
        work = self.steps.acquire()
        if work is None:
            return False
        self.work_on(work)
        return True

    def pages_once(self, blobs: BlobStore) -> bool:
        """Index some pages of visits; False where there are none that can be."""
        sites = Sites.of_file(self.settings.sources_file)
        return index_pages(self.database, blobs, most=PAGES_AT_ONCE, sites=sites).indexed > 0

    def work_on(
        self, work: IndexWork, *, again: bool = False, tell: Callable[[JobResult], None] = lambda _: None
    ) -> Indexed | None:
        """Index what was leased, and write what came of it; None where it was lost to somebody else."""
        log.info("index.begin", job=work.job_id, epoch=work.lease.epoch)
        lost = Event()
        with closing(self._renewer(work.lease, lost)) as renewer:
            try:
                came = self._indexed(work, lost, again=again, tell=tell)
            except NotOursError:
                came = None
            renewer.forget([work.lease])
        log.info("index.end", job=work.job_id, status=came and came.status, error=came and came.error)
        return came

    def _indexed(
        self, work: IndexWork, lost: Event, *, again: bool, tell: Callable[[JobResult], None]
    ) -> Indexed | None:
        if not (work.output_dir.is_dir() or work.emptied_at):
            return self._failed(work, NO_FOLDER, f"the folder {work.output_dir} is not there")
        try:
            result = self._pass(work, lost, again=again, tell=tell)
        except _StoppedError:
            self.steps.put_back(work, "its worker was told to stop")
            return Indexed(work.job_id, None, "completed")
        except NotOursError:
            raise
        except (CrawlerError, OSError) as error:
            return self._failed(work, getattr(error, "code", FAILED), str(error))
        except Exception as error:
            log.exception("index.failed", job=work.job_id)
            return self._failed(work, FAILED, f"{type(error).__name__}: {error}")
        return self._judged(work, result)

    def _pass(
        self, work: IndexWork, lost: Event, *, again: bool, tell: Callable[[JobResult], None]
    ) -> JobResult:
        told = 0.0

        def check(db: Session) -> None:
            if self._stopping.is_set():
                raise _StoppedError
            if lost.is_set():
                raise NotOursError("the lease ran out")
            self.steps.check(db, work.lease)

        def progress(result: JobResult) -> None:
            nonlocal told
            tell(result)
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                self.steps.progress(work, result.files, result.pages)

        order = JobPass(
            job_id=work.job_id, source_id=work.source_id, output_dir=work.output_dir,
            group_by=work.group_by, again=again, ignored=work.ignored,
        )  # fmt: skip
        try:
            return index_job(self.database, order, check, progress)
        except ExceptionGroup as group:  # what several threads raise is told by the first
            raise group.exceptions[0] from None

    def _judged(self, work: IndexWork, result: JobResult) -> Indexed | None:
        """Whether so much of it could be read that it counts as indexed."""
        self.steps.progress(work, result.files, result.pages)
        if result.missing:
            log.warning("index.files_missing", job=work.job_id, missing=list(result.missing))
        if not (result.files or work.emptied_at):
            return self._failed(work, NO_FILES, f"there are no WARC files in {work.output_dir}", result)
        if result.bad_percent > self.settings.index_max_bad_percent:
            error = f"{result.bad_percent:.0f} percent of it cannot be read ({result.bad} places)"
            return self._failed(work, TOO_BAD, error, result)
        if not self.steps.done(work, result):
            return None
        return Indexed(work.job_id, result, "indexed", emptied_at=None if result.files else work.emptied_at)

    def _failed(
        self, work: IndexWork, cause: str, error: str, result: JobResult | None = None
    ) -> Indexed | None:
        if not self.steps.failed(work, error, cause, result):
            return None
        return Indexed(work.job_id, result, "index_failed", error, cause)

    def _renewer(self, lease: Lease, lost: Event) -> Renewer[Lease]:
        """Keeps the lease; where it cannot, nothing more is written."""

        def gone(_lease: Lease, _why: Cause) -> None:
            lost.set()

        safe = self.settings.job_lease_seconds * SAFE_PART
        renewer = Renewer("index-lease", self.steps.renew, gone, lasts=safe)
        renewer.keep([lease], ends_at=time.monotonic() + self.settings.job_max_seconds)
        return renewer
