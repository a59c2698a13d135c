"""What a pdp session asks for, one answer after the other, and when it is over (SPEC C, F)."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define
from scrapy import Request
from twisted.python.failure import Failure

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.crawl.context import VIEWPORT
from crawler.crawl.rendered import Rendered, remember
from crawler.pdp import reading_of
from crawler.sessions.visit import ProductPage
from crawler.spiders.pdp import LEFT_SITE, PAGE, PDP, PdpSpider
from crawler.spiders.tour import HOME, MOST_NEEDED
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts, lines_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from crawler.pdp import PageQuestion, Reading
    from crawler.sessions.visit import Visit

SITE = "https://shop.example/"
JUG = f"{SITE}products/jug"
SHOP_PAGE = b"""<html><body><h1>The shop</h1><p>Everything for the table, made by hand since 1910.</p>
<a href="/products/jug">Jug</a><a href="/collections/jugs">Jugs</a></body></html>"""
PRODUCT = b"""<html><head><script type="application/ld+json">{"@type": "Product", "name": "Jug",
"image": "j.png",
"offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR"}}</script></head>
<body><h1>Jug</h1><img src="j.png"><p>12.50 EUR</p><button>Add to cart</button></body></html>"""
BARE = b"<html><body><h1>About us</h1><p>We are a family of potters.</p></body></html>"


class Readers:
    """Reads in this process."""

    async def read(self, question: PageQuestion) -> Reading:
        """What one pass over the page finds."""
        return reading_of(question)


@define
class Crawl:
    """A spider at work on one visit."""

    spider: PdpSpider
    visit: Visit

    def begin(self) -> Request:
        """The visit's first request; its way through the site is under way."""
        self.visit.work.add()
        return self.spider.opening(self.visit)

    def answered(self, request: Request, body: bytes = b"", status: int = 200, url: str = "") -> list[Any]:
        """What the spider yields for an answer, which may come from where it was redirected to."""
        found = request.replace(url=url) if url else request
        callback: Any = request.callback
        return awaited(all_of(callback(an_answer(found, body, status), **request.cb_kwargs)))

    def failed(self, request: Request, error: Exception) -> list[Any]:
        """What it yields when a request came to nothing."""
        failure = Failure(error)  # type: ignore[no-untyped-call]
        failure.request = request  # type: ignore[attr-defined]
        errback: Any = request.errback
        return list(errback(failure))

    @property
    def is_over(self) -> bool:
        """Whether nothing is to come, once the captures that were yielded are stored."""
        return self.visit.work.over.is_set()

    def store(self, outputs: list[Any]) -> list[Request]:
        """Have the captures leave the pipelines; the requests that stay."""
        for _ in captures(outputs):
            self.visit.work.remove()
        return [each for each in outputs if isinstance(each, Request)]


async def all_of(outputs: AsyncIterator[Any]) -> list[Any]:
    """What is yielded."""
    return [output async for output in outputs]


def captures(outputs: list[Any]) -> list[tuple[str, str, Cause | None]]:
    """The pages among what was yielded."""
    return [(page.page_type, page.url, page.cause) for page in outputs if isinstance(page, PageCapture)]


def crawl_of(**order: Any) -> Crawl:
    """A crawl with one visit."""
    parts, visit = crawl_parts(), a_visit(**order)
    parts.visits.add(visit)
    spider: Any = PdpSpider()
    settings = SimpleNamespace(chromium_path=sys.executable)
    spider.context, spider.visits = SimpleNamespace(readers=Readers(), settings=settings), parts.visits
    return Crawl(spider, visit)


@pytest.fixture
def crawl() -> Crawl:
    """A visit that looks for a product page."""
    return crawl_of()


def test_from_the_home_page_to_the_first_product_page(crawl: Crawl) -> None:
    """Two pages are kept, and then the visit is over."""
    outputs = crawl.answered(crawl.begin(), SHOP_PAGE)
    assert captures(outputs) == [(HOME, SITE, None)]
    [candidate] = crawl.store(outputs)
    assert (candidate.url, candidate.meta[PAGE]) == (JUG, "candidate")
    outputs = crawl.answered(candidate, PRODUCT)
    assert captures(outputs) == [(PDP, JUG, None)]
    assert not crawl.is_over
    assert crawl.store(outputs) == []
    assert (crawl.is_over, crawl.visit.pdp) == (True, ProductPage(JUG, None))


