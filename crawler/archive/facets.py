"""How many of a search's hits are of which site and which year: exactly, or not at all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import extract, func, select

from crawler.db.models import RegisteredSource, Snapshot

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

    from crawler.db.engine import Transaction

MOST_COUNTED = 10_000  # hits; to count more would cost as much as finding them
MOST_SHOWN = 12


@frozen
class Facet:
    """A part of the hits, and how many there are of it."""

    value: str
    label: str
    count: int


@frozen
class Facets:
    """The parts of a search's hits, those that have most of them first; years the latest first."""

    sources: tuple[Facet, ...]
    years: tuple[Facet, ...]


def facets(db: Transaction, hits: Select[Any] | None, total: int) -> Facets | None:
    """Counts of all hits where that can be had in a bounded time; else none."""
    if hits is None or not 0 < total <= MOST_COUNTED:
        return None
    year = extract("year", _in_utc(db)).label("year")
    parts = hits.with_only_columns(Snapshot.source_id, year, func.count()).order_by(None)
    sources, years = Counter[int](), Counter[int]()
    for source, at, count in db.execute(parts.group_by(Snapshot.source_id, year)):
        sources[source] += count
        years[int(at)] += count
    return Facets(_of_sources(db, sources), _of_years(years))


def _in_utc(db: Transaction) -> ColumnElement[Any]:
    """SQLite keeps times in UTC; PostgreSQL shows them in the session's zone unless it is told."""
    at = Snapshot.captured_at
    return at.expression if db.get_bind().dialect.name == "sqlite" else func.timezone("UTC", at)


def _of_sources(db: Transaction, counts: Counter[int]) -> tuple[Facet, ...]:
    most = dict(counts.most_common(MOST_SHOWN))
    query = select(RegisteredSource.id, RegisteredSource.code, RegisteredSource.name)
    rows = db.execute(query.where(RegisteredSource.id.in_(most))).all()
    found = [Facet(code, name, most[key]) for key, code, name in rows]
    return tuple(sorted(found, key=lambda each: (-each.count, each.label)))


def _of_years(counts: Counter[int]) -> tuple[Facet, ...]:
    return tuple(Facet(str(year), str(year), counts[year]) for year in sorted(counts, reverse=True))
