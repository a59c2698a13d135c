"""The order of a search, and where it ends."""

from __future__ import annotations

from crawler.capture.failures import Cause
from crawler.spiders.search import MAX_CANDIDATES, Aim, Search

HOME = "https://shop.example/"


def urls(stem: str, count: int) -> list[str]:
    """Numbered URLs of the shop."""
    return [f"{HOME}{stem}/{number}" for number in range(count)]


def walk(search: Search) -> list[tuple[Aim, str]]:
    """Everything that a search asks for when nothing is found."""
    steps = []
    while step := search.next():
        steps.append(step)
    return steps


def test_likely_links_come_first_then_places_then_anything() -> None:
    """Candidates, category pages, sitemaps (those of products first), other links."""
    search = Search(HOME)
    search.add_others(urls("about", 1))
    search.add_sitemaps([f"{HOME}sitemap-pages.xml", f"{HOME}sitemap-products.xml"])
    search.add_hubs(urls("c", 1))
    search.add_likely(urls("p", 2))
    assert walk(search) == [
        (Aim.CANDIDATE, f"{HOME}p/0"),
        (Aim.CANDIDATE, f"{HOME}p/1"),
        (Aim.HUB, f"{HOME}c/0"),
        (Aim.SITEMAP, f"{HOME}sitemap-products.xml"),
        (Aim.SITEMAP, f"{HOME}sitemap-pages.xml"),
        (Aim.CANDIDATE, f"{HOME}about/0"),
    ]
    assert search.verdict() is Cause.NO_VALID_CANDIDATE


def test_what_a_place_leads_to_is_tried_before_the_next_place() -> None:
    """Candidates found on a category page go in front."""
    search = Search(HOME)
    search.add_hubs(urls("c", 2))
    assert search.next() == (Aim.HUB, f"{HOME}c/0")
    search.add_likely(urls("p", 1))
    assert search.next() == (Aim.CANDIDATE, f"{HOME}p/0")
    assert search.next() == (Aim.HUB, f"{HOME}c/1")


def test_at_most_twenty_candidates_are_tried() -> None:
    """SPEC F153; other links count as well."""
    search = Search(HOME)
    search.add_likely(urls("p", 15))
    search.add_others(urls("x", 15))
    assert len(walk(search)) == MAX_CANDIDATES == 20


def test_nothing_is_asked_for_twice_and_nothing_of_another_site() -> None:
    """Spellings of one URL are one; the registrable domain is the border."""
    search = Search(HOME)
    added = search.add_likely(
        [
            f"{HOME}p/1",
            "https://SHOP.example/p/1#top",
            "https://m.shop.example/p/1",
            "https://other.example/p/1",
        ]
    )
    assert added == 2
    assert [url for _, url in walk(search)] == [f"{HOME}p/1", "https://m.shop.example/p/1"]


def test_a_site_that_refuses_twice_in_a_row_is_left_alone() -> None:
    """The cause is the refusal, not that nothing was found."""
    search = Search(HOME)
    search.add_likely(urls("p", 5))
    for cause in (Cause.BLOCKED, None, Cause.BLOCKED, Cause.RATE_LIMITED):
        assert search.next()
        search.note(cause)
    assert search.next() is None
    assert search.verdict() is Cause.RATE_LIMITED


def test_without_candidates_the_verdict_says_so() -> None:
    """Nothing on the site looked like a product page."""
    assert Search(HOME).verdict() is Cause.NO_CANDIDATES
