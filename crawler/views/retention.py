"""Retention: how long everything is kept, what goes next, and what holds keep from going."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import Hold
from crawler.retention.forecast import forecast, last_result
from crawler.retention.holds import is_standing
from crawler.views.documents import document_of, documents

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.retention.forecast import Forecast


@frozen(kw_only=True)
class PassDocument:
    """What came of a pass over the collections."""

    timestamp: datetime
    dry_run: bool
    collections_processed: int  # those that could be looked after
    total_deleted: int
    duration_ms: int
    details: list[dict[str, Any]]


@frozen
class PoliciesDocument:
    """Everything that is kept, and the last time that somebody cleaned up."""

    policies: tuple[Forecast, ...]
    last_cleanup: PassDocument | None


@frozen(kw_only=True)
class HoldDocument:
    """Somebody's word that evidence of one target stays."""

    id: UUID
    session_id: UUID | None
    listing_id: UUID | None
    domain: str | None
    who: str
    why: str
    created_at: datetime
    until: datetime | None

    @property
    def target(self) -> str:
        """What it is about."""
        if self.session_id:
            return f"session {self.session_id}"
        return f"listing {self.listing_id}" if self.listing_id else f"domain {self.domain}"


def policies(db: Session, now: datetime, html_days: int) -> PoliciesDocument:
    """How long each kind is kept, how much there is of it, and what goes next."""
    kinds, last = tuple(forecast(db, html_days, now)), last_result(db)
    if last is None:
        return PoliciesDocument(kinds, None)
    processed = sum(not each.get("error") for each in last.details)
    return PoliciesDocument(kinds, document_of(PassDocument, last, collections_processed=processed))


def standing_holds(db: Session, now: datetime) -> list[HoldDocument]:
    """The holds that stand, the oldest first."""
    query = select(Hold).where(is_standing(now)).order_by(Hold.created_at)
    return [document for _, document in documents(db, query, HoldDocument)]
