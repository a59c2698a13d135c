"""Finds snapshots: one plan for both databases, which differ only in how they keep words."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import Select, and_, case, func, literal, not_, or_, select

from crawler.archive import word_index
from crawler.archive.query import And, Not, Or, Query, Term, understood
from crawler.db.models import PageGroup, RegisteredSource, Snapshot
from crawler.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import InstrumentedAttribute

    from crawler.archive.query import Node
    from crawler.db.engine import Transaction

MAX_PAGE_SIZE = 100
LAST_ROW = 1_000_000  # what lies behind it is counted, and not shown
SHOWN = 2  # the class of a status that is shown without being asked for; 0 is that of an unknown one
RANKING_TERMS = 8
TITLE_POINTS, URL_POINTS, SNIPPET_POINTS, PHRASE_POINTS = 3, 2, 1, 2
VIEWS = ("snapshots", "pages")
SORTS = ("relevance", "newest")


@frozen
class SearchOrder:
    """What somebody looks for, and how it is to be shown (SPEC 79)."""

    text: str = ""
    source: str | None = None
    since: date | None = None
    until: date | None = None  # that day included
    view: str = "snapshots"
    sort: str | None = None
    with_non_2xx: bool = False
    page: int = 1
    page_size: int = 20


@frozen
class Found:
    """A page of hits, how many there are in all, and how they were found."""

    snapshots: list[Snapshot]
    total: int
    query: Query
    how: str  # all, url, boolean, words; or parts, where no page has all the words


def search(db: Transaction, order: SearchOrder) -> Found:
    """The snapshots that an order asks for; any text is a question."""
    if order.since and order.until and order.since > order.until:
        raise UsageError("the first day is after the last one", hint="--from comes before --to")
    query = understood(order.text)
    how, hits, total = "", select(Snapshot), 0
    for way, condition in _ways(db, query):
        how = way
        hits = _of_view(select(Snapshot).where(condition, *_filters(order)), order)
        total = db.scalar(select(func.count()).select_from(hits.order_by(None).subquery())) or 0
        if total:
            break
    return Found(_page(db, hits, query, order) if total else [], total, query, how)


def _ways(db: Transaction, query: Query) -> Iterator[tuple[str, ColumnElement[bool]]]:
    """How a query may be answered: each way is gone where the one before found nothing."""
    if query.kind == "all":
        yield "all", literal(value=True)
    elif query.kind == "url":
        yield "url", Snapshot.group_id.in_(select(PageGroup.id).where(PageGroup.group_key.in_(query.urls)))
    elif query.node is not None:
        yield "boolean", _Conditions(db).of(query.node)
    else:
        if all(term.words for term in query.terms):
            yield "words", _have(db, [term.words for term in query.terms], "words")
        yield "parts", and_(*(_part(term.text) for term in query.terms))


class _Conditions:
    """A tree as a condition; each look into the index of words has a parameter of its own."""

    def __init__(self, db: Transaction) -> None:
        self._db = db
        self._looks = 0

    def of(self, node: Node) -> ColumnElement[bool]:
        """What a node asks for."""
        match node:
            case Term():
                return self._term(node)
            case Not():
                return not_(self.of(node.of))
            case And():
                return and_(*map(self.of, node.parts))
            case Or():
                return or_(*map(self.of, node.parts))

    def _term(self, term: Term) -> ColumnElement[bool]:
        """A part of the field that is named; else of any field, or a word or phrase of the text."""
        if term.field:
            return _has(_columns()[term.field], term.text)
        if not term.words:
            return _part(term.text)
        self._looks += 1
        return or_(_part(term.text), _have(self._db, [term.words], f"words_{self._looks}"))


def _have(db: Transaction, phrases: list[tuple[str, ...]], name: str) -> ColumnElement[bool]:
    return and_(Snapshot.text_id.is_not(None), Snapshot.text_id.in_(word_index.having(db, phrases, name)))


def _part(text: str) -> ColumnElement[bool]:
    return or_(*(_has(column, text) for column in _columns().values()))


def _has(column: InstrumentedAttribute[str], text: str) -> ColumnElement[bool]:
    """Whether a text has another in it; both are folded, and nothing in them is a wildcard."""
    return column.contains(text, autoescape=True)


def _columns() -> dict[str, InstrumentedAttribute[str]]:
    return {"title": Snapshot.find_title, "snippet": Snapshot.find_snippet, "url": Snapshot.find_url}


def _filters(order: SearchOrder) -> Iterator[ColumnElement[bool]]:
    if not order.with_non_2xx:
        yield Snapshot.status_class.in_((0, SHOWN))
    if order.source is not None:
        code = order.source.lower()
        yield Snapshot.source_id.in_(select(RegisteredSource.id).where(RegisteredSource.code == code))
    if order.since is not None:
        yield Snapshot.captured_at >= _begin(order.since)
    if order.until is not None and order.until < date.max:
        yield Snapshot.captured_at < _begin(order.until + timedelta(days=1))
    if order.view == "snapshots":
        yield Snapshot.deduplicated.is_(False)


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _of_view(hits: Select[Any], order: SearchOrder) -> Select[Any]:
    """All hits, or of each page the newest of them (SPEC 86)."""
    if order.view != "pages":
        return hits
    number = func.row_number().over(
        partition_by=Snapshot.group_id, order_by=(Snapshot.captured_at.desc(), Snapshot.id.desc())
    )
    numbered = hits.with_only_columns(Snapshot.id, number.label("number")).subquery()
    return select(Snapshot).where(Snapshot.id.in_(select(numbered.c.id).where(numbered.c.number == 1)))


def _page(db: Transaction, hits: Select[Any], query: Query, order: SearchOrder) -> list[Snapshot]:
    first = (order.page - 1) * order.page_size
    if first >= LAST_ROW:
        return []
    ranked = query.terms and order.sort != "newest"
    score = [_score(query.terms[:RANKING_TERMS]).desc()] if ranked else []
    return list(
        db.scalars(
            hits.order_by(
                Snapshot.status_class.desc(), *score, Snapshot.captured_at.desc(), Snapshot.id.desc()
            )
            .limit(order.page_size)
            .offset(first)
        )
    )


def _score(terms: tuple[Term, ...]) -> ColumnElement[int]:
    """Title over URL over snippet, and the whole phrase in the title over all (SPEC 85)."""
    points = [
        (column, term.text, value)
        for term in terms
        for column, value in (
            (Snapshot.find_title, TITLE_POINTS),
            (Snapshot.find_url, URL_POINTS),
            (Snapshot.find_snippet, SNIPPET_POINTS),
        )
    ]
    phrase = " ".join(term.text for term in terms)
    points.append((Snapshot.find_title, phrase, PHRASE_POINTS))
    parts = [case((_has(column, text), value), else_=0) for column, text, value in points]
    return reduce(operator.add, parts)
