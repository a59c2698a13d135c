"""Hauls in the database: a named batch of URLs, and the session that captured each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from crawler.db.models import CrawlSession, Haul, HaulMember
from crawler.errors import LockedError, NotFoundError, UsageError
from crawler.sessions.rows import ENDED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

MAX_NAME_CHARS = 200


def open_haul(db: Session, name: str, *, source: str, urls: Sequence[str], now: datetime) -> Haul:
    """A new haul, or the one of this name if it has the same URLs and not all of them are captured."""
    if not name.strip() or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise UsageError(f"a haul's name has 1 to {MAX_NAME_CHARS} printable characters")
    found = _named(db, name)
    if found is None:
        members = [HaulMember(position=place, url=url) for place, url in enumerate(urls, start=1)]
        found = Haul(name=name, source=source, created_at=now, members=members)
        db.add(found)
        db.flush()
        return found
    is_done = all(member.session_id for member in found.members)
    if is_done or [member.url for member in found.members] != list(urls):
        raise LockedError(f"there is a haul {name!r} already", hint="`vitrine hauls show NAME` shows it")
    return found


def link(db: Session, name: str) -> bool:
    """Note which sessions have captured the members of a haul since it is there; True when all are."""
    haul = get(db, name)
    query = (
        select(CrawlSession.url, CrawlSession.id)
        .where(CrawlSession.created_at >= haul.created_at, CrawlSession.status.in_(ENDED))
        .where(CrawlSession.url.in_([member.url for member in haul.members]))
        .order_by(CrawlSession.created_at, CrawlSession.id)
    )
    captured = {row.url: row.id for row in db.execute(query)}
    for member in haul.members:
        member.session_id = member.session_id or captured.get(member.url)
    return all(member.session_id for member in haul.members)


def get(db: Session, name: str) -> Haul:
    """The haul of this name, with its members."""
    found = _named(db, name)
    if found is None:
        raise NotFoundError(f"there is no haul {name!r}", hint="`vitrine hauls list` shows them")
    return found


def _named(db: Session, name: str) -> Haul | None:
    query = select(Haul).where(Haul.name == name).options(selectinload(Haul.members))
    return db.scalars(query).first()
