"""Holds: evidence that stays, whatever its date.

A hold marks every live artifact that it covers, and the cleanup passes over marked rows. What a cleaner had
claimed before the hold was written may already be without its file; such rows are marked too, and counted,
so that whoever sets the hold knows that it came too late for them. A later claim finds the mark. Artifacts
that come into being under a hold are marked by the next pass, days before their date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen
from sqlalchemy import and_, or_, select, text, union, update

from crawler.db.engine import wait_for_turn
from crawler.db.models import (
    Artifact,
    Asset,
    AssetVersion,
    AuditEntry,
    CrawlSession,
    Hold,
    Listing,
    Page,
    Price,
    Record,
)
from crawler.db.models.retention import IS_STANDING
from crawler.errors import LockedError, NotFoundError
from crawler.warc.cdxj import domain_keys

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, CompoundSelect, Select
    from sqlalchemy.orm import InstrumentedAttribute, Session

    from crawler.db.engine import Transaction


def note_action(
    db: Session, action: str, subject: str, *, actor: str, now: datetime, **details: Any
) -> AuditEntry:
    """Add an entry; it stands or falls with the action's own transaction."""
    entry = AuditEntry(timestamp=now, actor=actor, action=action, subject=subject, details=details)
    db.add(entry)
    return entry


# ── one at a time: holds, purges and the collections' cleanup never pass each other unseen ──


# Any number will do, as long as all of them ask for the same one.
_KEY = 8_243_902


def retention_lock(db: Session) -> None:
    """Wait for the lock, and keep it to the transaction's end."""
    wait_for_turn(db, _KEY)


# ── which rows a standing hold covers, as conditions of queries ──


def is_standing(now: datetime) -> ColumnElement[bool]:
    """Neither lifted nor past its date."""
    return and_(text(f"holds.{IS_STANDING}"), or_(Hold.until.is_(None), Hold.until > now))


def is_held(session_id: InstrumentedAttribute[Any], now: datetime) -> ColumnElement[bool]:
    """Whether a hold covers the session: by its id, by its domain, or by a product that it captured.

    One list of sessions, made once a query: asked row by row, it would cost more than the rest together.
    """
    return session_id.in_(sessions_under(is_standing(now)))


def is_held_price(now: datetime) -> ColumnElement[bool]:
    """Whether a hold covers a price: by its session, by its listing, or by the listing's domain."""
    of_domain = select(Listing.id).where(
        Listing.id == Price.listing_id, Listing.domain.in_(_targets(Hold.domain, now))
    )
    return or_(
        is_held(Price.session_id, now),
        Price.listing_id.in_(_targets(Hold.listing_id, now)),
        of_domain.exists(),
    )


def is_held_asset(now: datetime) -> ColumnElement[bool]:
    """Whether a hold covers an asset: by its domain, by its product, or by a session that read a version."""
    of_domain = select(Listing.id).where(Listing.domain.in_(_targets(Hold.domain, now)))
    listings = union(of_domain, _targets(Hold.listing_id, now))
    pages = select(Page.id).where(is_held(Page.session_id, now))
    return or_(
        Asset.domain.in_(_targets(Hold.domain, now)),
        and_(Asset.listing_id.is_not(None), Asset.listing_id.in_(listings)),
        Asset.id.in_(select(AssetVersion.asset_id).where(AssetVersion.page_id.in_(pages))),
    )


def sessions_under(which: ColumnElement[bool]) -> CompoundSelect[Any]:
    """The ids of the sessions that certain holds cover."""
    return union(
        select(CrawlSession.id).where(CrawlSession.id.in_(_of(Hold.session_id, which))),
        select(CrawlSession.id).where(CrawlSession.domain.in_(_of(Hold.domain, which))),
        select(Page.session_id).where(Page.listing_id.in_(_of(Hold.listing_id, which))),
    )


def _targets(column: InstrumentedAttribute[Any], now: datetime) -> Select[Any]:
    return _of(column, is_standing(now))


def _of(column: InstrumentedAttribute[Any], which: ColumnElement[bool]) -> Select[Any]:
    return select(column).where(which, column.is_not(None))


def standing_at(db: Session, now: datetime) -> datetime | None:
    """The time by which holds are asked about; None when none stands, so that no row is asked about."""
    stands = db.scalar(select(Hold.id).where(is_standing(now)).limit(1))
    return None if stands is None else now


# ── holds: evidence that stays, whatever its date ──


BY_DATE = "its date"


class HeldError(LockedError):
    """It is under a hold."""

    code = "held"


@frozen
class Target:
    """What a hold is about: exactly one of these."""

    session_id: UUID | None = None
    listing_id: UUID | None = None
    domain: str | None = None

    def __str__(self) -> str:
        if self.session_id:
            return f"session {self.session_id}"
        return f"listing {self.listing_id}" if self.listing_id else f"domain {self.domain}"


