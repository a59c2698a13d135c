"""Claims in the database: a row belongs to one cleaner at a time, and only its cleaner marks it."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby, starmap
from operator import attrgetter
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import aliased

from crawler.access.process import is_gone, this_process
from crawler.db.models.evidence import Artifact
from crawler.retention import conditions
from crawler.retention.plan import DueRow, pause_after

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Select, Update
    from sqlalchemy.orm import Session

LEASE = timedelta(minutes=10)
_ROW = (
    Artifact.id, Artifact.session_id, Artifact.storage_uri, Artifact.size_bytes, Artifact.cleanup_attempts,
)  # fmt: skip
_FREE: dict[str, Any] = {"cleanup_claim": None, "cleanup_claimed_until": None}


def new_claim() -> str:
    """A name for one claim; it tells which process holds it."""
    return f"{this_process()}#{token_hex(8)}"


def drop_dead(db: Session) -> None:
    """Free what processes of this machine held when they died; elsewhere their lease must run out."""
    claims = db.scalars(select(Artifact.cleanup_claim).where(Artifact.cleanup_claim.is_not(None)).distinct())
    for claim in list(claims):
        if claim and is_gone(claim.partition("#")[0]):
            release(db, claim)


def candidates(db: Session, now: datetime, limit: int) -> list[DueRow]:
    """The rows to take next: those without a failure first, within each kind the oldest date first."""
    found: list[DueRow] = []
    for kind in _kinds(now):
        rows = db.execute(_oldest(_ROW, kind, now, limit - len(found)))
        found += list(starmap(DueRow, rows))
    return found


def take(db: Session, claim: str, now: datetime, limit: int) -> list[DueRow]:
    """Claim the candidates; what was held or prolonged since it was selected is left alone."""
    taken: list[DueRow] = []
    for kind in _kinds(now):
        if len(taken) == limit:
            break
        # On PostgreSQL, rows that another cleaner is just claiming are passed over instead of waited for.
        query = _oldest((Artifact.id,), kind, now, limit - len(taken)).with_for_update(skip_locked=True)
        picked = query.cte("picked")
        rows = db.execute(
            _quiet(update(Artifact))
            .where(Artifact.id.in_(select(picked.c.id)), conditions.is_still_due(now))
            .values(cleanup_claim=claim, cleanup_claimed_until=now + LEASE)
            .returning(*_ROW)
        )
        taken += list(starmap(DueRow, rows))
    return taken


def take_of_sessions(
    db: Session, claim: str, now: datetime, limit: int, *, sessions: Select[Any]
) -> list[DueRow]:
    """Claim whatever sessions have, of any type and date, but for what rests after a failure."""
    picked = (
        select(Artifact.id)
        .where(Artifact.session_id.in_(sessions), Artifact.cleanup_next.is_(None))
        .where(Artifact.deleted_at.is_(None), Artifact.legal_hold.is_(False), conditions.is_unclaimed(now))
        .order_by(Artifact.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("picked")
    )
    rows = db.execute(
        _quiet(update(Artifact))
        .where(Artifact.id.in_(select(picked.c.id)), Artifact.legal_hold.is_(False))
        .values(cleanup_claim=claim, cleanup_claimed_until=now + LEASE)
        .returning(*_ROW)
    )
    return list(starmap(DueRow, rows))


def shared_files(db: Session, claim: str) -> set[str]:
    """The files of a claim that live rows outside it name as well."""
    mine, other = aliased(Artifact), aliased(Artifact)
    query = (
        select(other.storage_uri)
        .join(mine, mine.storage_uri == other.storage_uri)
        .where(mine.cleanup_claim == claim, other.deleted_at.is_(None))
        .where(other.cleanup_claim.is_distinct_from(claim))
    )
    return set(db.scalars(query))


def still_needed(db: Session, claim: str, uris: Collection[str]) -> set[str]:
    """Those of the files that live rows outside the claim name, with all rows of them locked."""
    query = (
        select(Artifact.storage_uri, Artifact.cleanup_claim)
        .where(Artifact.storage_uri.in_(uris), Artifact.deleted_at.is_(None))
        .order_by(Artifact.id)  # all who lock rows do so in this order, and so never block each other
        .with_for_update()
    )
    return {uri for uri, holder in db.execute(query) if holder != claim}


def still_ours(db: Session, claim: str) -> set[UUID]:
    """The rows of a claim that nobody has taken over, locked until the transaction's end."""
    query = select(Artifact.id).where(Artifact.cleanup_claim == claim).order_by(Artifact.id)
    return set(db.scalars(query.with_for_update()))


def mark_deleted(db: Session, claim: str, now: datetime, only: Collection[UUID] | None = None) -> None:
    """Write that the files of a claim's rows are gone: of all of them, or of some."""
    marking = _quiet(update(Artifact)).where(Artifact.cleanup_claim == claim)
    marking = marking if only is None else marking.where(Artifact.id.in_(only))
    db.execute(marking.values(deleted_at=now, cleanup_next=None, **_FREE))


def mark_failed(db: Session, rows: Iterable[DueRow], now: datetime) -> None:
    """Let rows rest before they are tried again, the longer the more often they failed."""
    attempts = attrgetter("attempts")
    for before, alike in groupby(sorted(rows, key=attempts), key=attempts):
        db.execute(
            _quiet(update(Artifact))
            .where(Artifact.id.in_([row.id for row in alike]))
            .values(cleanup_attempts=before + 1, cleanup_next=now + pause_after(before + 1), **_FREE)
        )


def release(db: Session, claim: str, only: Collection[UUID] | None = None) -> None:
    """Give rows of a claim back untouched: all of them, or some."""
    freeing = _quiet(update(Artifact)).where(Artifact.cleanup_claim == claim)
    freeing = freeing if only is None else freeing.where(Artifact.id.in_(only))
    db.execute(freeing.values(**_FREE))


def count_due(db: Session, now: datetime) -> int:
    """How many rows are past their date and still there, whoever is at them."""
    count = select(func.count()).select_from(Artifact)
    kinds = (conditions.is_due_untried(now), conditions.is_due_failed(now))
    return sum(db.execute(count.where(kind)).scalar_one() for kind in kinds)


def _kinds(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return conditions.is_due_untried(now), conditions.is_due_failed(now) & conditions.is_rested(now)


def _oldest(columns: Any, kind: ColumnElement[bool], now: datetime, limit: int) -> Select[Any]:
    return (
        select(*columns)
        .where(kind, conditions.is_unclaimed(now))
        .order_by(Artifact.retention_until, Artifact.id)
        .limit(limit)
    )


def _quiet(statement: Update) -> Update:
    # No objects of these rows are loaded that would have to be kept in step.
    return statement.execution_options(synchronize_session=False)
