"""Domains: who holds which, how long, and which delay applies and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

from attrs import frozen
from sqlalchemy import select

from crawler.access.process import holder_of
from crawler.db.models import CrawlSession, DomainDay
from crawler.views.documents import document_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from sqlalchemy.orm import Session

    from crawler.access.gate import DomainState

FREE, HELD = "free", "held"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@frozen(kw_only=True)
class DomainDocument:
    """A domain as its gate has it, with the session that holds it."""

    domain: str
    state: str
    value: str | None  # of the lock
    host: str | None
    pid: int | None
    session: str | None
    url: str | None
    since: datetime | None
    expires_in_ms: int | None
    throttled_for_ms: int
    delayed_for_ms: int
    delay_reason: str | None


@frozen(kw_only=True)
class VisitDay:
    """How visits of a domain went on one day."""

    day: date
    sessions: int
    successes: int
    blocks: int
    verdict_rate: float | None
    median_latency_ms: int | None


def of(db: Session, states: Sequence[DomainState]) -> list[DomainDocument]:
    """Domains, in the order in which the gate gave them."""
    holders = [holder_of(state.value) if state.value else None for state in states]
    # A lock's value is anybody's text.
    ids = [UUID(one.session_id) for one in holders if one and _UUID.fullmatch(one.session_id)]
    columns = select(CrawlSession.id, CrawlSession.url, CrawlSession.started_at)
    sessions = {str(row.id): row for row in db.execute(columns.where(CrawlSession.id.in_(ids)))}
    documents = []
    for state, holder in zip(states, holders, strict=True):
        session = sessions.get(holder.session_id) if holder else None
        documents.append(
            document_of(
                DomainDocument,
                state,
                state=HELD if state.value else FREE,
                host=holder.host if holder else None,
                pid=holder.pid if holder else None,
                session=holder.session_id if holder else None,
                url=session.url if session else None,
                since=session.started_at if session else None,
                expires_in_ms=state.expires_in_ms if state.value else None,
            )
        )
    return documents


def days(db: Session, domain: str, most: int) -> list[VisitDay]:
    """The last days on which a domain was visited, the newest first."""
    query = select(DomainDay).where(DomainDay.domain == domain)
    rows = db.scalars(query.order_by(DomainDay.timestamp.desc()).limit(most))
    return [document_of(VisitDay, row, day=row.timestamp.date()) for row in rows]
