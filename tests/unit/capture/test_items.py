"""What was read becomes a capture; what is doubted about it (SPEC F140)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve
from scrapy import Field, Item

from crawler.capture.items import FetchedPage, PageCapture, PageVerdict, doubts_about, page_fields
from crawler.pdp import Facts, PageQuestion, Reading, Signals, Verdict, reading_of

URL = "https://shop.example/p/jug"
BODY = b"""<html lang=en><head><title>Jug</title><link rel=canonical href="/p/jug"></head><body><h1>Jug</h1>
<img src=jug.jpg><p class=price>$ 18.00</p><button>Add to cart</button></body></html>"""


def fetched(
    body: bytes = BODY, content_type: str = "text/html; charset=utf-8", url: str = URL
) -> FetchedPage:
    """A page as it comes from the site and its reader."""
    reading = reading_of(PageQuestion(body, url, content_type, "v1.2", with_links=False))
    return FetchedPage(url, 200, content_type, 120, body, reading)


def bare_reading(signals: Signals, **found: Any) -> Reading:
    """A reading of a page with little in it."""
    verdict = Verdict("v1.2", is_pdp=False, signals=signals)
    return evolve(fetched().reading, verdict=verdict, **{"has_h1": False, "has_cta": False, **found})


def test_a_page_becomes_a_capture() -> None:
    """With what the site said, and the verdict and facts as they were read."""
    page = fetched()
    capture = PageCapture.of(page, "s-1", "pdp")
    assert capture.cause is None
    assert (capture.session_id, capture.page_type, capture.url) == ("s-1", "pdp", URL)
    assert (capture.http_status, capture.load_timings) == (200, {"fetch_ms": 120})
    assert (capture.content_type, capture.charset) == ("text/html; charset=utf-8", "utf-8")
    assert (capture.body, capture.media) == (BODY, None)
    assert capture.verdict is page.reading.verdict
    assert capture.verdict is not None
    assert capture.verdict.is_pdp
    assert capture.facts is not None
    assert capture.facts.price == Decimal("18.00")
    assert capture.canonical_url == "/p/jug"
    assert capture.low_confidence_reasons == ("text_too_short_23",)


def test_a_page_is_stored_under_one_spelling_of_its_url() -> None:
    """SPEC F160: whatever a link or a redirect wrote."""
    odd = "HTTPS://Shop.Example:443/p/jug?b=1&a=2#reviews"
    for url in (PageCapture("s-1", "pdp", odd).url, PageCapture.of(fetched(url=odd), "s-1", "pdp").url):
        assert url == "https://shop.example/p/jug?b=1&a=2"


def test_what_is_no_html_is_kept_as_it_came() -> None:
    """It has no verdict, and nothing about it is doubted."""
    capture = PageCapture.of(fetched(b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png"), "s-1", "pdp")
    assert (capture.page_type, capture.body, capture.verdict, capture.facts) == ("media", None, None, None)
    assert capture.media
    assert capture.low_confidence_reasons == ()


def test_a_site_that_declares_no_type_is_not_quoted() -> None:
    """The type stays open, and the page is judged again as it was."""
    assert PageCapture.of(fetched(content_type=""), "s-1", "page").content_type is None


def test_doubts_about_a_page_are_named() -> None:
    """A product page is asked for more than another one."""
    bare = bare_reading(Signals(), text=b"twelve chars")
    home = ("missing_h1", "missing_primary_cta", "text_too_short_12")
    assert doubts_about("homepage", bare) == home
    assert doubts_about("pdp", bare) == (*home, "missing_price", "missing_add_to_cart")


@pytest.mark.parametrize("text", [b"x" * 100, "ü".encode() * 100])
def test_a_good_page_gives_no_doubt(text: bytes) -> None:
    """Nothing is missing; characters are counted, not bytes."""
    good = bare_reading(Signals(has_price=True, has_add_to_cart=True), text=text, has_h1=True, has_cta=True)
    assert doubts_about("pdp", good) == ()


def test_a_price_that_is_not_the_stated_one_is_a_doubt() -> None:
    """Where the data of a product page say another price than the page shows."""
    facts = Facts(disagreements={"price": {"dom": "50.00"}})
    read = bare_reading(
        Signals(has_price=True, has_add_to_cart=True), text=b"x" * 100, has_h1=True, has_cta=True, facts=facts
    )
    assert doubts_about("pdp", read) == ("price_disagrees",)
    assert doubts_about("homepage", read) == ()


def test_a_verdict_is_exported_as_json_has_it() -> None:
    """Amounts as texts, null where the page says nothing."""
    verdict = PageVerdict.of("page.html", fetched().reading)
    assert (verdict.url, verdict.policy, verdict.is_pdp, verdict.reasons) == ("page.html", "v1.2", True, [])
    assert verdict.signals["has_price"] is True
    assert (verdict.facts["name"], verdict.facts["price"], verdict.facts["sku"]) == ("Jug", "18.00", None)


@dataclass
class PageData:
    """A page as somebody else's pipeline has it."""

    session_id: str
    page_id: str
    page_type: str


class PageItem(Item):
    """The same, as Scrapy's own items are."""

    session_id, page_id, page_type = Field(), Field(), Field()


@pytest.mark.parametrize("kind", [dict, PageData, PageItem])
def test_a_page_is_known_by_its_fields(kind: Any) -> None:
    """Whatever type a pipeline has given it; an item without them is none, and neither is what is no item."""
    fields = page_fields(kind(session_id="a", page_id="b", page_type="page"))
    assert fields is not None
    assert fields["session_id"] == "a"
    for other in ({"session_id": "a"}, {}, "page", None):
        assert page_fields(other) is None