def test_a_product_page_that_was_given_is_the_sessions(crawl: Crawl) -> None:
    """The root of its site is the home page, kept whatever it is."""
    outputs = crawl.answered(crawl.begin(), PRODUCT, url=JUG)
    assert captures(outputs) == [(PDP, JUG, None)]
    [root] = crawl.store(outputs)
    assert (root.url, root.meta[PAGE]) == (SITE, HOME)
    outputs = crawl.answered(root, BARE)
    assert captures(outputs) == [(HOME, SITE, None)]
    assert crawl.store(outputs) == []
    assert (crawl.is_over, crawl.visit.pdp) == (True, ProductPage(JUG, None))


@pytest.mark.parametrize(
    ("status", "cause", "missing"), [(200, None, Cause.NOT_PDP), (404, Cause.HTTP_ERROR, Cause.HTTP_ERROR)]
)
def test_a_named_product_page_is_kept_whatever_it_has_become(
    status: int, cause: Cause | None, missing: Cause
) -> None:
    """A product that is gone is news, no reason to look for another."""
    crawl = crawl_of(wanted_pdp_url=JUG)
    [named] = crawl.store(crawl.answered(crawl.begin(), SHOP_PAGE))
    assert (named.url, named.meta[PAGE]) == (JUG, PDP)
    [page] = outputs = crawl.answered(named, BARE, status)
    assert (page.page_type, page.http_status, page.cause) == (PDP, status, cause)
    assert crawl.store(outputs) == []
    assert (crawl.is_over, crawl.visit.pdp) == (True, ProductPage(missing=missing))


@pytest.mark.parametrize(
    ("came", "cause"),
    [((b"", 403), Cause.BLOCKED), ((b"\x89PNG\r\n\x1a\n" + bytes(100), 200), Cause.NOT_HTML),
     (TimeoutError("slow"), Cause.CONNECTION_FAILED)],
    ids=["refused", "picture", "lost"],
)  # fmt: skip
def test_a_home_page_that_cannot_be_had_ends_the_visit(crawl: Crawl, came: Any, cause: Cause) -> None:
    """There is nowhere to look for products."""
    first = crawl.begin()
    outputs = crawl.failed(first, came) if isinstance(came, Exception) else crawl.answered(first, *came)
    assert captures(outputs) == [(HOME, SITE, cause)]
    assert crawl.store(outputs) == []
    assert crawl.is_over


def test_the_search_goes_on_from_what_is_no_product(crawl: Crawl) -> None:
    """Candidates, then hubs, then sitemaps; at its end the session knows why there is none."""
    [request] = crawl.store(crawl.answered(crawl.begin(), SHOP_PAGE))
    asked = [request.meta[PAGE]]
    while True:
        following = crawl.store(crawl.answered(request, BARE if len(asked) % 2 else b"", 200))
        if not following:
            break
        [request] = following
        asked.append(request.meta[PAGE])
    assert asked == ["candidate", "hub", "sitemap"]
    assert (crawl.is_over, crawl.visit.pdp) == (True, ProductPage(missing=Cause.NO_VALID_CANDIDATE))
    said = [message for message, _ in lines_of(crawl.visit)]
    assert said[0] == "search.begin"
    assert said[-1] == "search.end"


def test_a_candidate_that_failed_is_no_page_of_the_session(crawl: Crawl) -> None:
    """The search goes on without it."""
    [candidate] = crawl.store(crawl.answered(crawl.begin(), SHOP_PAGE))
    [onward] = crawl.failed(candidate, TimeoutError("slow"))
    assert onward.meta[PAGE] == "hub"


