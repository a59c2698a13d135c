"""The audit log: who did what, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import AuditEntry
from crawler.views.documents import document_of
from crawler.views.paging import Resource

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


@frozen(kw_only=True)
class AuditDocument:
    """What somebody did."""

    id: int
    timestamp: datetime
    actor: str
    action: str
    subject: str
    details: dict[str, Any]


def newest_of(db: Session, action: str) -> AuditDocument | None:
    """Return the last entry of an action."""
    query = select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.id.desc())
    row = db.scalars(query.limit(1)).first()
    return document_of(AuditDocument, row) if row else None


def has_entry(db: Session, action: str, subject: str, *, since: datetime) -> bool:
    """Return whether an action on a subject was noted since then."""
    query = select(AuditEntry.id).where(
        AuditEntry.timestamp >= since, AuditEntry.action == action, AuditEntry.subject == subject
    )
    return db.scalar(query.limit(1)) is not None


AUDIT = Resource(
    table=AuditEntry,
    by=(AuditEntry.id,),
    time=AuditEntry.timestamp,
    query=select(AuditEntry),
    document=AuditDocument,
    filters={"before": lambda _, number: AuditEntry.id < number},
)
