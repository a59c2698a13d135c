"""Takes everything of a session or a domain out at once: files first, then rows, with one record of it all.

The record is written before anything goes, and grows with each step, in the step's own transaction. A purge
that was killed is taken up by the next one of the same target, which goes on in the same record. What belongs
to a domain or a session stands in `crawler.retention.belongings`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, frozen
from sqlalchemy import and_, delete, or_, select, update

from crawler import logs
from crawler.archive.absent import PURGE
from crawler.clock import utc_now
from crawler.db import lookup
from crawler.db.models import (
    Artifact,
    AuditEntry,
    CrawlLog,
    CrawlSession,
    Hold,
    Listing,
    Page,
    Run,
    RunWorker,
)
from crawler.errors import LockedError, UsageError
from crawler.evidence.store_mark import require_store
from crawler.retention import archives, belongings, claims, holds
from crawler.retention.belongings import Reach
from crawler.retention.holds import HeldError, note_action, retention_lock
from crawler.sessions.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy import ColumnElement

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.retention.belongings import Belonging
    from crawler.retention.holds import Target
    from crawler.retention.plan import CleanupResult

log = logs.get_logger(__name__)
ACTION = PURGE  # what replay looks for, beside the domain as the target says it
BEGUN, DONE = "begun", "done"
SESSIONS_AT_ONCE = 100
_ALL = 1_000_000_000


@frozen
class Figures:
    """How much was, or would be, taken out."""

    sessions: int = 0
    pages: int = 0
    log_lines: int = 0
    files: int = 0
    bytes: int = 0
    assets: int = 0
    snapshots: int = 0
    captures: int = 0  # of archives that others are in too: erased in their WARC files
    texts: int = 0  # that no other page has
    versions: int = 0  # of assets; those that go with their asset are not counted
    tasks: int = 0
    exceptions: int = 0
    runs: int = 0
    reports: int = 0
    records: int = 0
    prices: int = 0
    listings: int = 0
    others: int = 0  # rows of other tables: days of health, members of hauls, what a run knew of the domain


@frozen
class PurgeOrder:
    """What is to go."""

    target: Target  # a session or a domain
    with_prices: bool
    who: str
    before: datetime  # sessions that begin later are not touched
    reports: Path  # the folder of the runs' reports

    @property
    def scope(self) -> Reach:
        """The same, for the tables."""
        return Reach(self.target.session_id, self.target.domain, self.before, self.with_prices)


def preview(db: Transaction, order: PurgeOrder) -> Figures:
    """What a purge would take; refuses what it would refuse."""
    if order.target.listing_id:
        raise UsageError("a purge takes a session or a domain")
    scope = order.scope
    _refuse(db, order)
    rows: Counter[str] = Counter()
    for each in belongings.ROWS:
        rows[each.figure] += lookup.count(db, each.table, each.which(db, scope)) if each.figure else 0
    return evolve(
        _gone(db, Artifact.session_id.in_(scope.sessions), Artifact.deleted_at.is_(None)),
        sessions=lookup.count(db, CrawlSession, CrawlSession.id.in_(scope.sessions)),
        pages=lookup.count(db, Page, Page.session_id.in_(scope.sessions)),
        log_lines=lookup.count(db, CrawlLog, CrawlLog.session_id.in_(scope.sessions)),
        reports=len(_reports(db, order)),
        **+rows,
    )


def unread(db: Transaction, order: PurgeOrder) -> int:
    """How many WARC files may have more of it, of which no rows tell: they are read when it is done."""
    return archives.unread_with(db, order.scope)


def logs_of(db: Transaction, order: PurgeOrder) -> list[Path]:
    """The folders of the jobs whose logs may name it."""
    scope = order.scope
    jobs = {*archives.jobs_with(db, scope), *archives.jobs_for(db, scope)}
    return list(archives.folders_of(db, jobs).values())


def with_logs(figures: Figures, folders: Iterable[Path], order: PurgeOrder) -> Figures:
    """The same, with the lines of these folders' logs that name it."""
    return evolve(figures, log_lines=figures.log_lines + archives.lines_in(folders, order.scope))


def was_begun(db: Transaction, order: PurgeOrder) -> bool:
    """Whether a purge of the same target was killed, and there is a record to be closed."""
    return _left_open(db, order) is not None


def purge(
    database: Database,
    blobs: BlobStore,
    order: PurgeOrder,
    on_progress: Callable[[CleanupResult], None] = lambda _: None,
) -> dict[str, Any]:
    """Do it; the details of its record, and how many files could not be removed, whose rows stay then."""
    require_store(database, blobs)
    work = _Purge(database, order, _begin(database, order))
    failed = work.remove_files(blobs, on_progress)
    if failed:
        return {**work.so_far(), "failed": failed}
    work.erase_captures()
    work.remove_reports()
    for each in belongings.ROWS:
        work.remove_rows(each)
    while work.remove_some_sessions():
        pass
    work.tidy_jobs()
    done = work.finish()
    if not database.empty_log():
        log.warning("purge.log_not_emptied", database=database.shown)
    return {**done, "failed": 0}


