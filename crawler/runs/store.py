"""The book of a run: what one process reads and writes of it, in short transactions. All of it blocks."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from attrs import evolve, frozen

from crawler import logs
from crawler.errors import CrawlerError, UsageError
from crawler.leases.rules import LeaseRules
from crawler.runs import rows, task_ends, tasks
from crawler.runs.sources import Source
from crawler.runs.task_ends import leases_on_tasks
from crawler.urls import canonical, domain_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.access.scope import Denial, Scope
    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.leases.rows import Lease
    from crawler.runs.task_ends import Outcome, Release, TaskEnd
    from crawler.runs.tasks import LeasedTask, NewTask


log = logs.get_logger(__name__)


class RunOverError(CrawlerError):
    """Nothing is left to do of the run that was to be gone on with."""

    code = "run_over"
    exit_code = 5


@frozen
class RunOrder:
    """What a crawl asks for: a new run of a source, or one to go on with."""

    source: Source | None = None
    resume: bool = False
    run_id: int | None = None


@frozen
class RunAtWork:
    """A run that this process works on."""

    id: int
    source: Source
    resumed: bool
    denials: tuple[Denial, ...] = ()  # what it has learnt before


@frozen
class View:
    """How a run stands."""

    stop_requested: bool
    drained: bool
    learnt: tuple[Denial, ...]  # by whoever works on it
    waiting: Sequence[str]  # domains that have something to lease now, other than those excepted


class Closer(Protocol):
    """Writes along when a run ends."""

    def run_completed(self, db: Session, run_id: int, source: Source, now: datetime) -> None:
        """Called when all tasks of a run have ended."""


class RunStore:
    """Opens a run, leases its tasks, and writes what becomes of them."""

    def __init__(
        self, database: Database, settings: Settings, owner: str, closers: Sequence[Closer] = ()
    ) -> None:
        self.database = database
        self.settings = settings
        self.owner = owner
        self.closers = closers
        self.leases = leases_on_tasks(rules_of(settings))
        self._told_last = ""  # the domain after which others are told, so that each has its turn

    # ── the run ──

    def open(self, order: RunOrder) -> RunAtWork:
        """Make a run, or go on with one; from here on this process counts as one of its workers."""
        with self.database.write() as db:
            now = db.now
            row = self._found(db, order)
            if row is None:
                run_id, source = self._begun(db, order, now), order.source
                rows.start(db, run_id, now)
            else:
                run_id, source = row.id, Source.of_plan(row.plan)
                if not rows.reopen(db, run_id, now):
                    rows.start(db, run_id, now)
            assert source is not None  # ruff: ignore[assert] - an order without a source names a run
            if not rows.join(db, run_id, self.owner, now + self._alive_for):
                raise RunOverError(f"run {run_id} is {rows.status_of(db, run_id)}: nothing is left of it")
            learnt = rows.of(db, run_id)
        self.run = RunAtWork(run_id, source, resumed=row is not None, denials=learnt)
        self.leases = leases_on_tasks(rules_of(self.settings, source))
        return self.run

    def _found(self, db: Session, order: RunOrder) -> Any:
        if order.run_id is not None:
            return rows.find(db, str(order.run_id))
        if order.source is None:
            raise UsageError("there is no run to go on with")
        if not order.resume:
            return None
        row = rows.resumable(db, order.source.code)
        if row is None:
            log.warning("run.nothing_to_resume", source=order.source.code)
        return row

    def _begun(self, db: Session, order: RunOrder, now: datetime) -> int:
        source = order.source
        assert source is not None  # ruff: ignore[assert] - see _found
        run_id = rows.create(db, source.code, source.as_plan(), max_pages=source.max_pages, now=now)
        tasks.add(db, run_id, [task_of(url) for url in source.start_urls], now)
        return run_id

    def view(self, but: Collection[str], limit: int) -> View:
        """How the run stands now."""
        with self.database.read() as db:
            waiting = self._waiting(db, but, limit) if limit else []
            return View(
                stop_requested=rows.is_stop_requested(db, self.run.id),
                drained=not waiting and tasks.is_drained(db, self.run.id),
                waiting=waiting,
                learnt=rows.of(db, self.run.id),
            )

    def _waiting(self, db: Transaction, but: Collection[str], limit: int) -> list[str]:
        now, after = db.now, self._told_last
        waiting = tasks.waiting_domains(db, self.run.id, now, limit=limit, but=but, after=after)
        self._told_last = waiting[-1] if waiting else after
        return waiting

    def standing(self) -> tuple[dict[str, int], str | None]:
        """The run's tasks by status, and the domain that most of the waiting ones are of."""
        with self.database.read() as db:
            most = tasks.waiting(db, self.run.id, 1)
            return tasks.counts(db, self.run.id), most[0][0] if most else None

    def end(self, *, failed: str = "") -> str:
        """Store how the run ended for this process, and the status that this gives it.

        `completed` when nothing is left to do, whoever did it; `stopped` when something is and nobody
        else is at it; `failed` when the store kept this process from going on.
        """
        with self.database.write() as db:
            now = db.now
            if rows.end_if_drained(db, self.run.id, now):
                for closer in self.closers:
                    closer.run_completed(db, self.run.id, self.run.source, now)
            elif failed:
                rows.fail(db, self.run.id, self.owner, now, error=failed)
            else:
                rows.stop(db, self.run.id, self.owner, now)
            rows.leave(db, self.run.id, self.owner)
            return str(rows.status_of(db, self.run.id))

    # ── its tasks ──

    def lease(self, domain: str, limit: int) -> list[LeasedTask]:
        """Take tasks of a domain whose lock this process holds."""
        with self.database.write() as db:
            now = db.now
            return tasks.lease(db, self.leases, self.run.id, domain, owner=self.owner, now=now, limit=limit)

    def next_due(self, domain: str) -> timedelta | None:
        """How long until something of a domain can be leased; None when nothing is left of it."""
        with self.database.read() as db:
            due = tasks.domain_due_at(db, self.run.id, domain)
            return None if due is None else due - db.now

    def renew(self, leases: Collection[Lease]) -> set[int]:
        """Keep leases, and say that this process lives; what comes back is still ours."""
        with self.database.write() as db:
            now = db.now
            if not rows.beat(db, self.run.id, self.owner, now + self._alive_for):
                # It was taken for dead; who stops the run is to wait for it again.
                rows.join(db, self.run.id, self.owner, now + self._alive_for)
            return self.leases.renew(db, list(leases), now)

    def end_task(self, task: LeasedTask, came: TaskEnd) -> Outcome | None:
        """Write what came of an attempt at a task; None when it is not ours any more."""
        with self.database.write() as db:
            return task_ends.end(db, self.leases, task, came, now=db.now)

    def give_back(self, given_up: Sequence[LeasedTask], reason: Release) -> int:
        """Give back what is not to be charged with its attempt; how much of it was ours."""
        with self.database.write() as db:
            return task_ends.give_back(db, given_up, reason, db.now)

    def has_own_task(self, task: LeasedTask, url: str) -> bool:
        """Whether the run fetches a URL that a task was led to by another task.

        On another domain it gets one now, if the run has room for it: that domain may be at work elsewhere,
        and whoever holds it asks.
        """
        news = task_of(url, depth=task.depth, priority=task.priority, kind=task.kind)
        with self.database.read() as db:
            if tasks.known(db, self.run.id, news.url_sha256):
                return True
        if news.domain == task.domain:
            return False
        with self.database.write() as db:
            added = tasks.add(db, self.run.id, [news], db.now)
            return added > 0 or tasks.known(db, self.run.id, news.url_sha256)

    def deny(self, learnt: Sequence[Denial]) -> None:
        """Keep what the run has learnt not to ask for; what was planned of it ends when its turn comes."""
        with self.database.write() as db:
            rows.keep(db, self.run.id, learnt, db.now)

    @property
    def _alive_for(self) -> timedelta:
        return timedelta(seconds=self.settings.task_lease_seconds)


def rules_of(settings: Settings, source: Source | None = None) -> LeaseRules:
    """How long a lease lasts and how often a task is tried."""
    rules = LeaseRules(
        lease_seconds=settings.task_lease_seconds,
        # A session ends by itself before that, and lets go of its tasks.
        deadline_seconds=settings.session_max_seconds + settings.task_lease_seconds,
        max_attempts=settings.task_max_retries,
        backoff_min_seconds=settings.task_backoff_min_seconds,
        backoff_max_seconds=settings.task_backoff_max_seconds,
    )
    if source is not None and source.max_retries is not None:
        return evolve(rules, max_attempts=source.max_retries)
    return rules


def task_of(url: str, **fields: Any) -> NewTask:
    """A task for a URL; its identity is the URL's canonical form."""
    return tasks.NewTask(url, domain_of(url), digest_of(url), **fields)


def digest_of(url: str) -> str:
    """What makes a URL one page of a run."""
    return hashlib.sha256(canonical(url).encode("utf-8", "replace")).hexdigest()


def scope_of(source: Source, learnt: Sequence[Denial] = ()) -> Scope:
    """What may be asked for in a run of this source."""
    return source.scope.with_denials(learnt)
