"""Hauls: URLs that were captured together, each with its product, its price and how its session ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import exists, func, select

from crawler.catalogue import hauls
from crawler.db.models import Haul, HaulMember
from crawler.pdp import Facts
from crawler.views import sessions
from crawler.views.documents import document_of
from crawler.views.paging import Resource, of_url

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.views.sessions import SessionDocument


@frozen(kw_only=True)
class HaulDocument:
    """A named batch of URLs."""

    id: int
    name: str
    created_at: datetime
    source: str  # the file that named the URLs
    urls: int
    captured: int


@frozen(kw_only=True)
class MemberDocument:
    """One URL of a haul, and what came of it."""

    url: str
    session_id: UUID | None
    status: str | None
    pdp_url: str | None
    name: str | None
    price: str | None
    currency: str | None
    availability: str | None


@frozen(kw_only=True)
class HaulWithMembers(HaulDocument):
    """A haul and its URLs, in the order of the file."""

    members: tuple[MemberDocument, ...]


HAULS = Resource(
    table=Haul,
    by=(Haul.created_at, Haul.id),
    time=Haul.created_at,
    domain=lambda domain: (
        exists().where(HaulMember.haul_id == Haul.id, of_url(HaulMember.url)(domain)).correlate(Haul)
    ),
    query=select(
        Haul, func.count(HaulMember.id).label("urls"), func.count(HaulMember.session_id).label("captured")
    )
    .outerjoin(HaulMember, HaulMember.haul_id == Haul.id)
    .group_by(Haul.id),
    document=HaulDocument,
)


def shown(db: Session, now: datetime, name: str) -> HaulWithMembers:
    """The haul of this name."""
    haul = hauls.get(db, name)
    keys = [member.session_id for member in haul.members if member.session_id]
    by_id: dict[UUID | None, SessionDocument] = {each.id: each for each in sessions.of(db, now, keys)}
    members = [_member(member, by_id.get(member.session_id)) for member in haul.members]
    return document_of(HaulWithMembers, haul, urls=len(members), captured=len(keys), members=tuple(members))


def _member(member: HaulMember, session: SessionDocument | None) -> MemberDocument:
    said = session.said if session else Facts()
    return document_of(
        MemberDocument,
        member,
        status=session.status if session else None,
        pdp_url=session.pdp_url if session else None,
        name=said.name or None,
        price=None if said.price is None else str(said.price),
        currency=said.currency or None,
        availability=said.availability or None,
    )
