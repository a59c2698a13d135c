"""Which rows of a list are wanted, said alike for every list, and the query cut down to these."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple

from attrs import field, frozen
from sqlalchemy import and_, exists, func, or_, select

from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.errors import UsageError
from crawler.views.documents import document_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import InstrumentedAttribute, Session

    from crawler.db.models import Base

    Condition = Callable[[str], ColumnElement[bool]]
    Filter = Callable[[Session, Any], ColumnElement[bool]]

T = TypeVar("T")
Columns = TypeVarTuple("Columns")
MANY = 100_000  # rows that a list gives out at once
LAST_ROW = 1_000_000  # rows behind it are counted, and not listed by number


@frozen(kw_only=True)
class Wanted:
    """What is asked of a list: all of what is said holds."""

    domain: str | None = None
    since: datetime | None = None  # then or later
    until: datetime | None = None  # before
    cause: str | None = None
    after: str | None = None  # the last one of the page before, by its id or how that begins
    limit: int = MANY
    offset: int = 0

    @property
    def number(self) -> int:
        """The number of the page, from 1 on."""
        return self.offset // self.limit + 1


ALL = Wanted()


def numbered(number: int, size: int) -> Wanted:
    """Ask for a page by its number."""
    return Wanted(limit=size, offset=(number - 1) * size)


@frozen(kw_only=True)
class Filters:
    """What a list goes by when it is cut."""

    time: Any  # the column that `since` and `until` are held against
    domain: Condition | None = None
    cause: Condition | None = None


@frozen(kw_only=True)
class Newest(Filters):
    """The order of a list as well, from its newest row to its oldest one; the last column is a key."""

    table: type[Base]
    by: tuple[InstrumentedAttribute[Any], ...]

    @property
    def order(self) -> list[ColumnElement[Any]]:
        """The columns, backwards."""
        return [column.desc() for column in self.by]

    def behind(self, last: Base) -> ColumnElement[bool]:
        """What comes behind a row."""
        return _beyond([(column, getattr(last, column.key)) for column in self.by])


@frozen(kw_only=True)
class Resource(Newest, Generic[T]):
    """A list that commands, pages and exports share: its rows, their order, and what they can be cut by."""

    query: Any  # a Select: the table, and beside it what its documents have more, each under its field's name
    document: type[T]
    filters: Mapping[str, Filter] = field(factory=dict)  # options of this list alone


def listed(db: Session, resource: Resource[T], wanted: Wanted = ALL, **given: Any) -> list[T]:
    """Return the documents of a resource that are wanted, the newest first; a filter of None is left out."""
    query = resource.query
    for name, value in given.items():
        if value is not None:
            query = query.where(resource.filters[name](db, value))
    found = db.execute(page(db, query, resource, wanted))
    _, *names = found.keys()
    return [
        document_of(resource.document, row, **dict(zip(names, more, strict=True))) for row, *more in found
    ]


def conditions(wanted: Wanted, filters: Filters) -> list[ColumnElement[bool]]:
    """What rows have to fulfil, wherever the page begins."""
    found: list[ColumnElement[bool]] = []
    for name in ("domain", "cause"):
        if (value := getattr(wanted, name)) is not None:
            by: Condition | None = getattr(filters, name)
            if by is None:
                raise UsageError(f"what is asked for has no {name}", hint=f"leave --{name} out")
            found.append(by(value))
    if wanted.since is not None:
        found.append(filters.time >= wanted.since)
    if wanted.until is not None:
        found.append(filters.time < wanted.until)
    return found


def page(db: Session, query: Select[*Columns], newest: Newest, wanted: Wanted) -> Select[*Columns]:
    """Return the query of the page that is wanted: of the rows that fit, the newest first."""
    return cut(db, query.where(*conditions(wanted, newest)), newest, wanted)


def cut(db: Session, query: Select[*Columns], newest: Newest, wanted: Wanted) -> Select[*Columns]:
    """Return the query of the page that is wanted, where the query has all conditions already."""
    if wanted.after is not None:
        query = query.where(newest.behind(lookup.find(db, newest.table, wanted.after)))
    query = query.order_by(*newest.order)
    if wanted.offset >= LAST_ROW:
        return query.limit(0)
    return query.limit(wanted.limit).offset(wanted.offset or None)


def total(db: Session, query: Select[*tuple[Any, ...]]) -> int:
    """Return how many rows a query has."""
    return db.scalar(select(func.count()).select_from(query.subquery())) or 0


# ── the conditions that lists share ──


def equals(column: InstrumentedAttribute[Any]) -> Condition:
    """A column has the value."""
    return lambda value: column == value


def having(column: InstrumentedAttribute[Any]) -> Filter:
    """A filter: a column has the value."""
    return lambda _, value: column == value


def of_named_session(column: InstrumentedAttribute[Any]) -> Filter:
    """A filter: the row is of the session whose id begins so; of an unknown one an error."""
    return lambda db, given: column == lookup.find(db, CrawlSession, given).id


def of_session(session: InstrumentedAttribute[Any], column: InstrumentedAttribute[Any]) -> Condition:
    """The row's session has the value in a column of its own."""
    return lambda value: exists().where(CrawlSession.id == session, column == value)


def of_url(column: InstrumentedAttribute[Any]) -> Condition:
    """A URL is of the domain, as `domain_of` would have it."""
    return partial(lookup.url_is_of, column)


def _beyond(pairs: list[tuple[Any, Any]]) -> ColumnElement[bool]:
    """Smaller in the first column, or equal there and smaller in what follows."""
    (column, value), *rest = pairs
    if not rest:
        smaller: ColumnElement[bool] = column < value
        return smaller
    return or_(column < value, and_(column == value, _beyond(rest)))
