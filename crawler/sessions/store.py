"""The sessions of one process: each change of state is one committed transaction, under one owner's name."""

from __future__ import annotations

from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sqlalchemy import and_, false, func, or_, select, update

from crawler import logs
from crawler.access.process import is_gone, this_process
from crawler.capture.failures import Cause, Summary
from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.sessions import rows
from crawler.sessions.journal import write_log
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.rows import StaleSessionError
from crawler.sessions.visit_writes import LogWrite
from crawler.sessions.write_queue import WriteQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.sessions.journal import Journal
    from crawler.sessions.page_rows import Hooks
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

log = logs.get_logger(__name__)
_IS_OWNED = and_(  # but for a fleet's sessions, whose owners the fleet watches
    CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]),
    CrawlSession.owner.is_not(None),
    CrawlSession.entry_id.is_(None),
)


class SessionStore:
    """Writes sessions for one process. All of it blocks: call it in a thread."""

    def __init__(
        self, settings: Settings, database: Database, blobs: BlobStore, hooks: Sequence[Hooks] = ()
    ) -> None:
        self.settings = settings
        self.database = database
        self.hooks = hooks
        # A name that no other process ever has.
        self.owner = f"{this_process()}#{token_hex(6)}"
        # How long what this process writes holds for a sign of its life.
        self.ttl = timedelta(seconds=settings.domain_lock_ttl_seconds)
        self.writes = WriteQueue(settings, database, blobs, hooks)

    def queue(self, orders: Iterable[SessionOrder], snapshot: dict[str, Any]) -> list[UUID]:
        """Write sessions as queued."""
        named = {uuid4(): order for order in orders}
        with self.database.write() as db:
            rows.create(db, named, owner=self.owner, snapshot=snapshot, ttl=self.ttl)
        return list(named)

    def requeue(self, session: str) -> tuple[UUID, SessionOrder]:
        """Queue an ended or abandoned session again, by its id or the beginning of it.

        Its earlier pages stay, under their epoch.
        """
        with self.database.write() as db:
            row = lookup.find(db, CrawlSession, session)
            is_alive = and_(
                CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]),
                func.coalesce(CrawlSession.alive_until >= db.now, false()),
            )
            taken = db.execute(
                update(CrawlSession)
                .where(CrawlSession.id == row.id, CrawlSession.epoch == row.epoch, ~is_alive)
                .values(**rows.AGAIN, owner=self.owner, **rows.alive(db, self.ttl))
                .returning(CrawlSession.id)
            )
            if taken.scalar_one_or_none() is None:
                raise StaleSessionError(f"session {row.id} is at work in another process")
            return row.id, rows.order_of(row)

    def refuse(self, session_id: UUID, outcome: Outcome, journal: Journal) -> None:
        """End a session that never ran, and export its log."""
        with self.database.write() as db:
            mine = and_(CrawlSession.id == session_id, *self._waits_here())
            if self._end(db, mine, outcome):
                self.tell_end(db, [session_id])
            write_log(db, [(session_id, line) for line in journal.take()])
        self.export_log(session_id)

    def release_queued(self) -> None:
        """Let go of what this process has queued: a batch's and a fleet's wait, others end as interrupted."""
        with self.database.write() as db:
            others = or_(CrawlSession.batch_id.is_not(None), CrawlSession.entry_id.is_not(None))
            db.execute(update(CrawlSession).where(*self._waits_here(), others).values(**rows.NOBODYS))
            interrupted = Outcome(Status.FAILED, Summary.CRAWL_FAILED, Cause.INTERRUPTED)
            ended = [row.id for row in self._end(db, and_(*self._waits_here()), interrupted)]
            self.tell_end(db, ended)
        for session_id in ended:
            self.export_log(session_id)

    def _waits_here(self) -> tuple[ColumnElement[bool], ...]:
        return CrawlSession.owner == self.owner, CrawlSession.status == Status.QUEUED

    def beat(self, visits: Sequence[Visit]) -> list[Visit]:
        """Say that what waits and what runs here lives; the visits that are nobody else's.

        Each for itself: a session that is just being written to holds up no other.
        """
        with self.database.write() as db:
            db.execute(update(CrawlSession).where(*self._waits_here()).values(**rows.alive(db, self.ttl)))
        ours = []
        for visit in visits:
            with self.database.write() as db:
                if rows.beat(db, visit.fence, self.ttl):
                    ours.append(visit)
        return ours

    def abandon_stale(self) -> list[UUID]:
        """End sessions of dead processes, and export their logs; what a batch has queued becomes free.

        A process of this machine is known to be dead at once, one of another machine when its time is over.
        """
        with self.database.read() as db:
            dead = _dead_owners(db)
            if not dead and db.scalar(select(CrawlSession.id).where(is_stale(db.now)).limit(1)) is None:
                return []
        with self.database.write() as db:
            over = {"alive_until": db.now - timedelta(microseconds=1)}
            db.execute(update(CrawlSession).where(_IS_OWNED, CrawlSession.owner.in_(dead)).values(**over))
            abandoned = Outcome(Status.FAILED, Summary.CRAWL_FAILED, Cause.ABANDONED)
            ended = self._end(db, is_stale(db.now), abandoned)
            self.tell_end(db, [row.id for row in ended])
        for row in ended:
            log.warning("session.abandoned", session_id=str(row.id), domain=row.domain, owner=row.owner)
            self.export_log(row.id)
        return [row.id for row in ended]

    def export_log(self, session_id: UUID) -> None:
        """Write a session's log as a file; a failure is logged and changes nothing."""
        try:
            self.writes.post_now(LogWrite(self.database, session_id))
        except Exception as error:
            log.exception("session.log_export_failed", session_id=str(session_id), error=str(error))

    def _end(self, db: Transaction, which: ColumnElement[bool], outcome: Outcome) -> list[CrawlSession]:
        """End sessions that do not run here."""
        ended = db.scalars(
            update(CrawlSession)
            .where(which)
            .values(
                status=outcome.status, error_summary=outcome.summary, cause=outcome.cause, finished_at=db.now
            )
            .returning(CrawlSession)
        )
        return list(ended)

    def tell_end(self, db: Transaction, session_ids: Sequence[UUID]) -> None:
        """Have who writes along hear of ends, in their transaction."""
        for hook in self.hooks:
            hook.sessions_ended(db, session_ids, db.now)


def is_owner_dead(owner: str | None) -> bool:
    """Return whether the process that has a session has certainly ended."""
    return owner is not None and is_gone(owner.partition("#")[0])


def _dead_owners(db: Transaction) -> list[str]:
    alive = select(CrawlSession.owner).where(_IS_OWNED, CrawlSession.alive_until >= db.now).distinct()
    return [owner for owner in db.scalars(alive) if owner and is_owner_dead(owner)]


def is_stale(now: datetime) -> ColumnElement[bool]:
    """Open, and silent for too long. What a batch has queued waits for its start; a fleet sees to its own."""
    begun = or_(
        CrawlSession.status == Status.RUNNING,
        and_(CrawlSession.status == Status.QUEUED, CrawlSession.batch_id.is_(None)),
    )
    return and_(begun, CrawlSession.entry_id.is_(None), CrawlSession.alive_until < now)
