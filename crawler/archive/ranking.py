"""What makes one hit better than another, in points. Pure.

Words in the title count most, then how well the whole text fits, as the database's index of words ranks it.
Words in the URL, how many pages lead there, and how the URL is made decide between hits that are alike.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING

from sqlalchemy import Integer, case, cast, func, or_, select

from crawler.db.models import PageGroup, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import CTE, ColumnElement
    from sqlalchemy.orm import InstrumentedAttribute

    from crawler.archive.query import Term

LEAST = -1_000_000
TITLE, WORDS, URL, PHRASE = 300, 400, 50, 200
QUERY, TRACKING, SLASH = -10, -10, -1
LED_TO = ((100, 60), (20, 40), (5, 20))  # by so many pages
MAX_SLASHES = 30
_TRACKING = ("utm_", "gclid=", "fbclid=")


def points(terms: Sequence[Term]) -> dict[str, ColumnElement[int]]:
    """The points of a hit, by what they are for."""
    url = Snapshot.find_url
    # Not joined: so it is looked up for those hits alone whose points are counted, and once for each.
    by_links = case(*((PageGroup.inlink_count >= many, value) for many, value in LED_TO), else_=0)
    led_to = select(by_links).where(PageGroup.id == Snapshot.group_id).scalar_subquery()
    phrase = " ".join(term.text for term in terms)
    slashes = func.length(url) - func.length(func.replace(url, "/", ""))
    return {
        "title": _sum(_if_has(Snapshot.find_title, term, TITLE) for term in terms),
        "url": _sum(_if_has(url, term, URL) for term in terms),
        "phrase": case((Snapshot.find_title.contains(phrase, autoescape=True), PHRASE), else_=0),
        "query": case((url.contains("?"), QUERY), else_=0),
        "tracking": case(
            (or_(*(url.contains(each, autoescape=True) for each in _TRACKING)), TRACKING), else_=0
        ),
        "depth": SLASH * case((slashes > MAX_SLASHES, MAX_SLASHES), else_=slashes),
        "led_to": func.coalesce(led_to, 0),
    }


def relevance(ranked: CTE) -> ColumnElement[int]:
    """Return the points for a hit's text, beside those of the text that fits best."""
    best = select(func.max(ranked.c.score)).scalar_subquery()
    return func.coalesce(cast(func.round(WORDS * ranked.c.score / func.nullif(best, 0)), Integer), 0)


def _if_has(column: InstrumentedAttribute[str], term: Term, value: int) -> ColumnElement[int]:
    return case((column.contains(term.text, autoescape=True), value), else_=0)


def _sum(parts: Iterable[ColumnElement[int]]) -> ColumnElement[int]:
    return reduce(operator.add, parts)