def test_refusals_end_the_search(crawl: Crawl) -> None:
    """After two in a row a site is left alone; other failures between them make them none in a row."""
    links = b"".join(b'<a href="/products/%d">Jug</a>' % number for number in range(5))
    [request] = crawl.store(crawl.answered(crawl.begin(), SHOP_PAGE + links))
    for status in (403, 404, 403):
        [request] = crawl.store(crawl.answered(request, b"", status))
    assert crawl.answered(request, b"", 429) == []
    assert (crawl.is_over, crawl.visit.pdp) == (True, ProductPage(missing=Cause.RATE_LIMITED))


def test_a_product_of_another_site_is_not_the_sessions(crawl: Crawl) -> None:
    """A candidate may redirect anywhere."""
    [candidate] = crawl.store(crawl.answered(crawl.begin(), SHOP_PAGE))
    outputs = crawl.answered(candidate, PRODUCT, url="https://elsewhere.example/products/jug")
    assert captures(outputs) == []
    assert crawl.visit.pdp.url is None


def test_a_home_page_that_leads_to_another_site_is_kept_with_a_doubt(crawl: Crawl) -> None:
    """Whoever reads the evidence is told."""
    outputs = crawl.answered(crawl.begin(), SHOP_PAGE, url="https://elsewhere.example/")
    [page] = [output for output in outputs if isinstance(output, PageCapture)]
    assert LEFT_SITE in page.low_confidence_reasons


@pytest.mark.parametrize("callback", ["parse_start", "parse_known"])
def test_a_visit_that_was_stopped_yields_nothing(crawl: Crawl, callback: str) -> None:
    """What comes back after its end is nobody's."""
    request = crawl.begin()
    crawl.visit.stop(Cause.LOCK_LOST)
    answer = an_answer(request, SHOP_PAGE)
    assert awaited(all_of(getattr(crawl.spider, callback)(answer, visit=crawl.visit))) == []
    assert crawl.failed(request, TimeoutError("slow")) == []


def test_a_page_is_judged_outside_of_any_session(crawl: Crawl) -> None:
    """For `scrapy parse`, `scrapy shell` and contracts."""
    crawl.spider.settings = {"CRAWL_POLICY_VERSION": "v1.2"}  # type: ignore[assignment]
    [verdict] = awaited(all_of(crawl.spider.parse(an_answer(a_request(JUG), PRODUCT))))
    assert (verdict.is_pdp, verdict.policy, verdict.facts["price"]) == (True, "v1.2", "12.50")


def test_what_was_found_through_the_first_window_is_looked_at_through_the_second() -> None:
    """Four pages: the search goes on in the first window alone; sitemaps need none."""
    crawl = crawl_of(render="1")
    first = crawl.begin()
    assert first.meta[VIEWPORT] == "desktop"
    [candidate] = crawl.store(crawl.answered(first, SHOP_PAGE))
    assert (candidate.url, candidate.meta[VIEWPORT]) == (JUG, "desktop")
    outputs = crawl.answered(candidate, PRODUCT)
    [home] = crawl.store(outputs)
    assert (home.url, home.meta[PAGE], home.meta[VIEWPORT]) == (SITE, HOME, "mobile")
    [product] = crawl.store(crawl.answered(home, SHOP_PAGE))
    assert (product.url, product.meta[PAGE], product.meta[VIEWPORT]) == (JUG, PDP, "mobile")
    [page] = outputs = crawl.answered(product, BARE)
    assert (page.page_type, page.viewport) == (PDP, "mobile")
    assert crawl.store(outputs) == []
    # what the phone was shown decides nothing
    assert (crawl.is_over, crawl.visit.pdp) == (True, ProductPage(JUG, None))


def test_a_page_that_fails_in_one_window_is_tried_in_the_other() -> None:
    """Of a home page that cannot be had there are two failed pages."""
    crawl = crawl_of(render="1")
    [page, home] = crawl.failed(crawl.begin(), TimeoutError("slow"))
    assert (page.viewport, home.meta[VIEWPORT]) == ("desktop", "mobile")
    [page] = crawl.failed(home, TimeoutError("slow"))
    assert (page.viewport, page.cause) == ("mobile", Cause.CONNECTION_FAILED)


