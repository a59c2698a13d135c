"""What makes one hit better than another, on both databases alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.archive.query import Term
from crawler.archive.ranking import MAX_SLASHES, points
from crawler.archive.words import folded, words_of
from crawler.db.models import PageGroup, Snapshot
from tests.unit.archive.written import content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

URL = "https://shop.example/red"  # three slashes


def pointed(
    database: Database, url: str, title: str, snippet: str, words: str, led_to: int = 0
) -> dict[str, int]:
    """What each part comes to, of a page with that URL, title and snippet."""
    index(database, {"url": url, "content": content(title, snippet)})
    terms = [Term(folded(word), tuple(words_of(word))) for word in words.split()]
    with database.write() as db:
        db.execute(update(PageGroup).values(inlink_count=led_to))
    with database.read() as db:
        [row] = db.execute(
            select(*(each.label(name) for name, each in points(terms).items())).select_from(Snapshot)
        )
    return dict(row._mapping)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("shoes", {"title": 300, "url": 0, "phrase": 200}),
        ("red shoes", {"title": 600, "url": 50, "phrase": 200}),
        ("shoes red", {"title": 600, "url": 50, "phrase": 0}),
        ("RED", {"title": 300, "url": 50, "phrase": 200}),
        ("100%", {"title": 0, "url": 0, "phrase": 0}),  # no pattern of the database's
        ("s_oes", {"title": 0, "url": 0, "phrase": 0}),
    ],
)
def test_where_a_word_stands(database: Database, words: str, expected: dict[str, int]) -> None:
    """The title counts most; words that stand there as they were asked for, more."""
    found = pointed(database, URL, "Red Shoes, 100 of them", "Shoes of leather", words)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("url", "query", "tracking", "depth"),
    [
        (URL, 0, 0, -3), (f"{URL}?a=1", -10, 0, -3), (f"{URL}?UTM_source=x", -10, -10, -3),
        (f"{URL}?a=1&gclid=2&fbclid=3", -10, -10, -3), (f"{URL}/utmost", 0, 0, -4),
        (f"{URL}{'/x' * 100}", 0, 0, -MAX_SLASHES),
    ],
)  # fmt: skip
def test_how_a_url_is_made(database: Database, url: str, query: int, tracking: int, depth: int) -> None:
    """A query, what follows visitors, and depth count against a page, the last within bounds."""
    found = pointed(database, url, "Red", "", "shoes")
    assert (found["query"], found["tracking"], found["depth"]) == (query, tracking, depth)


@pytest.mark.parametrize(
    ("pages", "value"), [(0, 0), (4, 0), (5, 20), (20, 40), (99, 40), (100, 60), (10**6, 60)]
)
def test_who_leads_there(database: Database, pages: int, value: int) -> None:
    """By steps: one page more or less says nothing."""
    assert pointed(database, URL, "Red", "", "shoes", led_to=pages)["led_to"] == value
