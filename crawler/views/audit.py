"""The audit log: who did what, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import AuditEntry
from crawler.views.documents import document_of

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


def newest(db: Session, most: int, before: int) -> list[AuditDocument]:
    """The last entries before the one of this number."""
    query = select(AuditEntry).where(AuditEntry.id < before)
    rows = db.scalars(query.order_by(AuditEntry.id.desc()).limit(most))
    return [document_of(AuditDocument, row) for row in rows]
