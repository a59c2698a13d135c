"""What one process reads and writes of a run, in short transactions. All of it blocks.

Runs are made, worked on by any number of processes, and ended by the last of them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import asdict, define, evolve, field, frozen
from sqlalchemy import and_, delete, func, insert, select, update

from crawler import logs
from crawler.access.process import this_process
from crawler.db.models import Run, RunDenial, RunWorker, ScrapeRecord, Task
from crawler.db.upsert import insert_into
from crawler.errors import CrawlerError, NotFoundError, UsageError
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules, stored_error
from crawler.runs import rows, task_ends, tasks
from crawler.runs.keeping import KEY, keeping_of, require_recording
from crawler.runs.known_links import KnownLinks
from crawler.runs.rows import RunStatus
from crawler.runs.sources import Source
from crawler.runs.task_ends import Release
from crawler.runs.tasks import task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from sqlalchemy import Delete, Table, Update
    from sqlalchemy.orm import Session

    from crawler.access.scope import Denial, Scope
    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.leases.rows import Lease
    from crawler.runs.task_ends import TaskEnd, TaskOutcome
    from crawler.runs.tasks import LeasedTask, WorkLeft

    Change = TypeVar("Change", Update, Delete)
    RunCompleted = Callable[[Session, int, Source, datetime], None]


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
    retry_errors: bool = False  # tasks that ended as errors are tried again


@define(eq=False)
class RunAtWork:
    """A run that this process works on."""

    id: int
    source: Source
    resumed: bool
    scope: Scope  # what may be asked for; it shrinks with what the run learns
    max_attempts: int  # how often a task is tried
    jitter_seconds: float  # the longest pause between an answer and the next request to its domain
    links: KnownLinks = field(factory=KnownLinks)  # that need no second look


@frozen
class View:
    """How a run stands."""

    stop_requested: bool
    learnt: tuple[Denial, ...]  # by whoever works on it
    left: WorkLeft


class RunStore:
    """Opens a run, leases its tasks, and writes what becomes of them."""

    run: RunAtWork
    leases: Leases

    def __init__(
        self,
        database: Database,
        settings: Settings,
        owner: str,
        run_completed: RunCompleted | None = None,
    ) -> None:
        self.database = database
        self.settings = settings
        self.owner = owner
        self.run_completed = run_completed  # writes along when all tasks of a run have ended
        self.unended: list[LeasedTask] = []  # whose end could not be written; they go back with the run's end
        self._alive_for = timedelta(seconds=settings.task_lease_seconds)
        self._told_last = ""  # the domain after which others are told, so that each has its turn

    # ── the run ──

    def open(self, order: RunOrder) -> RunAtWork:
        """Make a run, or go on with one; from here on this process counts as one of its workers."""
        with self.database.write() as db:
            row = self._found(db, order)
            if row is None:
                assert order.source is not None  # ruff: ignore[assert] - see _found
                run_id, source, scope = self._begun(db, order.source), order.source, order.source.scope
            else:
                require_recording(row.id, row.plan, self.settings)
                run_id, source = row.id, Source.of_plan(row.plan)
                scope = source.scope.with_denials(rows.learnt_of(db, run_id))
                again = task_ends.retry_errors(db, run_id, db.now) if order.retry_errors else 0
                if not reopen(db, run_id, db.now, has_more=again > 0):
                    start(db, run_id, db.now)
            if not join(db, run_id, self.owner, db.now + self._alive_for):
                raise RunOverError(f"run {run_id} is {row and row.status}: nothing is left of it")
        rules, jitter = rules_of(self.settings, source), source.jitter_seconds
        jitter = self.settings.task_jitter_seconds if jitter is None else jitter
        self.leases = Leases(Task, rules, task_ends.note_expired, ahead=True)
        links = KnownLinks.of(source)
        self.run = RunAtWork(run_id, source, row is not None, scope, rules.max_attempts, jitter, links)
        return self.run

    def _found(self, db: Session, order: RunOrder) -> Run | None:
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

    def _begun(self, db: Transaction, source: Source) -> int:
        plan = {**source.as_plan(), KEY: keeping_of(self.settings)}
        run_id = create(db, source.code, plan, max_pages=source.max_pages, now=db.now)
        tasks.add(db, run_id, map(task_of, source.start_urls), db.now)
        start(db, run_id, db.now)
        return run_id

    def view(self, but: Collection[str], limit: int, *, counted: bool = False) -> View:
        """How the run stands now; counting a million tasks takes its time."""
        run_id, after = self.run.id, self._told_last
        with self.database.read() as db:
            left = tasks.work_left(db, run_id, db.now, but=but, limit=limit, after=after, counted=counted)
            self._told_last = left.domains[-1] if left.domains else after
            wanted = select(Run.stop_requested_at.is_not(None)).where(Run.id == run_id)
            return View(db.scalars(wanted).one(), rows.learnt_of(db, run_id), left)

    def end(self, *, failed: str = "") -> RunStatus:
        """Store how the run ended for this process, and the status that this gives it.

        `completed` when nothing is left to do, whoever did it; `stopped` when something is and nobody
        else is at it; `failed` when the store kept this process from going on.
        """
        run_id = self.run.id
        with self.database.write() as db:
            if self.unended:
                task_ends.give_back(db, self.unended, Release.INTERRUPTED, db.now)
            if end_if_drained(db, run_id, db.now):
                if self.run_completed is not None:
                    self.run_completed(db, run_id, self.run.source, db.now)
                leave(db, run_id, self.owner)
            else:
                leave_and_end(db, run_id, self.owner, db.now, failed=failed)
            return RunStatus(_taken(db, run_id).status)

    # ── its tasks ──

    def lease(self, domain: str, limit: int) -> tuple[list[LeasedTask], timedelta | None]:
        """Take tasks of a domain whose lock this process holds; where there are none, when one is due."""
        run_id, owner = self.run.id, self.owner
        with self.database.write() as db:
            found, due = tasks.lease(db, self.leases, run_id, domain, owner=owner, now=db.now, limit=limit)
            return found, None if due is None else due - db.now

    def begin(self, begun: Sequence[LeasedTask], db: Transaction) -> set[int]:
        """Count an attempt of tasks that are about to go out; the ids of those that are ours."""
        return self.leases.begin(db, [task.lease for task in begun], db.now)

    def renew(self, leases: Collection[Lease]) -> list[Lease]:
        """Keep leases, and say that this process lives; what comes back is still ours."""
        with self.database.write() as db:
            alive_until = db.now + self._alive_for
            if not beat(db, self.run.id, self.owner, alive_until):
                # It was taken for dead; who stops the run is to wait for it again.
                join(db, self.run.id, self.owner, alive_until)
            ours = self.leases.renew(db, list(leases), db.now)
        return [lease for lease in leases if lease.id in ours]

    def end_task(self, task: LeasedTask, came: TaskEnd) -> TaskOutcome | None:
        """Write what came of an attempt at a task; None when it is not ours any more."""
        with self.database.write() as db:
            return task_ends.end(db, self.leases, task, came, now=db.now)

    def give_back(self, given_up: Sequence[LeasedTask], reason: Release) -> int:
        """Give back what was not begun, with its attempts; how much of it was ours."""
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
            facts = {"run_id": self.run.id, "created_at": db.now}
            denials = [{**facts, **asdict(denial)} for denial in learnt]
            db.execute(insert_into(db, RunDenial).on_conflict_do_nothing(), denials)


def rules_of(settings: Settings, source: Source | None = None) -> LeaseRules:
    """How long a lease lasts and how often a task is tried."""
    rules = LeaseRules(
        lease_seconds=settings.task_lease_seconds,
        # A session ends by itself before that, and lets go of its tasks.
        deadline_seconds=settings.session_max_seconds + settings.task_lease_seconds,
        max_attempts=settings.task_max_retries,
        backoff_min_seconds=settings.task_backoff_min_seconds,
        backoff_max_seconds=settings.task_backoff_max_seconds,
        multiplier=settings.task_backoff_multiplier,
    )
    if source is not None and source.max_retries is not None:
        return evolve(rules, max_attempts=source.max_retries)
    return rules


# ── made, and at work ──


def create(db: Session, source: str, plan: dict[str, Any], *, max_pages: int | None, now: datetime) -> int:
    """Write a run that has yet to start; its id."""
    run = Run(
        source=source, status=RunStatus.INITIALIZED, plan=plan, max_pages=max_pages, planned=0, created_at=now
    )
    db.add(run)
    db.flush()
    return run.id


def start(db: Session, run_id: int, now: datetime) -> bool:
    """Have a new run begin; False when it has begun already."""
    if _taken(db, run_id).status != RunStatus.INITIALIZED:
        return False
    _write(db, run_id, status=RunStatus.RUNNING, started_at=now)
    return True


def reopen(db: Session, run_id: int, now: datetime, *, has_more: bool = False) -> bool:
    """Have a run go on that was stopped, failed or left; False when there is nothing to go on with.

    One that was completed goes on where it `has_more` to do by now.

    One that others are at work on stays as it is, their wish to stop it included.
    """
    status = _taken(db, run_id).status
    left = {RunStatus.STOPPED, RunStatus.FAILED, RunStatus.RUNNING}
    if status not in (left | {RunStatus.COMPLETED} if has_more else left):
        return False
    living = rows.living_workers(db, run_id, now)
    if status == RunStatus.RUNNING and living:
        return True
    _forget_the_dead(db, run_id, living)
    _write(
        db, run_id, status=RunStatus.RUNNING, started_at=func.coalesce(Run.started_at, now),
        completed_at=None, stop_requested_at=None, last_error=None,
    )  # fmt: skip
    return True


def join(db: Session, run_id: int, owner: str, alive_until: datetime) -> bool:
    """Say that a process works on a run; False when the run is not running, so that it must not."""
    if _taken(db, run_id).status != RunStatus.RUNNING:
        return False
    worker = insert_into(db, RunWorker).values(
        run_id=run_id, owner=owner, alive_until=alive_until, process=this_process()
    )
    db.execute(
        worker.on_conflict_do_update(index_elements=["run_id", "owner"], set_={"alive_until": alive_until})
    )
    return True


def beat(db: Session, run_id: int, owner: str, alive_until: datetime) -> bool:
    """Say that a process still works on a run; False when it never joined, or left."""
    mine = and_(RunWorker.run_id == run_id, RunWorker.owner == owner)
    beaten = _quiet(update(RunWorker)).where(mine).values(alive_until=alive_until).returning(RunWorker.owner)
    return db.execute(beaten).first() is not None


def leave(db: Session, run_id: int, owner: str) -> None:
    """Say that a process works on a run no longer."""
    db.execute(_quiet(delete(RunWorker)).where(RunWorker.run_id == run_id, RunWorker.owner == owner))


def request_stop(db: Session, run_id: int, now: datetime) -> bool:
    """Ask a run's workers to stop, or stop it here and now where there are none; False when it is over.

    What dead workers hold is given back at once (SPEC D96).
    """
    if _taken(db, run_id).status not in {RunStatus.INITIALIZED, RunStatus.RUNNING}:
        return False
    living = rows.living_workers(db, run_id, now)
    _forget_the_dead(db, run_id, living)
    task_ends.give_back_of_the_dead(db, run_id, living, now)
    if living:
        _write(db, run_id, stop_requested_at=func.coalesce(Run.stop_requested_at, now))
    else:
        _end(db, run_id, now, status=RunStatus.STOPPED, stop_requested_at=now)
    return True


def end_if_drained(db: Session, run_id: int, now: datetime) -> bool:
    """Complete a run that has nothing left to do; True for the one worker that did so (SPEC D77, D95).

    One that somebody wants to stop is never completed.
    """
    # Looked at twice: cheaply, as it is asked often, and again when no more tasks can be added.
    if not tasks.is_drained(db, run_id) or _taken(db, run_id).status != RunStatus.RUNNING:
        return False
    if _taken(db, run_id).stop_requested_at or not tasks.is_drained(db, run_id):
        return False
    _end(db, run_id, now, status=RunStatus.COMPLETED)
    return True


def leave_and_end(db: Session, run_id: int, owner: str, now: datetime, *, failed: str = "") -> bool:
    """Leave a run; where nobody else is at it, it ends: stopped, or failed for that error (SPEC D94-97)."""
    # The run's row comes first: of two that leave at once, the second sees that it is the last.
    status = _taken(db, run_id).status
    leave(db, run_id, owner)
    if status not in {RunStatus.INITIALIZED, RunStatus.RUNNING} or rows.living_workers(db, run_id, now):
        return False
    if failed:
        _end(db, run_id, now, status=RunStatus.FAILED, last_error=stored_error(failed))
    else:
        _end(db, run_id, now, status=RunStatus.STOPPED)
    return True


def _end(db: Session, run_id: int, now: datetime, **facts: Any) -> None:
    """Give a run a status that ends it, and write down what is to be known when its own rows are gone."""
    _write(db, run_id, completed_at=now, **facts)
    run = _taken(db, run_id)
    took = now - run.started_at if run.started_at else None
    details = {"source": run.source, "tasks": tasks.counts(db, run_id), "error": run.last_error}
    record = {
        "timestamp": now, "kind": "run", "subject_id": str(run_id), "domain": run.source, "url": "",
        "status": run.status, "cause": None, "details": details,
        "duration_ms": round(took.total_seconds() * 1000) if took else None,
    }  # fmt: skip
    db.connection().execute(insert(cast("Table", ScrapeRecord.__table__)), record)


def _forget_the_dead(db: Session, run_id: int, living: Sequence[str]) -> None:
    dead = and_(RunWorker.run_id == run_id, RunWorker.owner.not_in(living))
    db.execute(_quiet(delete(RunWorker)).where(dead))


def _taken(db: Session, run_id: int) -> Run:
    """A run as it stands, which nobody else changes before the transaction's end."""
    query = select(Run).where(Run.id == run_id).with_for_update(key_share=True)
    run = db.scalars(query, execution_options={"populate_existing": True}).one_or_none()
    if run is None:
        raise NotFoundError(f"there is no run {run_id}", hint="`vitrine runs list` shows them")
    return run


def _write(db: Session, run_id: int, **values: Any) -> None:
    db.execute(_quiet(update(Run)).where(Run.id == run_id).values(values))


def _quiet(statement: Change) -> Change:
    # No objects of these rows are at hand that would have to be kept in step.
    return statement.execution_options(synchronize_session=False)
