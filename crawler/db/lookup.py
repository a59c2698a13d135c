"""Rows as people and programs name them: by an id, whole or how it begins, or by a source; their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import frozen
from sqlalchemy import and_, exists, false, func, inspect, or_, select
from sqlalchemy.orm import aliased

from crawler.db.models import (
    Artifact,
    Asset,
    Base,
    CrawlException,
    CrawlSession,
    Haul,
    Hold,
    Job,
    Listing,
    Page,
    Price,
    RegisteredSource,
    Run,
    Snapshot,
    SnapshotChange,
    WarcFile,
)
from crawler.errors import NotFoundError

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

Row = TypeVar("Row", bound=Base)
_UUID_DIGITS = 32
_MAX_NUMBER_DIGITS = 18  # more, and databases take it for something else


@frozen
class _Named:
    """What a table's rows are called, and where they are shown."""

    one: str
    shown_by: str


_NAMES: dict[type[Base], _Named] = {
    Artifact: _Named("artifact", "sessions show"),
    Asset: _Named("asset", "assets list"),
    CrawlException: _Named("exception", "exceptions list"),
    CrawlSession: _Named("session", "sessions list"),
    Hold: _Named("hold", "retention holds"),
    Haul: _Named("haul", "hauls list"),
    Job: _Named("job", "jobs list"),
    Listing: _Named("product", "products list"),
    Page: _Named("page", "pages list"),
    Price: _Named("price", "prices list"),
    Run: _Named("run", "runs list"),
    Snapshot: _Named("snapshot", "search"),
    SnapshotChange: _Named("change", "changes list"),
    WarcFile: _Named("WARC file", "warcs list"),
}


def find(db: Session, kind: type[Row], given: str) -> Row:
    """The row that `given` names; an unknown or ambiguous name is an error that says where to look."""
    found = candidates(db, kind, given)
    if len(found) == 1:
        return found[0]
    what = _NAMES[kind]
    message = f"several {what.one}s begin with {given!r}" if found else f"there is no {what.one} {given!r}"
    raise NotFoundError(message, hint=f"`vitrine {what.shown_by}` shows them")


def candidates(db: Session, kind: type[Row], given: str) -> list[Row]:
    """The rows that `given` may name: none, one, or two of more."""
    key = inspect(kind).primary_key[0]
    if key.type.python_type is UUID:
        digits = given.replace("-", "").lower()
        if not digits or len(digits) > _UUID_DIGITS or set(digits) - set("0123456789abcdef"):
            return []
        first, last = (UUID(digits.ljust(_UUID_DIGITS, fill)) for fill in "0f")
        return list(db.scalars(select(kind).where(key.between(first, last)).limit(2)))
    is_number = given.isascii() and given.isdecimal() and len(given) <= _MAX_NUMBER_DIGITS
    row = db.get(kind, int(given)) if is_number else None
    return [] if row is None else [row]


def count(db: Session, table: type[Base], *which: ColumnElement[bool]) -> int:
    """How many rows of a table fit all of it."""
    return db.execute(select(func.count()).select_from(table).where(*which)).scalar_one()


def files(db: Session, *which: ColumnElement[bool]) -> tuple[int, int]:
    """How many artifacts fit all of it, and how large they are together."""
    size = func.coalesce(func.sum(Artifact.size_bytes), 0)
    number, total = db.execute(select(func.count(), size).where(*which)).one()
    return number, int(total)


def of_source(named: str) -> ColumnElement[bool]:
    """Return the condition for a site by its code, or by its domain where no site has that code."""
    named = named.lower()
    other = aliased(RegisteredSource)
    is_code = exists().where(other.code == named)
    begins = url_is_of(RegisteredSource.base_url, named.removeprefix("www."))
    return or_(RegisteredSource.code == named, and_(~is_code, begins))


def url_is_of(column: Any, domain: str) -> ColumnElement[bool]:
    """Return the condition that a URL is of the domain, as `domain_of` would have it."""
    if not domain:
        return false()
    heads = [f"{scheme}://{www}{domain}" for scheme in ("http", "https") for www in ("", "www.")]
    lower = func.lower(column)
    return or_(*(lower.startswith(f"{head}/", autoescape=True) | (lower == head) for head in heads))
