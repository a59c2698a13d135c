"""The order of a search, and where it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from crawler.capture.failures import Cause
from crawler.pdp import is_product_like
from crawler.spiders.search import MAX_CANDIDATES, Aim, Search

HOME = "https://shop.example/"
SITEMAP = f"{HOME}sitemap.xml"


def urls(stem: str, count: int) -> list[str]:
    """Numbered URLs of the shop."""
    return [f"{HOME}{stem}/{number}" for number in range(count)]


def read(*, candidates: Any = (), others: Any = (), hubs: Any = ()) -> Any:
    """What was read in a page."""
    return SimpleNamespace(candidates=candidates, others=others, hubs=hubs)


def walk(search: Search) -> tuple[list[tuple[Aim, str]], Cause]:
    """Everything that a search asks for when nothing is found, and what it then says."""
    steps = []
    while not isinstance(step := search.next(), Cause):
        steps.append(step)
    return steps, step


def test_likely_links_come_first_then_places_then_anything() -> None:
    """Candidates, category pages, sitemaps (those of products first), other links."""
    search = Search.of(HOME, read(candidates=urls("p", 2), hubs=urls("c", 1), others=urls("about", 1)))
    assert len(search.likely) == 2
    search.add_sitemap((), [f"{HOME}sitemap-pages.xml", f"{HOME}sitemap-products.xml"])
    assert walk(search) == (
        [
            (Aim.CANDIDATE, f"{HOME}p/0"),
            (Aim.CANDIDATE, f"{HOME}p/1"),
            (Aim.HUB, f"{HOME}c/0"),
            (Aim.SITEMAP, SITEMAP),
            (Aim.SITEMAP, f"{HOME}sitemap-products.xml"),
            (Aim.SITEMAP, f"{HOME}sitemap-pages.xml"),
            (Aim.CANDIDATE, f"{HOME}about/0"),
        ],
        Cause.NO_VALID_CANDIDATE,
    )


def test_what_is_no_address_is_left_out() -> None:
    """A sitemap may hold anything; it costs the search nothing but that entry."""
    bad = [
        *("http://[bad/p/1", "http://a b/p/1", "http://x..y/p/1", "http://shop.example:99999/p/1", "/p/1"),
        *("//shop.example/p/1", "ftp://shop.example/p/1", "http://u:p@shop.example/p/1", "", "http:///p/1"),
    ]
    search = Search(HOME)
    assert search.add_sitemap(filter(is_product_like, [*bad, f"{HOME}p/1"]), [*bad, SITEMAP]) == 1
    search.add_page(read(candidates=bad, others=bad, hubs=bad))
    assert walk(search)[0] == [(Aim.CANDIDATE, f"{HOME}p/1"), (Aim.SITEMAP, SITEMAP)]


def test_what_a_place_leads_to_is_tried_before_the_next_place() -> None:
    """Candidates found on a category page or in a sitemap go in front."""
    search = Search.of(HOME, read(hubs=urls("c", 2)))
    assert search.next() == (Aim.HUB, f"{HOME}c/0")
    assert search.add_page(read(candidates=urls("p", 1), others=urls("x", 1))) == 1
    assert search.next() == (Aim.CANDIDATE, f"{HOME}p/0")
    assert search.next() == (Aim.HUB, f"{HOME}c/1")
    assert search.next() == (Aim.SITEMAP, SITEMAP)
    assert search.add_sitemap(iter(urls("q", 3)), ()) == 3
    assert search.next() == (Aim.CANDIDATE, f"{HOME}q/0")


def test_at_most_twenty_candidates_are_tried() -> None:
    """SPEC F153; other links count as well."""
    steps, why = walk(Search.of(HOME, read(candidates=urls("p", 15), others=urls("x", 15))))
    assert len([url for aim, url in steps if aim is Aim.CANDIDATE]) == MAX_CANDIDATES == 20
    assert why is Cause.NO_VALID_CANDIDATE


def test_nothing_is_asked_for_twice_and_nothing_of_another_site() -> None:
    """Spellings of one URL are one; the registrable domain is the border."""
    found = [
        f"{HOME}p/1",
        "https://SHOP.example/p/1#top",
        "https://m.shop.example/p/1",
        "https://other.example/p/1",
    ]
    search = Search.of(HOME, read(candidates=found))
    assert list(search.likely) == [f"{HOME}p/1", "https://m.shop.example/p/1"]
    assert search.add_page(read(candidates=found)) == 0
