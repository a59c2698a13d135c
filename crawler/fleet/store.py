"""The sessions of a fleet: one an entry, anybody's until a worker begins it, and not lost with that worker.

A session that waits has no owner. One whose worker died while it ran waits again; its next start is a new
epoch, which makes void whatever the dead one would still write. One that workers keep dying with ends as
abandoned, so that a page which kills its worker does not kill the whole fleet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen
from sqlalchemy import and_, exists, func, select
from sqlalchemy.orm import aliased

from crawler.capture.failures import Cause, Summary
from crawler.db.models import CrawlSession
from crawler.sessions.journal import Journal, write_log
from crawler.sessions.outcome import Status
from crawler.sessions.rows import create, order_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.db.engine import Transaction
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.store import SessionStore

# As the index says it.
_OPEN = and_(CrawlSession.entry_id.is_not(None), CrawlSession.finished_at.is_(None))
_IS_ANYBODYS = and_(CrawlSession.status == Status.QUEUED, CrawlSession.owner.is_(None))


@frozen
class Waiting:
    """A session that anybody may begin."""

    session_id: UUID
    order: SessionOrder
    deaths: int  # workers that died with it


class FleetStore:
    """Writes what waits for any worker, beside the sessions of this one."""

    def __init__(self, sessions: SessionStore) -> None:
        self.sessions = sessions
        self._database = sessions.database

    def add(self, orders: Sequence[SessionOrder], snapshot: dict[str, Any]) -> int:
        """Write a waiting session for each entry that has none yet, and say how many that were."""
        with self._database.write() as db:
            entry_id = CrawlSession.entry_id
            known = set(db.scalars(select(entry_id).where(entry_id.in_([each.entry_id for each in orders]))))
            new = {uuid4(): order for order in orders if order.entry_id not in known}
            self._write(db, new, snapshot)
        return len(new)

    def write(self, orders: Mapping[UUID, SessionOrder], snapshot: dict[str, Any]) -> None:
        """Write waiting sessions under ids that were chosen for them."""
        with self._database.write() as db:
            self._write(db, orders, snapshot)

    def _write(self, db: Transaction, orders: Mapping[UUID, SessionOrder], snapshot: dict[str, Any]) -> None:
        create(db, orders, owner=None, snapshot=snapshot, ttl=self.sessions.ttl)

    def waiting(self, room: int, busy: Collection[str], *, suspects: int = 1) -> list[Waiting]:
        """What to begin next: of each domain where nobody is at work the oldest, the oldest first.

        In front stand suspects, with which a worker has died, but no more than so many.
        """
        with self._database.read() as db:
            first = _next(db, suspects, busy, CrawlSession.deaths > 0) if suspects else []
            busy = {*busy, *(row.domain for row in first)}
            others = _next(db, room - len(first), busy, CrawlSession.deaths == 0)
            return [Waiting(row.id, order_of(row), row.deaths) for row in (*first, *others)]

    def count_waiting(self, at_most: int) -> int:
        """How many sessions wait; it counts no further than `at_most`."""
        with self._database.read() as db:
            counted = select(CrawlSession.id).where(_OPEN, _IS_ANYBODYS).limit(at_most).subquery()
            return db.scalar(select(func.count()).select_from(counted)) or 0

    def any_open(self) -> bool:
        """Whether any session of the fleet waits or is at work, wherever that is."""
        with self._database.read() as db:
            return db.scalar(select(CrawlSession.id).where(_OPEN).limit(1)) is not None

    def recover(self) -> list[UUID]:
        """Let the sessions of dead workers wait again, or end those that too many have died with."""
        with self._database.read() as db:
            if db.scalar(select(CrawlSession.id).where(_is_orphaned(db.now)).limit(1)) is None:
                return []
        with self._database.write() as db:
            # Those that no other worker is just seeing to.
            orphaned = select(CrawlSession).where(_is_orphaned(db.now))
            orphans = db.scalars(orphaned.with_for_update(skip_locked=True)).all()
            for orphan in orphans:
                self._recover(db, orphan)
            ended = [orphan.id for orphan in orphans if orphan.status == Status.FAILED]
            self.sessions.tell_end(db, ended)
        for session_id in ended:
            self.sessions.export_log(session_id)
        return [orphan.id for orphan in orphans]

    def _recover(self, db: Transaction, orphan: CrawlSession) -> None:
        if orphan.status == Status.RUNNING:  # one that only waited did not bring its worker down
            orphan.deaths += 1
        journal = Journal(str(orphan.id), orphan.domain)
        journal.warn(
            "session", "session.worker_died", owner=orphan.owner, epoch=orphan.epoch, deaths=orphan.deaths
        )
        write_log(db, [(orphan.id, line) for line in journal.take()])
        if orphan.deaths >= self.sessions.settings.fleet_max_deaths:
            orphan.status, orphan.finished_at = Status.FAILED, db.now
            orphan.error_summary, orphan.cause = Summary.CRAWL_FAILED, Cause.ABANDONED
        else:
            orphan.status, orphan.owner = Status.QUEUED, None
            orphan.heartbeat_at = orphan.alive_until = None
        db.flush()


def _next(
    db: Session, room: int, busy: Collection[str], of_kind: ColumnElement[bool]
) -> Sequence[CrawlSession]:
    age = (CrawlSession.created_at, CrawlSession.id)
    place = func.row_number().over(partition_by=CrawlSession.domain, order_by=age).label("place")
    is_next = and_(_OPEN, _IS_ANYBODYS, of_kind, CrawlSession.domain.not_in(busy))
    in_line = select(CrawlSession.id, place).where(is_next).subquery()
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


def _is_orphaned(now: datetime) -> ColumnElement[bool]:
    return and_(
        _OPEN, CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]), CrawlSession.alive_until < now
    )
