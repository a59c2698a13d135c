"""What a search finds, as it is shown: by `vitrine search --json` and, in camel case, by `/api/search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import func, select

from crawler.archive import marking
from crawler.archive.asked import capture_date
from crawler.archive.facets import Facets, facets
from crawler.archive.search import SearchOrder, search
from crawler.db.models import RegisteredSource, Snapshot, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from crawler.archive.query import Term
    from crawler.archive.search import Found
    from crawler.db.engine import Transaction

RAW_URL = "/api/snapshots/raw/"


@frozen(kw_only=True)
class FoundSnapshot:
    """A hit of a search (SPEC 80)."""

    id: int
    title: str
    source_code: str
    source_name: str
    language: str
    capture_date: str  # the day, in UTC; the month or the year, where no more is known
    capture_timestamp: datetime
    date_precision: str | None  # year, month, day or minute, where no more is known
    original_url: str
    snippet: str
    title_html: str  # escaped, with what was looked for in <mark>
    snippet_html: str  # the passage in which it stands, the same way; the snippet where it stands in none
    raw_snapshot_url: str
    mime_type: str | None
    status_code: int | None
    page_snapshots_count: int | None  # in the view of pages: captures of that page in all


@frozen
class SearchResults:
    """A page of hits."""

    results: list[FoundSnapshot]
    total: int
    page: int
    page_size: int
    answered_by: str  # the way that found them: all, url, boolean, words, …
    explain: dict[str, Any] | None


@frozen
class CountedResults(SearchResults):
    """The same, with how many of all hits are of which site and year."""

    facets: Facets | None  # None: there are too many hits to be counted


def results(db: Transaction, order: SearchOrder, *, explain: bool = False) -> SearchResults:
    """What a search finds; any text is a question."""
    found = search(db, order, explain=explain)
    return SearchResults(*_parts(db, order, found), _explained(found) if explain else None)


def with_facets(db: Transaction, order: SearchOrder) -> CountedResults:
    """What a search finds, and by what it can be narrowed down."""
    found = search(db, order)
    return CountedResults(*_parts(db, order, found), None, facets(db, found.hits, found.total))


def _parts(
    db: Transaction, order: SearchOrder, found: Found
) -> tuple[list[FoundSnapshot], int, int, int, str]:
    sources = sources_of(db, {each.source_id for each in found.snapshots})
    captures = _captures(db, found) if order.view == "pages" else {}
    bodies = _bodies(db, found)
    hits = [
        _shown(
            each, sources[each.source_id], found.terms, bodies.get(each.text_id),
            count=captures.get(each.group_id),
        )
        for each in found.snapshots
    ]  # fmt: skip
    return hits, found.total, order.page, order.page_size, found.how


def sources_of(db: Transaction, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Code and name of sources."""
    query = select(RegisteredSource.id, RegisteredSource.code, RegisteredSource.name)
    return {key: (code, name) for key, code, name in db.execute(query.where(RegisteredSource.id.in_(keys)))}


def _shown(
    snapshot: Snapshot, source: tuple[str, str], terms: Sequence[Term], body: str | None, *, count: int | None
) -> FoundSnapshot:
    title, snippet = (marking.marked(text, terms) for text in (snapshot.title, snapshot.snippet))
    if body and not marking.is_marked(snippet) and (found := marking.passage(body, terms)):
        snippet = marking.marked(found, terms)
    code, name = source
    return FoundSnapshot(
        id=snapshot.id, title=snapshot.title, source_code=code, source_name=name, language=snapshot.language,
        capture_date=capture_date(snapshot.captured_at, snapshot.date_precision),
        capture_timestamp=snapshot.captured_at, date_precision=snapshot.date_precision,
        original_url=snapshot.url, snippet=snapshot.snippet, title_html=marking.as_html(title),
        snippet_html=marking.as_html(snippet), raw_snapshot_url=f"{RAW_URL}{snapshot.id}",
        mime_type=snapshot.mime_type, status_code=snapshot.status_code, page_snapshots_count=count,
    )  # fmt: skip


def _bodies(db: Transaction, found: Found) -> dict[int | None, str]:
    """The beginnings of the hits' texts, for passages of them."""
    if not found.terms:
        return {}
    texts = {each.text_id for each in found.snapshots if each.text_id is not None}
    begin = func.substr(Text.body, 1, marking.LOOKED_AT_CHARS + marking.MAX_PASSAGE_CHARS)
    rows = db.execute(select(Text.id, begin).where(Text.id.in_(texts)))
    return {row[0]: row[1] for row in rows}


def _captures(db: Transaction, found: Found) -> dict[int | None, int]:
    groups = {each.group_id for each in found.snapshots}
    query = select(Snapshot.group_id, func.count()).where(Snapshot.group_id.in_(groups))
    return {row[0]: row[1] for row in db.execute(query.group_by(Snapshot.group_id))}


def _explained(found: Found) -> dict[str, Any]:
    return {
        "understood_as": found.query.kind,
        "answered_by": found.how,
        "terms": [" ".join(term.words) or term.text for term in found.query.terms],
        "found_by": [term.text for term in found.terms],
        "urls": list(found.query.urls),
        "points": [
            {"id": each.id, "total": sum(points.values()), **points}
            for each, points in zip(found.snapshots, found.scores, strict=False)
        ],
    }
