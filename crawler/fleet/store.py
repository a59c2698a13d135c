"""The sessions of a fleet: one an entry, anybody's until a worker begins it, and not lost with that worker.

A session that waits has no owner. One whose worker died while it ran waits again; its next start is a new
epoch, which makes void whatever the dead one would still write. One that workers keep dying with ends as
abandoned, so that a page which kills its worker does not kill the whole fleet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import field, frozen
from sqlalchemy import and_, exists, func, select, update
from sqlalchemy.orm import aliased

from crawler.capture.failures import Cause, Summary
from crawler.db.models import CrawlSession
from crawler.sessions import rows as sessions_rows
from crawler.sessions.journal import Journal
from crawler.sessions.outcome import Status
from crawler.sessions.store import SessionStore
from crawler.sessions.writes import Write, write_log

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime, timedelta
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.db.engine import Transaction
    from crawler.sessions.visit import Visit

# As the index says it.
_OPEN = and_(CrawlSession.entry_id.is_not(None), CrawlSession.finished_at.is_(None))
_IS_ANYBODYS = and_(CrawlSession.status == Status.QUEUED, CrawlSession.owner.is_(None))


@frozen
class Waiting:
    """A session that anybody may begin."""

    session_id: UUID
    order: sessions_rows.SessionOrder
    deaths: int  # workers that died with it
    start: Callable[..., Write[Visit]] = field(eq=False, repr=False)  # begins it


class FleetStore(SessionStore):
    """The book of a worker; it writes under the same owner's name as the book that it stands beside."""

    def __init__(self, book: SessionStore) -> None:
        super().__init__(book.settings, book.database, book.blobs, book.hooks)
        self.owner = book.owner

    def add(self, orders: Sequence[sessions_rows.SessionOrder], snapshot: dict[str, Any]) -> int:
        """Write a waiting session for each entry that has none yet, and say how many that were."""
        with self.database.write() as db:
            known = _known(db, [order.entry_id for order in orders])
            new = {uuid4(): order for order in orders if order.entry_id not in known}
            sessions_rows.create(db, new, owner=None, snapshot=snapshot, ttl=self.ttl)
        return len(new)

    def waiting(self, room: int, busy: Collection[str], *, suspects: bool = False) -> list[Waiting]:
        """What to begin next: of each domain where nobody is at work the oldest, the oldest first.

        Suspects, with which a worker has died, stand in lines of their own.
        """
        with self.database.read() as db:
            rows = _next_in_line(db, room, busy, suspects=suspects)
            return [Waiting(row.id, sessions_rows.order_of(row), row.deaths, self.begin) for row in rows]

    def count_waiting(self, at_most: int) -> int:
        """How many sessions wait; it counts no further than `at_most`."""
        with self.database.read() as db:
            counted = select(CrawlSession.id).where(_OPEN, _IS_ANYBODYS).limit(at_most).subquery()
            return db.scalar(select(func.count()).select_from(counted)) or 0

    def any_open(self) -> bool:
        """Whether any session of the fleet waits or is at work, wherever that is."""
        with self.database.read() as db:
            return db.scalar(select(CrawlSession.id).where(_OPEN).limit(1)) is not None

    def begin(
        self,
        order: sessions_rows.SessionOrder,
        journal: Journal,
        then: Callable[[Visit], object] | None = None,
    ) -> Write[Visit]:
        """Make a waiting session ours and begin it; refuse one that somebody else has begun."""
        start = self.start(order, journal, then)

        def write(db: Transaction) -> Visit:
            _make_ours(db, journal.key, self.owner, self.ttl)
            return start.rows(db)

        return Write(write, then=start.then)

    def recover(self) -> list[UUID]:
        """Let the sessions of dead workers wait again, or end those that too many have died with."""
        with self.database.read() as db:
            if db.scalar(select(CrawlSession.id).where(_is_orphaned(db.now)).limit(1)) is None:
                return []
        with self.database.write() as db:
            now = db.now
            orphans = _orphans(db, now)
            for orphan in orphans:
                self._recover(db, orphan, now)
            ended = [orphan.id for orphan in orphans if orphan.status == Status.FAILED]
            self._tell_end(db, ended)
        for session_id in ended:
            self.export_log(session_id)
        return [orphan.id for orphan in orphans]

    def _recover(self, db: Session, orphan: CrawlSession, now: datetime) -> None:
        if orphan.status == Status.RUNNING:  # one that only waited did not bring its worker down
            orphan.deaths += 1
        journal = Journal(str(orphan.id), orphan.domain)
        journal.warn(
            "session", "session.worker_died", owner=orphan.owner, epoch=orphan.epoch, deaths=orphan.deaths
        )
        write_log(db, [(orphan.id, line) for line in journal.take()])
        if orphan.deaths >= self.settings.fleet_max_deaths:
            orphan.status, orphan.finished_at = Status.FAILED, now
            orphan.error_summary, orphan.cause = Summary.CRAWL_FAILED, Cause.ABANDONED
        else:
            orphan.status, orphan.owner = Status.QUEUED, None
            orphan.heartbeat_at = orphan.alive_until = None
        db.flush()


def _known(db: Session, entry_ids: Sequence[str | None]) -> set[str | None]:
    return set(db.scalars(select(CrawlSession.entry_id).where(CrawlSession.entry_id.in_(entry_ids))))


def _next_in_line(db: Session, room: int, busy: Collection[str], *, suspects: bool) -> Sequence[CrawlSession]:
    age = (CrawlSession.created_at, CrawlSession.id)
    place = func.row_number().over(partition_by=CrawlSession.domain, order_by=age).label("place")
    of_kind = CrawlSession.deaths > 0 if suspects else CrawlSession.deaths == 0
    lines = select(CrawlSession.id, place).where(_OPEN, _IS_ANYBODYS, of_kind)
    in_line = lines.where(CrawlSession.domain.not_in(busy)).subquery()
    other = aliased(CrawlSession)
    at_work = exists().where(
        other.entry_id.is_not(None),
        other.finished_at.is_(None),
        other.status == Status.RUNNING,
        other.domain == CrawlSession.domain,
    )
    return db.scalars(
        select(CrawlSession)
        .join(in_line, in_line.c.id == CrawlSession.id)
        .where(in_line.c.place == 1, ~at_work)
        .order_by(*age)
        .limit(room)
    ).all()


def _make_ours(db: Transaction, session_id: UUID, owner: str, ttl: timedelta) -> None:
    made = db.execute(
        update(CrawlSession)
        .where(CrawlSession.id == session_id, _OPEN, _IS_ANYBODYS)
        .values(owner=owner, **sessions_rows.alive(db, ttl))
        .returning(CrawlSession.id)
    )
    if made.scalar_one_or_none() is None:
        raise sessions_rows.StaleSessionError


def _is_orphaned(now: datetime) -> ColumnElement[bool]:
    return and_(
        _OPEN, CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]), CrawlSession.alive_until < now
    )


def _orphans(db: Session, now: datetime) -> Sequence[CrawlSession]:
    """Those whose owner is dead, and that no other worker is just seeing to."""
    return db.scalars(select(CrawlSession).where(_is_orphaned(now)).with_for_update(skip_locked=True)).all()
