"""Links of stored pages need no second look; whatever may still become a task gets one."""

from __future__ import annotations

from crawler.runs.known_links import KnownLinks, Leads
from crawler.runs.sources import Source

SHOP = "https://shop.example/"
LEADS = Leads((f"{SHOP}1", f"{SHOP}2"), frozenset({"shop.example"}))


def test_links_are_known_once_their_page_is_stored() -> None:
    """Before that, their tasks may come to nothing with it."""
    known = KnownLinks()
    known.expect(1, LEADS)
    assert known.unknown(LEADS.urls) == list(LEADS.urls)
    assert known.settle(1, is_stored=True) == LEADS
    assert known.unknown([*LEADS.urls, f"{SHOP}3"]) == [f"{SHOP}3"]


def test_links_of_a_page_that_is_not_stored_are_looked_at_again() -> None:
    """And it has led nowhere."""
    known = KnownLinks()
    known.expect(1, LEADS)
    assert known.settle(1, is_stored=False) == Leads()
    assert known.settle(1, is_stored=True) == Leads()
    assert known.unknown(LEADS.urls) == list(LEADS.urls)


def test_a_run_with_a_limit_looks_at_each_link() -> None:
    """It may have room again; but it is told where pages lead."""
    known = KnownLinks.of(Source.of_url(SHOP, max_pages=10))
    known.expect(1, LEADS)
    assert known.settle(1, is_stored=True) == LEADS
    assert known.unknown(LEADS.urls) == list(LEADS.urls)


def test_what_every_page_has_stays_known_and_memory_is_bounded() -> None:
    """However many pages there are."""
    known, menu = KnownLinks(most=10), f"{SHOP}menu"
    for number in range(1_000):
        assert known.unknown([menu]) == ([menu] if number == 0 else [])
        known.expect(number, Leads((menu, f"{SHOP}{number}")))
        known.settle(number, is_stored=True)
    assert known.unknown([f"{SHOP}999", f"{SHOP}1"]) == [f"{SHOP}1"]
