"""Finds snapshots: one plan for both databases, which differ only in how they keep words."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen
from sqlalchemy import Select, and_, case, func, literal, not_, or_, select

from crawler.archive import ranking, similar, word_index
from crawler.archive.query import And, Not, Or, Query, Term, understood
from crawler.db import lookup
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
MOST_RANKED = 10_000  # hits; of more the newest
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
    fast_pages: bool = True  # PAGES_FASTPATH
    with_repeats: bool = False  # of captures of one day that are the same all, not the newest alone


@frozen
class Found:
    """A page of hits, how many there are in all, and how they were found."""

    snapshots: list[Snapshot]
    total: int
    query: Query
    how: str  # all, url, boolean, words; where no page has all the words, parts; at last similar
    terms: tuple[Term, ...]  # what was found: those of the query, or the words that are like them
    scores: tuple[dict[str, int], ...] = ()  # of each snapshot its points, where they were asked for
    hits: Select[Any] | None = field(
        default=None, eq=False, repr=False
    )  # all of them, to be counted by parts


def search(db: Transaction, order: SearchOrder, *, explain: bool = False) -> Found:
    """The snapshots that an order asks for; any text is a question."""
    if order.since and order.until and order.since > order.until:
        raise UsageError("the first day is after the last one", hint="--from comes before --to")
    query = understood(order.text)
    if _is_all_pages(query, order):
        return _newest_pages(db, query, order)
    found = Found([], 0, query, "", query.terms)
    for way in _ways(db, query):
        hits = _of_view(select(Snapshot).where(way.condition, *_filters(order)), order)
        total = db.scalar(select(func.count()).select_from(hits.order_by(None).subquery())) or 0
        found = Found([], total, query, way.how, way.terms, hits=hits)
        if total:
            return _shown(db, hits, found, order, explain=explain)
    return found


@frozen
class _Way:
    """A way to answer a query."""

    how: str
    condition: ColumnElement[bool]
    terms: tuple[Term, ...] = ()


def _ways(db: Transaction, query: Query) -> Iterator[_Way]:
    """How a query may be answered: each way is gone where the one before found nothing."""
    conditions = _Conditions(db)
    if query.kind == "url":
        yield _Way("url", or_(*(Snapshot.group_id.in_(groups) for groups in _groups_of(query))))
    if query.kind == "all":
        yield _Way("all", literal(value=True))
    elif query.node is not None:
        yield _Way("boolean", conditions.of(query.node), query.terms)
    elif query.terms:  # words, or what looks like a host: a price, a name
        if all(term.words for term in query.terms):
            yield _Way("words", _have(db, [term.words for term in query.terms], "words"), query.terms)
        yield _Way("parts", and_(*(conditions.part(term.text) for term in query.terms)), query.terms)
        if meant := _meant(db, query.terms):
            nodes = [Or(terms) for terms in meant]
            yield _Way("similar", conditions.of(And(tuple(nodes))), tuple(chain.from_iterable(meant)))


def _groups_of(query: Query) -> Iterator[Select[Any]]:
    """Yield the pages of a URL: that of its key, and those grouped by path that have a capture of it."""
    yield select(PageGroup.id).where(PageGroup.group_key.in_(query.urls))
    if query.addresses:
        paths = {address.partition("?")[0] for address in query.addresses}
        captured = select(PageGroup.id).join(Snapshot, Snapshot.group_id == PageGroup.id)
        yield captured.where(PageGroup.group_key.in_(paths), Snapshot.url.in_(query.addresses))


def _meant(db: Transaction, terms: tuple[Term, ...]) -> list[tuple[Term, ...]]:
    """For each word those that it may have been meant to be; none where one is like no known one."""
    meant: list[tuple[Term, ...]] = []
    for term in terms[:RANKING_TERMS]:
        if len(term.words) != 1:
            return []
        [word] = term.words
        others = [other for other in similar.like(db, word) if other != word]
        known = [word] if db.execute(word_index.having(db, [(word,)])).first() else []
        if not (known or others):
            return []
        meant.append(tuple(Term(each, (each,)) for each in known or others))
    is_another = any(
        each.words != term.words for term, some in zip(terms, meant, strict=False) for each in some
    )
    return meant if is_another else []


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
            return self._narrowed(term.text, _has(_columns()[term.field], term.text))
        if not term.words:
            return self.part(term.text)
        self._looks += 1
        return or_(self.part(term.text), _have(self._db, [term.words], f"words_{self._looks}"))

    def part(self, text: str) -> ColumnElement[bool]:
        """Where a text is a part of title, snippet or URL."""
        return self._narrowed(text, or_(*(_has(column, text) for column in _columns().values())))

    def _narrowed(self, text: str, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        self._looks += 1
        some = word_index.narrowed(self._db, text, f"part_{self._looks}")
        return condition if some is None else and_(Snapshot.id.in_(some), condition)


def _have(db: Transaction, phrases: list[tuple[str, ...]], name: str) -> ColumnElement[bool]:
    return and_(Snapshot.text_id.is_not(None), Snapshot.text_id.in_(word_index.having(db, phrases, name)))


def _has(column: InstrumentedAttribute[str], text: str) -> ColumnElement[bool]:
    """Whether a text has another in it; both are folded, and nothing in them is a wildcard."""
    return column.contains(text, autoescape=True)


def _columns() -> dict[str, InstrumentedAttribute[str]]:
    return {"title": Snapshot.find_title, "snippet": Snapshot.find_snippet, "url": Snapshot.find_url}


def _filters(order: SearchOrder) -> Iterator[ColumnElement[bool]]:
    if not order.with_non_2xx:
        yield Snapshot.status_class.in_((0, SHOWN))
    if order.source is not None:
        yield Snapshot.source_id.in_(select(RegisteredSource.id).where(lookup.of_source(order.source)))
    yield from on_days(Snapshot.captured_at, order.since, order.until)
    if order.view == "snapshots" and not order.with_repeats:
        yield Snapshot.deduplicated.is_(False)


def on_days(
    moment: InstrumentedAttribute[datetime], since: date | None, until: date | None
) -> Iterator[ColumnElement[bool]]:
    """From the first of these days to the end of the last one, in UTC."""
    if since is not None:
        yield moment >= datetime.combine(since, time(), UTC)
    if until is not None and until < date.max:
        yield moment < datetime.combine(until + timedelta(days=1), time(), UTC)


def _of_view(hits: Select[Any], order: SearchOrder) -> Select[Any]:
    """All hits, or of each page the newest of them (SPEC 86)."""
    if order.view != "pages":
        return hits
    number = func.row_number().over(
        partition_by=Snapshot.group_id, order_by=(Snapshot.captured_at.desc(), Snapshot.id.desc())
    )
    numbered = hits.with_only_columns(Snapshot.id, number.label("number")).subquery()
    return select(Snapshot).where(Snapshot.id.in_(select(numbered.c.id).where(numbered.c.number == 1)))


def _shown(db: Transaction, hits: Select[Any], found: Found, order: SearchOrder, *, explain: bool) -> Found:
    """The page of hits that is asked for, the best or the newest first."""
    first = (order.page - 1) * order.page_size
    if first >= LAST_ROW:
        return found
    terms = found.terms[:RANKING_TERMS] if order.sort != "newest" else ()
    points = ranking.points(terms) if terms else {}
    ranked = None
    if phrases := [term.words for term in terms if term.words]:
        ranked = word_index.ranked(db, phrases, every=found.how == "words")
        points["words"] = ranking.relevance(ranked)
    score = [_ranked(hits, found, reduce(operator.add, points.values())).desc()] if points else []
    columns = [each.label(name) for name, each in points.items()] if explain else []
    # Ids first: what an index knows of a hit is enough to pass over it.
    some = hits.with_only_columns(Snapshot.id, *columns)
    query = (
        (some if ranked is None else some.outerjoin(ranked, ranked.c.text_id == Snapshot.text_id))
        .order_by(Snapshot.status_class.desc(), *score, Snapshot.captured_at.desc(), Snapshot.id.desc())
        .limit(order.page_size)
        .offset(first)
    )
    rows = db.execute(query).all()
    by_id = {row.id: row for row in db.scalars(select(Snapshot).where(Snapshot.id.in_([r[0] for r in rows])))}
    scores = [dict(zip(points, row[1:], strict=False)) for row in rows]
    return evolve(found, snapshots=[by_id[row[0]] for row in rows], scores=tuple(scores) if explain else ())


def _ranked(hits: Select[Any], found: Found, score: ColumnElement[int]) -> ColumnElement[int]:
    """The points of a hit; of very many hits the newest are ranked, and the rest comes after them."""
    if found.total <= MOST_RANKED:
        return score
    newest = hits.with_only_columns(Snapshot.id).order_by(Snapshot.captured_at.desc(), Snapshot.id.desc())
    return case((Snapshot.id.in_(newest.limit(MOST_RANKED)), score), else_=ranking.LEAST)


# ── every page, the newest first: what is written down of groups answers it ──


def _is_all_pages(query: Query, order: SearchOrder) -> bool:
    dated = order.since is not None or order.until is not None
    return (
        order.fast_pages
        and query.kind == "all"
        and order.view == "pages"
        and not (dated or order.with_non_2xx)
    )


def _newest_pages(db: Transaction, query: Query, order: SearchOrder) -> Found:
    which: list[ColumnElement[bool]] = [PageGroup.shown_class.is_not(None)]
    if order.source is not None:
        mine = select(RegisteredSource.id).where(lookup.of_source(order.source))
        which.append(PageGroup.source_id.in_(mine))
    total = db.scalar(select(func.count()).select_from(PageGroup).where(*which)) or 0
    first = (order.page - 1) * order.page_size
    newest = (
        select(Snapshot)
        .join(PageGroup, PageGroup.latest_ok_snapshot_id == Snapshot.id)
        .where(*which)
        .order_by(PageGroup.shown_class.desc(), PageGroup.shown_at.desc(), Snapshot.id.desc())
        .limit(order.page_size)
        .offset(first)
    )
    rows = list(db.scalars(newest)) if first < LAST_ROW else []
    return Found(rows, total, query, "all", ())