@contextmanager
def refusals_on_record(database: Database, target: Target, who: str) -> Generator[None]:
    """That somebody wanted it gone, and what stood against it, is in the audit log."""
    try:
        yield
    except LockedError as error:
        with database.write() as db:
            note_action(db, f"{ACTION}.refused", str(target), actor=who, now=db.now, reason=str(error))
        raise


def _begin(database: Database, order: PurgeOrder) -> int:
    """Open the record, or take up the one that a killed purge of the same target has left; its id."""
    with database.write() as db:
        retention_lock(db)
        _refuse(db, order)
        # Files that failed before are tried again at once.
        rests = and_(Artifact.session_id.in_(order.scope.sessions), Artifact.cleanup_next.is_not(None))
        db.connection().execute(update(Artifact).where(rests).values(cleanup_next=None))
        claims.free_dead_claims(db)
        entry = _left_open(db, order) or note_action(
            db, ACTION, str(order.target), actor=order.who, now=db.now, state=BEGUN, **asdict(Figures())
        )
        jobs = {*entry.details.get("jobs", ()), *archives.jobs_with(db, order.scope)}
        logs = {*entry.details.get("logs", ()), *jobs, *archives.jobs_for(db, order.scope)}
        archives.require_idle(db, logs)
        entry.details = {
            **entry.details, "prices_too": order.with_prices, "jobs": sorted(jobs), "logs": sorted(logs),
        }  # fmt: skip
        db.flush()
        return entry.id


@frozen
class _Purge:
    """A purge on its way; each step is a transaction that also adds to the record."""

    database: Database
    order: PurgeOrder
    record: int

    def remove_files(self, blobs: BlobStore, on_progress: Callable[[CleanupResult], None]) -> int:
        """Remove every file, by the same claims as the cleanup's, and so safe beside it; how many failed."""
        sessions = self.order.scope.sessions
        take = partial(claims.take_of_sessions, sessions=sessions)
        work = claims.ClaimedPass(self.database, blobs, take, on_progress)
        work.run(_ALL)
        live = select(Artifact.id).where(Artifact.session_id.in_(sessions), Artifact.deleted_at.is_(None))
        with self.database.read() as db:
            _refuse(db, self.order)  # a hold may have come in between
            left = db.scalar(live.limit(1))
        if left is not None and not work.result.failed:
            raise LockedError("somebody else is at some of its files", hint="the same command goes on later")
        return work.result.failed

    def erase_captures(self) -> None:
        """Overwrite what archives have of the domain, file by file, before its rows go."""
        if self.order.target.domain is None:
            return
        with self.database.read() as db:
            files = archives.files_with(db, self.order.scope)
        for file in files:
            done = archives.erased(file, self.order.target.domain, utc_now())
            with self._step() as db:
                archives.note(db, file, done)
                if done is not None and done.is_done and file.row_id is None:
                    self._add(db, Figures(captures=done.answers))  # others are counted by their rows
                if done is not None and done.is_done and file.job_id is not None:
                    self._note_jobs(db, [file.job_id])

    def remove_reports(self) -> None:
        """Delete the reports of its runs; that of a run that stays is made again when it is asked for."""
        with self._step() as db:
            for report in (reports := _reports(db, self.order)):
                report.unlink(missing_ok=True)
            self._add(db, Figures(reports=len(reports)))

    def remove_rows(self, each: Belonging) -> None:
        """Delete the rows of one table."""
        with self._step() as db:
            gone = belongings.remove(db, each, self.order.scope)
            if each.figure:
                self._add(db, Figures(**{each.figure: gone}))

    def remove_some_sessions(self) -> bool:
        """Delete a few sessions whose files are gone, with what names them; False when there is none left."""
        query = self.order.scope.sessions.order_by(CrawlSession.id).limit(SESSIONS_AT_ONCE)
        with self._step() as db:
            keys = list(db.scalars(query))
            if keys:
                # Counted by their marks, so that what a killed purge has removed is in the record as well.
                self._add(db, _remove_sessions(db, keys, since=self._entry(db).timestamp))
            return bool(keys)

    def tidy_jobs(self) -> None:
        """Cut the logs of its jobs, and have those whose files were touched say what they have left."""
        with self.database.read() as db:
            details = self._entry(db).details
            jobs = details.get("jobs", ())
            folders = archives.folders_of(db, {*jobs, *details.get("logs", ())})
        for job_id, folder in folders.items():
            with self._step() as db:
                self._add(db, Figures(log_lines=archives.cut_logs(db, job_id, self.order.scope)))
            if job_id in jobs:
                left = archives.counted(folder)
                with self._step() as db:
                    archives.write_counts(db, job_id, left)

    def _note_jobs(self, db: Transaction, jobs: Sequence[int]) -> None:
        """Remember whose files are touched, for whoever takes this purge up."""
        entry = self._entry(db)
        entry.details = {**entry.details, "jobs": sorted({*entry.details.get("jobs", ()), *jobs})}
        db.flush()

    def finish(self) -> dict[str, Any]:
        """Have plans of runs that stay forget the domain, and close the record."""
        with self._step() as db:
            if self.order.target.domain:
                belongings.forget_in_plans(db, self.order.target.domain)
            entry = self._entry(db)
            took = any(entry.details.get(name) for name in asdict(Figures()))
            told = {"done_at": db.now.isoformat()} if took else {}
            entry.details = {**entry.details, "state": DONE, **told}
            return dict(entry.details)

    def so_far(self) -> dict[str, Any]:
        """What the record says, and the files that are gone from sessions that are still there."""
        with self.database.read() as db:
            entry = self._entry(db)
            gone = _gone(
                db, Artifact.session_id.in_(self.order.scope.sessions), Artifact.deleted_at >= entry.timestamp
            )
            sums = {name: entry.details[name] + getattr(gone, name) for name in ("files", "bytes")}
            return {**entry.details, **sums}

    @contextmanager
    def _step(self) -> Generator[Transaction]:
        """A transaction beside which no hold is set; a hold that was set before it ends the purge."""
        with self.database.write() as db:
            retention_lock(db)
            _refuse(db, self.order)
            yield db

    def _add(self, db: Transaction, figures: Figures) -> None:
        entry = self._entry(db)
        # A record of an older version may not know every figure.
        sums = {name: entry.details.get(name, 0) + figure for name, figure in asdict(figures).items()}
        entry.details = {**entry.details, **sums}
        db.flush()

    def _entry(self, db: Transaction) -> AuditEntry:
        return db.get_one(AuditEntry, self.record, populate_existing=True)


