"""Takes everything of a session or a domain out at once: files first, then rows, with one record of it all.

The record is written before anything goes, and grows with each step, in the step's own transaction. A purge
that was killed is taken up by the next one of the same target, which goes on in the same record.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, frozen
from sqlalchemy import and_, delete, func, or_, select, update

from crawler.db.models import (
    Artifact,
    AuditEntry,
    Base,
    CrawlLog,
    CrawlSession,
    DomainDay,
    HaulMember,
    Hold,
    Listing,
    Page,
    Price,
    ScrapeRecord,
)
from crawler.errors import LockedError, UsageError
from crawler.retention import claims, holds
from crawler.retention.holds import HeldError, note_action, retention_lock
from crawler.sessions.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore
    from crawler.retention.holds import Target
    from crawler.retention.plan import CleanupResult


@frozen
class Figures:
    """How much was, or would be, taken out."""

    sessions: int = 0
    pages: int = 0
    log_lines: int = 0
    files: int = 0
    bytes: int = 0
    prices: int = 0
    listings: int = 0


def count(db: Session, sessions: Select[Any], domain: str | None, *, with_prices: bool) -> Figures:
    """What the sessions have, and what else is the domain's."""
    live = (Artifact.session_id.in_(sessions), Artifact.deleted_at.is_(None))
    files, size = db.execute(
        select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(*live)
    ).one()
    prices = or_(Price.session_id.in_(sessions), Price.listing_id.in_(_listings_of(domain)))
    return Figures(
        sessions=_number(db, CrawlSession, CrawlSession.id.in_(sessions)),
        pages=_number(db, Page, Page.session_id.in_(sessions)),
        log_lines=_number(db, CrawlLog, CrawlLog.session_id.in_(sessions)),
        files=files,
        bytes=int(size),
        prices=_number(db, Price, prices) if with_prices else 0,
        listings=_number(db, Listing, Listing.domain == domain) if with_prices and domain else 0,
    )


def gone_since(db: Session, sessions: Any, since: datetime) -> Figures:
    """The files of sessions that were removed since then."""
    files, size = db.execute(
        select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(
            Artifact.session_id.in_(sessions), Artifact.deleted_at >= since
        )
    ).one()
    return Figures(files=files, bytes=int(size))


def remove_sessions(db: Session, keys: Sequence[UUID], *, since: datetime, with_prices: bool) -> Figures:
    """Delete sessions whose files are gone, with everything that names them; prices only on request."""
    files = gone_since(db, keys, since)
    pages = _number(db, Page, Page.session_id.in_(keys))
    lines = _number(db, CrawlLog, CrawlLog.session_id.in_(keys))
    prices = _delete(db, Price, Price.session_id.in_(keys)) if with_prices else 0
    _delete(db, ScrapeRecord, ScrapeRecord.subject_id.in_([str(key) for key in keys]))
    db.execute(_quiet(update(HaulMember).where(HaulMember.session_id.in_(keys)).values(session_id=None)))
    _delete(db, Artifact, Artifact.session_id.in_(keys))
    # Pages, logs and diagnostics follow by their foreign keys.
    sessions = _delete(db, CrawlSession, CrawlSession.id.in_(keys))
    return evolve(files, sessions=sessions, pages=pages, log_lines=lines, prices=prices)


def remove_domain(db: Session, domain: str, *, with_prices: bool) -> Figures:
    """Delete what is left of a domain: its days, and on request its products and their prices."""
    _delete(db, DomainDay, DomainDay.domain == domain)
    if not with_prices:
        return Figures()
    prices = _delete(db, Price, Price.listing_id.in_(_listings_of(domain)))
    return Figures(prices=prices, listings=_delete(db, Listing, Listing.domain == domain))


def _listings_of(domain: str | None) -> Select[Any]:
    return select(Listing.id).where(Listing.domain == domain)


def _number(db: Session, table: type[Base], which: ColumnElement[bool]) -> int:
    return db.execute(select(func.count()).select_from(table).where(which)).scalar_one()


def _delete(db: Session, table: type[Base], which: ColumnElement[bool]) -> int:
    key = table.__mapper__.primary_key[0]
    return len(db.execute(_quiet(delete(table).where(which).returning(key))).all())


def _quiet(statement: Any) -> Any:
    # No objects of these rows are loaded that would have to be kept in step.
    return statement.execution_options(synchronize_session=False)


# ── the purge ──


ACTION = "purge"
BEGUN, DONE = "begun", "done"
SESSIONS_AT_ONCE = 100
_ALL = 1_000_000_000


@frozen
class PurgeOrder:
    """What is to go."""

    target: Target  # a session or a domain
    with_prices: bool
    who: str
    before: datetime  # sessions that begin later are not touched

    @property
    def sessions(self) -> Select[Any]:
        """The ids of the sessions that are to go."""
        mine = (
            CrawlSession.id == self.target.session_id
            if self.target.session_id
            else CrawlSession.domain == self.target.domain
        )
        return select(CrawlSession.id).where(mine, CrawlSession.created_at <= self.before)


def preview(db: Session, order: PurgeOrder, now: datetime) -> Figures:
    """What a purge would take; refuses what it would refuse."""
    if order.target.listing_id:
        raise UsageError("a purge takes a session or a domain")
    _refuse(db, order, now)
    return count(db, order.sessions, order.target.domain, with_prices=order.with_prices)


def purge(
    database: Database,
    blobs: BlobStore,
    order: PurgeOrder,
    on_progress: Callable[[CleanupResult], None] = lambda _: None,
) -> dict[str, Any]:
    """Do it; the details of its record, and how many files could not be removed, whose rows stay then."""
    work = _Purge(database, order, _begin(database, order))
    failed = work.remove_files(blobs, on_progress)
    while not failed and work.remove_some_sessions():
        pass
    return {**(work.so_far() if failed else work.finish()), "failed": failed}


