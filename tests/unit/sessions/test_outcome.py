"""How a session ends: the status rule of SPEC F138."""

from __future__ import annotations

import pytest

from crawler.capture.failures import Cause, Summary
from crawler.sessions.outcome import Outcome, PageResult, Status, outcome_of

BLOCKED = Cause.BLOCKED
HOME, PDP = PageResult("homepage"), PageResult("pdp")
NO_HOME, NO_PDP, LATE_PDP = (
    PageResult("homepage", BLOCKED), PageResult("pdp", BLOCKED), PageResult("pdp", Cause.TIMEOUT),
)  # fmt: skip


@pytest.mark.parametrize(
    ("pages", "missing", "expected"),
    [
        ([HOME, PDP], None, Outcome(Status.COMPLETED)),
        ([HOME], Cause.NO_CANDIDATES, Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, Cause.NO_CANDIDATES)),
        ([HOME, NO_PDP], Cause.BLOCKED, Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, Cause.BLOCKED)),
        ([NO_HOME, PDP], None, Outcome(Status.PARTIAL, Summary.SOME_FAILED, Cause.BLOCKED)),
        ([NO_HOME], Cause.NO_CANDIDATES, Outcome(Status.FAILED, Summary.BLOCKED, Cause.BLOCKED)),
        ([NO_HOME, NO_PDP], BLOCKED, Outcome(Status.FAILED, Summary.BLOCKED, BLOCKED)),
        ([NO_HOME, LATE_PDP], BLOCKED, Outcome(Status.FAILED, Summary.ALL_FAILED, BLOCKED)),
        ([NO_HOME, HOME], Cause.NO_CANDIDATES, Outcome(Status.FAILED, Summary.ALL_FAILED, BLOCKED)),
        ([], None, Outcome(Status.COMPLETED)),
        ([], Cause.NO_CANDIDATES, Outcome(Status.FAILED, Summary.ALL_FAILED, Cause.NO_CANDIDATES)),
    ],
)
def test_the_status_follows_from_the_pages(
    pages: list[PageResult], missing: Cause | None, expected: Outcome
) -> None:
    """All well, a missing product page with and without a home page, some failed, all failed.

    What failed all of them alike has its own sentence; where they failed for different reasons, none fits.
    """
    assert outcome_of(pages, missing) == expected


def test_a_session_without_viewports_has_no_word_of_them() -> None:
    """Those of other people's spiders: they have pages."""
    ok, late = PageResult("page"), PageResult("page", Cause.TIMEOUT)
    blocked = PageResult("page", BLOCKED)
    some, every = (outcome_of(pages, has_viewports=False) for pages in ([ok, late], [blocked, late]))
    assert (some.status, some.summary) == (Status.PARTIAL, "Some pages failed")
    assert (every.status, every.summary) == (Status.FAILED, "All pages failed")


def test_the_listed_summaries_are_exactly_those_of_the_specification() -> None:
    """And those of sessions without viewports; no other sentence reaches the database."""
    assert {str(summary) for summary in Summary} == {
        "All pages failed", "All viewports failed", "Audit failed", "Blocked (403/503)", "Bot-block",
        "Bot-block; reload failed",
        "Crawl failed", "Domain lock timeout", "Navigation failed", "Navigation timeout",
        "One or more viewports failed", "PDP not found", "PDP navigation failed", "Rate limited (429)",
        "Some pages failed", "Stopped by the spider",
    }  # fmt: skip