def _left_open(db: Transaction, order: PurgeOrder) -> AuditEntry | None:
    state = AuditEntry.details["state"].as_string()
    query = select(AuditEntry).where(AuditEntry.action == ACTION, AuditEntry.subject == str(order.target))
    return db.scalars(query.where(state == BEGUN)).first()


def _remove_sessions(db: Transaction, keys: Sequence[UUID], *, since: datetime) -> Figures:
    """Delete sessions whose files are gone; pages, log lines and traces follow by their foreign keys."""
    files = _gone(db, Artifact.session_id.in_(keys), Artifact.deleted_at >= since)
    pages = lookup.count(db, Page, Page.session_id.in_(keys))
    lines = lookup.count(db, CrawlLog, CrawlLog.session_id.in_(keys))
    connection = db.connection()
    connection.execute(update(Listing).where(Listing.last_session_id.in_(keys)).values(last_session_id=None))
    connection.execute(delete(Artifact).where(Artifact.session_id.in_(keys)))
    sessions = connection.execute(delete(CrawlSession).where(CrawlSession.id.in_(keys))).rowcount
    return evolve(files, sessions=sessions, pages=pages, log_lines=lines)


def _gone(db: Transaction, *which: ColumnElement[bool]) -> Figures:
    """How many files, and how large."""
    number, size = lookup.files(db, *which)
    return Figures(files=number, bytes=size)


def _reports(db: Transaction, order: PurgeOrder) -> list[Path]:
    """The reports of the runs that had a part in it, finished or not."""
    runs = db.scalars(select(Run.id).where(order.scope.runs))
    names = (name for run in runs for name in (f"run-{run}.*", f".run-{run}.*"))
    return [path for name in names for path in sorted(order.reports.glob(name))]


# ── what forbids it: a hold, or somebody at work ──


def _refuse(db: Transaction, order: PurgeOrder) -> None:
    sessions, domain = order.scope.sessions, order.target.domain
    held = db.scalar(
        select(CrawlSession.id)
        .where(CrawlSession.id.in_(sessions), holds.is_held(CrawlSession.id, db.now))
        .limit(1)
    )
    if held is not None or (domain and _is_domain_held(db, domain)):
        what = f"session {held}" if held else str(order.target)
        raise HeldError(f"{what} is under a hold", hint="`vitrine retention holds` says whose, and why")
    at_work = or_(
        CrawlSession.status == Status.RUNNING,
        and_(CrawlSession.status == Status.QUEUED, CrawlSession.owner.is_not(None)),
    )
    busy = db.scalar(select(CrawlSession.id).where(CrawlSession.id.in_(sessions), at_work).limit(1))
    if busy is not None:
        raise LockedError(f"session {busy} is at work", hint="wait for its end, or stop its crawl")
    if not domain:
        return
    crewed = select(RunWorker.run_id).where(RunWorker.alive_until > db.now)
    run = db.scalar(select(Run.id).where(order.scope.runs, Run.id.in_(crewed)).limit(1))
    if (job := archives.job_at_work(db, order.scope)) is not None:
        raise LockedError(f"job {job} is at work, and has captures of {domain}", hint="wait for its end")
    if run is not None:
        raise LockedError(f"run {run} is at work", hint=f"wait for its end, or `vitrine runs stop {run}`")


def _is_domain_held(db: Transaction, domain: str) -> bool:
    listings = select(Listing.id).where(Listing.domain == domain)
    query = select(Hold.id).where(
        holds.is_standing(db.now), or_(Hold.domain == domain, Hold.listing_id.in_(listings))
    )
    return db.scalar(query.limit(1)) is not None