@frozen
class _Purge:
    """A purge on its way; each step is a transaction that also adds to the record."""

    database: Database
    order: PurgeOrder
    record: int

    def remove_files(self, blobs: BlobStore, on_progress: Callable[[CleanupResult], None]) -> int:
        """Remove every file, by the same claims as the cleanup's, and so safe beside it; how many failed."""
        take = partial(claims.take_of_sessions, sessions=self.order.sessions)
        work = claims.ClaimedPass(self.database, blobs, take, on_progress)
        work.run(_ALL)
        live = select(Artifact.id).where(
            Artifact.session_id.in_(self.order.sessions), Artifact.deleted_at.is_(None)
        )
        with self.database.read() as db:
            _refuse(db, self.order, db.now)  # a hold may have come in between
            left = db.scalar(live.limit(1))
        if left is not None and not work.result.failed:
            raise LockedError("somebody else is at some of its files", hint="the same command goes on later")
        return work.result.failed

    def remove_some_sessions(self) -> bool:
        """Delete a few sessions whose files are gone; False when there is none left."""
        query = self.order.sessions.order_by(CrawlSession.id).limit(SESSIONS_AT_ONCE)
        with self.database.write() as db:
            retention_lock(db)
            _refuse(db, self.order, db.now)
            keys = list(db.scalars(query))
            if keys:
                # Counted by their marks, so that what a killed purge has removed is in the record as well.
                since, with_prices = self._entry(db).timestamp, self.order.with_prices
                self._add(db, remove_sessions(db, keys, since=since, with_prices=with_prices))
            return bool(keys)

    def so_far(self) -> dict[str, Any]:
        """What the record says, and the files that are gone from sessions that are still there."""
        with self.database.read() as db:
            entry = self._entry(db)
            gone = gone_since(db, self.order.sessions, entry.timestamp)
            sums = {name: entry.details[name] + getattr(gone, name) for name in ("files", "bytes")}
            return {**entry.details, **sums}

    def finish(self) -> dict[str, Any]:
        """Delete what else is the domain's, and close the record."""
        domain, with_prices = self.order.target.domain, self.order.with_prices
        with self.database.write() as db:
            retention_lock(db)
            _refuse(db, self.order, db.now)
            if domain:
                self._add(db, remove_domain(db, domain, with_prices=with_prices))
            entry = self._entry(db)
            entry.details = {**entry.details, "state": DONE}
            return dict(entry.details)

    def _add(self, db: Session, figures: Figures) -> None:
        entry = self._entry(db)
        sums = {name: entry.details[name] + figure for name, figure in asdict(figures).items()}
        entry.details = {**entry.details, **sums}
        db.flush()

    def _entry(self, db: Session) -> AuditEntry:
        return db.get_one(AuditEntry, self.record, populate_existing=True)


def _begin(database: Database, order: PurgeOrder) -> int:
    """Open the record, or take up the one that a killed purge of the same target has left; its id."""
    with database.write() as db:
        retention_lock(db)
        now = db.now
        _refuse(db, order, now)
        _end_pauses(db, order)
        entry = _left_open(db, order) or note_action(
            db, ACTION, str(order.target), actor=order.who, now=now, state=BEGUN, **asdict(Figures())
        )
        entry.details = {**entry.details, "prices_too": order.with_prices}
        db.flush()
        return entry.id


def was_begun(database: Database, order: PurgeOrder) -> bool:
    """Whether a purge of the same target was killed, and there is a record to be closed."""
    with database.read() as db:
        return _left_open(db, order) is not None


def _left_open(db: Session, order: PurgeOrder) -> AuditEntry | None:
    state = AuditEntry.details["state"].as_string()
    query = select(AuditEntry).where(AuditEntry.action == ACTION, AuditEntry.subject == str(order.target))
    return db.scalars(query.where(state == BEGUN)).first()


def _end_pauses(db: Session, order: PurgeOrder) -> None:
    """Files that failed before are tried again at once."""
    db.execute(
        update(Artifact)
        .where(Artifact.session_id.in_(order.sessions), Artifact.cleanup_next.is_not(None))
        .values(cleanup_next=None)
        .execution_options(synchronize_session=False)
    )


def _refuse(db: Session, order: PurgeOrder, now: datetime) -> None:
    """Say why it may not be: a hold, or a session at work."""
    held = db.scalar(
        select(CrawlSession.id)
        .where(CrawlSession.id.in_(order.sessions), holds.is_held(CrawlSession.id, now))
        .limit(1)
    )
    if held is not None or (order.target.domain and _is_domain_held(db, order.target.domain, now)):
        what = f"session {held}" if held else str(order.target)
        raise HeldError(f"{what} is under a hold", hint="`vitrine retention holds` says whose, and why")
    at_work = or_(
        CrawlSession.status == Status.RUNNING,
        and_(CrawlSession.status == Status.QUEUED, CrawlSession.owner.is_not(None)),
    )
    busy = db.scalar(select(CrawlSession.id).where(CrawlSession.id.in_(order.sessions), at_work).limit(1))
    if busy is not None:
        raise LockedError(f"session {busy} is at work", hint="wait for its end, or stop its crawl")


def _is_domain_held(db: Session, domain: str, now: datetime) -> bool:
    listings = select(Listing.id).where(Listing.domain == domain)
    query = select(Hold.id).where(
        holds.is_standing(now), or_(Hold.domain == domain, Hold.listing_id.in_(listings))
    )
    return db.scalar(query.limit(1)) is not None
