"""A capture beside the page as it is now: what differs, or why nothing could be compared."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.archive.writing import no_content
from crawler.config import load_settings
from crawler.db.models import Snapshot
from crawler.engines.live import LivePage
from crawler.views.changes import NotComparableError
from crawler.views.live import SAME, LiveDiff, live_diff
from tests.unit.archive.written import content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

AT = datetime(2026, 5, 5, tzinfo=UTC)


def compared(database: Database, **page: Any) -> LiveDiff:
    """The first capture beside a page."""
    given = {
        "url": "https://shop.example/", "status_code": 200, "fetched_at": AT, "cause": "", "problem": "",
        "title": "Red shoes", "text": "leather", "headings": (), "is_cut": False,
    }  # fmt: skip
    with database.read() as db:
        [key] = db.scalars(select(Snapshot.id))
    return live_diff(database, load_settings({}), str(key), lambda _: LivePage(**{**given, **page}))


@pytest.fixture
def captured(database: Database) -> Database:
    """A page that says one thing."""
    index(database, {"content": content("Red shoes", "leather")})
    return database


def test_what_differs(captured: Database) -> None:
    """Counted, and section by section; what is the same says so."""
    assert (compared(captured).change_type, compared(captured).summary) == ("unchanged", SAME)
    found = compared(captured, text="leather\nand rubber")
    assert (found.change_type, found.added_lines, found.removed_lines) == ("updated", 1, 0)
    assert found.sections
    assert compared(captured, title="Blue shoes").change_type == "updated"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ({"cause": "http_error", "status_code": 410}, "The site answers with 410."),
        ({"cause": "blocked", "status_code": None}, "The site refuses crawlers (an error)."),
        ({"cause": "robots_refused"}, "robots.txt forbids this address to crawlers."),
        ({"problem": "too_deep"}, "The page could not be had: too_deep."),
        ({"cause": "odd {0} {word}"}, "The page could not be had: odd {0} {word}."),
    ],
)
def test_why_nothing_could_be_compared(captured: Database, page: dict[str, Any], said: str) -> None:
    """In a sentence; its code stands beside it."""
    found = compared(captured, **page)
    assert (found.change_type, found.summary, found.sections) == ("error", said, ())
    assert found.cause == (page.get("cause") or page.get("problem"))


def test_a_capture_without_a_text_is_compared_with_nothing(database: Database) -> None:
    """And the site is not asked for that."""
    index(database, {"content": no_content("too_deep")})
    with database.read() as db:
        [key] = db.scalars(select(Snapshot.id))

    def look(_number: int) -> LivePage:
        raise AssertionError("the site was asked")

    with pytest.raises(NotComparableError, match="too_deep"):
        live_diff(database, load_settings({}), str(key), look)