@frozen
class HoldResult:
    """What a hold, or its end, did to artifacts."""

    holds: tuple[UUID, ...]
    artifacts: int  # marked, or given free
    too_late: int = 0  # of the marked, those that a cleaner was just deleting
    is_empty: bool = False  # nothing is known of the target yet
    lifted: tuple[str, ...] = ()  # whose holds these were, and why they stood


def hold(
    db: Session, target: Target, *, who: str, why: str, until: datetime | None, now: datetime
) -> HoldResult:
    """Set a hold, beside any others there may be."""
    retention_lock(db)
    row = Hold(who=who, why=why, until=until, created_at=now, **asdict(target))
    db.add(row)
    db.flush()
    claims = _mark(db, Hold.id == row.id)
    too_late = sum(claim is not None for claim in claims)
    note_action(
        db, "retention.hold", str(target), actor=who, now=now,
        why=why, until=until.isoformat() if until else None, artifacts=len(claims), too_late=too_late,
    )  # fmt: skip
    return HoldResult((row.id,), len(claims), too_late, is_empty=not claims and _is_unknown(db, target))


def unhold(
    db: Session, target: Target, *, who: str, why: str, now: datetime, of: str | None = None
) -> HoldResult:
    """Lift the holds on a target that one person set (`of`); what another hold covers stays.

    Whose they are has to be said where several people have set some.
    """
    retention_lock(db)
    matches = [getattr(Hold, name) == value for name, value in asdict(target).items() if value is not None]
    standing = db.scalars(select(Hold).where(Hold.released_at.is_(None), matches[0])).all()
    lifted = [each for each in standing if of is None or each.who == of]
    if not lifted:
        whose = f" of {of}" if of and standing else ""
        raise NotFoundError(
            f"there is no hold{whose} on {target}", hint="`vitrine retention holds` lists them"
        )
    if len(people := sorted({each.who for each in lifted})) > 1:
        raise LockedError(
            f"{target} is held by {' and by '.join(people)}", hint="--of NAME says whose hold is to be lifted"
        )
    ids = [each.id for each in lifted]
    said = tuple(f"{each.who}: {each.why}" for each in lifted)
    _release(db, Hold.id.in_(ids), released_at=now, released_by=who)
    freed = _unmark(db, ids, now)
    note_action(
        db, "retention.unhold", str(target), actor=who, now=now, why=why, artifacts=freed, lifted=list(said)
    )
    return HoldResult(tuple(ids), freed, lifted=said)


def _is_unknown(db: Session, target: Target) -> bool:
    """Whether no visit, product or capture of a domain is there; a session and a listing are found by id."""
    if target.domain is None:
        return False
    first, last = domain_keys(target.domain)
    known = (
        select(Record.id).where(Record.url_key >= first, Record.url_key < last).limit(1),
        select(CrawlSession.id).where(CrawlSession.domain == target.domain).limit(1),
        select(Listing.id).where(Listing.domain == target.domain).limit(1),
    )
    return not any(db.scalar(query) for query in known)


def keep_up(db: Transaction) -> None:
    """End the holds whose date has come, and mark what came into being under those that stand."""
    retention_lock(db)
    now = db.now
    over = Hold.released_at.is_(None) & (Hold.until <= now)
    if ended := _release(db, over, released_at=Hold.until, released_by=BY_DATE):
        _unmark(db, ended, now)
    if standing_at(db, now):
        _mark(db, is_standing(now))


def _release(db: Session, which: ColumnElement[bool], **values: Any) -> list[UUID]:
    lifting = update(Hold).where(which).values(**values).returning(Hold.id)
    return list(db.connection().scalars(lifting))


def _mark(db: Session, which: ColumnElement[bool]) -> Sequence[str | None]:
    """Mark the live artifacts under certain holds; the claims that cleaners have on them."""
    covered = (
        select(Artifact.id)
        .where(Artifact.session_id.in_(sessions_under(which)))
        .where(Artifact.deleted_at.is_(None), Artifact.legal_hold.is_(False))
        .order_by(Artifact.id)  # the order in which all who lock rows do so
        .with_for_update()
        .cte("covered")
    )
    marking = update(Artifact).where(Artifact.id.in_(select(covered.c.id)), Artifact.deleted_at.is_(None))
    return db.connection().scalars(marking.values(legal_hold=True).returning(Artifact.cleanup_claim)).all()


def _unmark(db: Session, holds: Sequence[UUID], now: datetime) -> int:
    freeing = (
        update(Artifact)
        .where(Artifact.session_id.in_(sessions_under(Hold.id.in_(holds))))
        .where(Artifact.legal_hold.is_(True), ~is_held(Artifact.session_id, now))
        .values(legal_hold=False)
    )
    return db.connection().execute(freeing).rowcount