@pytest.mark.parametrize(("status", "cause"), [(403, Cause.BLOCKED), (429, Cause.RATE_LIMITED)])
def test_who_keeps_us_out_is_not_asked_again_in_another_windows_name(status: int, cause: Cause) -> None:
    """Both pages have failed for it; a second browser's name would be a way round (SPEC F148)."""
    crawl = crawl_of(render="1")
    pages = crawl.answered(crawl.begin(), b"", status)
    assert [(page.viewport, page.page_type, page.cause) for page in pages] == [
        ("desktop", HOME, cause), ("mobile", HOME, cause),
    ]  # fmt: skip
    assert crawl.store(pages) == []
    assert crawl.is_over


SHELL = b"<html><body><div id=app></div><script src=app.js></script></body></html>"
HALF = PRODUCT.replace(b"<p>12.50 EUR</p>", b"<script>price()</script>" + b"<p>A jug of clay.</p>" * 30)
HALF = HALF.replace(b'"price": "12.50",', b"")


def chosen(crawl: Crawl) -> list[str]:
    """Why pages were rendered, as far as the log has not said it yet."""
    return [details["reason"] for event, details in lines_of(crawl.visit) if event == "render.chosen"]


def test_auto_renders_a_shell_that_a_script_fills() -> None:
    """In the one window of such a session, and says why."""
    crawl = crawl_of(render="auto")
    first = crawl.begin()
    assert VIEWPORT not in first.meta
    [again] = crawl.answered(first, SHELL)
    assert (again.url, again.meta[VIEWPORT], again.meta[PAGE]) == (SITE, "desktop", HOME)
    assert chosen(crawl) == ["script_shell"]
    [candidate] = crawl.store(crawl.answered(again, SHOP_PAGE))
    assert VIEWPORT not in candidate.meta
    [again] = crawl.answered(candidate, HALF)
    assert chosen(crawl) == ["no_verdict"]
    assert crawl.store(crawl.answered(again, PRODUCT)) == []
    assert crawl.is_over


def test_auto_renders_no_more_than_it_may() -> None:
    """A shop of nothing but shells is told from one that needs a browser for some of its pages."""
    crawl = crawl_of(render="auto")
    request, rendered = crawl.begin(), 0
    for turn in range(30):
        following = crawl.store(crawl.answered(request, SHELL if turn else SHOP_PAGE))
        if not following:
            break
        [request] = following
        rendered += VIEWPORT in request.meta
    assert 0 < rendered <= MOST_NEEDED


@pytest.mark.parametrize("named", ["", "/nowhere/chromium"])
def test_a_machine_without_a_browser_keeps_the_plain_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    """And the log says so; a browser that is named and not there ends no session."""
    for name in ("PATH", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    crawl = crawl_of(render="auto")
    crawl.spider.context.settings = SimpleNamespace(chromium_path=named)  # type: ignore[assignment]
    assert captures(crawl.answered(crawl.begin(), SHELL)) == [(HOME, SITE, None)]
    assert "render.no_browser" in [event for event, _ in lines_of(crawl.visit)]


def test_a_rendered_page_has_what_the_browser_made_of_it() -> None:
    """Its picture, its text, what was sent, and the doubts of both; a page that is not rendered has none."""
    crawl = crawl_of(render="1")
    first = crawl.begin()
    [plain, *_] = crawl.answered(first, SHOP_PAGE)
    assert (plain.screenshot, plain.sent) == (None, None)
    remember(
        first,
        Rendered(
            "desktop", text=b"seen", screenshot=b"png", sent=b"<p>sent", sent_type="text/html",
            sent_charset="utf-8", timings={"load_ms": 5}, doubts=("screenshot_blank",),
        ),
    )  # fmt: skip
    [page, *_] = crawl.answered(first, SHOP_PAGE, url="https://elsewhere.example/")
    assert (page.screenshot, page.visible_text, page.sent.body) == (b"png", b"seen", b"<p>sent")
    assert page.load_timings["load_ms"] == 5
    assert page.low_confidence_reasons[-2:] == ("screenshot_blank", LEFT_SITE)
