"""The worker of jobs: takes one that is due, has it crawled, goes on, whatever one did."""

from __future__ import annotations

import signal
import time
from contextlib import closing, contextmanager
from threading import Event
from typing import TYPE_CHECKING

from crawler import logs
from crawler.capture.failures import Cause
from crawler.errors import CrawlerError
from crawler.jobs.changes_step import Comparer
from crawler.jobs.crawling import Crawl
from crawler.jobs.indexing import Indexer
from crawler.jobs.presence import Presence
from crawler.jobs.steps import Came, Result, Steps
from crawler.leases.backoff import Backoff
from crawler.leases.renewer import Renewer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.engines.statistics import Statistics
    from crawler.evidence.blobs import BlobStore
    from crawler.jobs.lifecycle import JobStatus
    from crawler.jobs.steps import Work
    from crawler.leases.rows import Lease

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# An engine is ended after so much of its lease without a renewal, so that it is gone before the end.
SAFE_PART = 0.75
# A database that is away for a moment must not cost what was crawled for days.
PATIENCE_SECONDS = tuple(Backoff(0.5, maximum=30).delays(12))

log = logs.get_logger(__name__)


class Worker:
    """One process that works on jobs, one after the other."""

    def __init__(self, database: Database, settings: Settings, blobs: BlobStore | None = None) -> None:
        self.database, self.settings = database, settings
        self.steps = Steps(database, settings)
        self.stopping = Event()
        self.indexer = Indexer(database, settings, self.stopping)
        self.comparer = Comparer(database, settings, self.stopping)
        self._blobs = blobs  # of visits' pages, which are indexed when there is nothing else to do
        self._has_new_pages = False  # that were not compared
        self._crawl: Crawl | None = None

    def run(self, *, poll_interval: float, once: bool) -> None:
        """Work until somebody says stop; with `once` on one job, if there is one."""
        with self.hearing_signals(), closing(Presence(self.database, poll_interval)) as presence:
            while not self.stopping.is_set():
                try:
                    if not once:
                        presence.tell()
                    worked = self._work(once=once)
                except Exception as error:
                    if once:
                        raise
                    known = isinstance(error, CrawlerError)
                    log.exception("worker.pass_failed", error=str(error), exc_info=not known)
                    worked = False
                if once:
                    return
                if not worked:
                    self.stopping.wait(poll_interval)

    def _work(self, *, once: bool) -> bool:
        """A crawl and its index, else an index, a comparison, pages of visits; False where nothing is due."""
        crawled = self.work_once()
        if crawled and not once:
            return True  # its index is due at once, and comes after crawls that are
        if not self.stopping.is_set() and self.indexer.work_once():
            if once and not self.stopping.is_set():
                self.comparer.work_once()
            return True
        if not self.stopping.is_set() and self.comparer.work_once():
            return True
        if crawled or self.stopping.is_set() or self._blobs is None:
            return crawled
        return self._pages(self._blobs)

    def _pages(self, blobs: BlobStore) -> bool:
        """Index some pages of visits; once there are no more, compare them with those before."""
        if self.indexer.pages_once(blobs):
            self._has_new_pages = True
            return True
        if self._has_new_pages:
            self._has_new_pages = False
            self.comparer.visits_once()
        return False

    def work_once(self) -> bool:
        """Take one job and work on it; False where none is due."""
        work = self.steps.acquire()
        if work is None:
            return False
        self.work_on(work)
        return True

    def work_on(self, work: Work) -> tuple[Result, JobStatus | None]:
        """Crawl what was leased, and write what came of it."""
        archive = work.archive
        log.info("job.begin", job=work.job_id, name=archive.name, engine=archive.engine, epoch=archive.epoch)
        crawl = self._crawl = Crawl(self.settings, archive, lambda said: self._progress(work, said))
        if self.stopping.is_set():
            crawl.stop()
        with closing(self._renewer(work, crawl)) as renewer:
            try:
                result = crawl.run()
            except CrawlerError as error:  # such as a folder that lies elsewhere
                result = Result(Came.USAGE, error=str(error), cause=error.code)
            self._crawl = None
            status = None if crawl.lost else self._end(work, result)
            renewer.forget([work.lease])
        log.info(
            "job.end",
            job=work.job_id,
            came=str(result.came),
            status=status and str(status),
            error=result.error,
        )
        return result, status

    def _renewer(self, work: Work, crawl: Crawl) -> Renewer[Lease]:
        """Keeps the lease; where it cannot, the engine is ended before somebody else begins."""

        def lost(_lease: Lease, why: Cause) -> None:
            crawl.too_long, crawl.lost = why is Cause.TOO_LONG, why is Cause.LOCK_LOST
            log.error("job.stopped", job=work.job_id, reason=why)
            crawl.stop()
            if crawl.lost:
                crawl.stop()  # there is no time to be polite

        safe = self.settings.job_lease_seconds * SAFE_PART
        renewer = Renewer("job-lease", self.steps.renew, lost, lasts=safe)
        ends_at = (
            time.monotonic()
            + self.settings.job_max_seconds
            - self.settings.job_lease_seconds * (1 - SAFE_PART)
        )
        renewer.keep([work.lease], ends_at=ends_at)
        return renewer

    def _progress(self, work: Work, said: Statistics) -> None:
        """How far it is may be told late, or not at all."""
        try:
            self.steps.progress(work, said)
        except Exception as error:  # ruff: ignore[blind-except] - see above
            log.warning("job.progress_not_written", job=work.job_id, error=str(error))

    def _end(self, work: Work, result: Result) -> JobStatus | None:
        """Write the end, persistently; what cannot be written is found by the next worker."""
        for wait in (*PATIENCE_SECONDS, None):
            try:
                return self.steps.end(work, result)
            except CrawlerError as error:
                if wait is None:
                    raise
                log.warning("job.end_delayed", job=work.job_id, error=str(error), again_in_seconds=wait)
                time.sleep(wait)
        return None

    def hearing_signals(self) -> AbstractContextManager[None]:
        """Have the first signal stop the engine and put the job back, and the second one not wait for it."""

        def heard(number: int) -> None:
            self.stopping.set()
            if self._crawl is not None:
                self._crawl.stop()
            log.info("worker.stopping", signal=signal.Signals(number).name)

        return handling_signals(heard)


@contextmanager
def handling_signals(heard: Callable[[int], object]) -> Generator[None]:
    """Call `heard` for each signal that asks this process to end."""
    before = {number: signal.signal(number, lambda given, _frame: heard(given)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
