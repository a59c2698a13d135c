"""What a session asks for through its windows, and what is made of the pages that come."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.capture.failures import Cause
from crawler.capture.items import FetchedPage, PageCapture
from crawler.crawl.context import VIEWPORT
from crawler.crawl.rendered import Rendered, remember
from crawler.pdp import PageQuestion, reading_of
from crawler.spiders.pdp import LEFT_SITE, PAGE, TouringSpider, window_of
from crawler.spiders.search import Aim
from crawler.spiders.tour import FIRST, HOME, SECOND
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts, lines_of

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.sessions.visit import Visit

SITE = "https://shop.example/"
SHELL = b"<html><body><div id=app></div><script src=app.js></script></body></html>"


class Readers:
    """Reads in this process."""

    def __init__(self) -> None:
        self.asked: list[PageQuestion] = []

    async def read(self, question: PageQuestion) -> Any:
        """What one pass over the page finds."""
        self.asked.append(question)
        return reading_of(question)


@pytest.fixture
def spider() -> Any:
    """One that has a browser at hand."""
    kind: Any = TouringSpider  # its questions are a subclass's business
    made = kind("touring")
    made.visits = crawl_parts().visits
    made.context = SimpleNamespace(readers=Readers(), settings=SimpleNamespace(chromium_path=sys.executable))
    return made


def fetched(body: bytes = SHELL, url: str = SITE) -> FetchedPage:
    """A page that was read."""
    reading = reading_of(PageQuestion(body, url, "text/html", "v1.2", with_links=False))
    return FetchedPage(url, 200, "text/html", 7, body, reading)


def a_way(**order: Any) -> Visit:
    """A visit whose way is under way."""
    visit = a_visit(**order)
    visit.work.add()
    return visit


@pytest.mark.parametrize(
    ("render", "page_type", "window"),
    [("0", HOME, None), ("auto", HOME, None), ("1", HOME, FIRST), ("1", "pdp", FIRST),
     ("1", Aim.SITEMAP.value, None)],
)  # fmt: skip
def test_pages_are_asked_for_through_the_first_window(
    spider: Any, render: str, page_type: str, window: str | None
) -> None:
    """If there is one; a sitemap is no page to be looked at."""
    request = spider.look(a_visit(render=render), SITE, spider.parse_known, page_type, aim=1)
    assert (request.meta.get(VIEWPORT), request.meta[PAGE]) == (window, page_type)
    assert request.cb_kwargs["aim"] == 1


def test_a_plain_page_is_looked_at_anew_as_it_was_asked_for(spider: Any) -> None:
    """At the address to which it led, with the same callback and what was known; the log says why."""
    visit = a_visit(render="auto")
    request = spider.look(visit, SITE, spider.parse_known, HOME, aim=1)
    response = an_answer(request.replace(url=f"{SITE}en"), SHELL)
    again = spider.anew(visit, response, fetched())
    assert (again.url, again.meta[VIEWPORT], again.meta[PAGE]) == (f"{SITE}en", FIRST, HOME)
    assert again.callback == request.callback
    assert again.cb_kwargs == {"visit": visit, "aim": 1}
    [(event, details)] = lines_of(visit)
    assert (event, details["reason"]) == ("render.chosen", "script_shell")
    assert spider.anew(visit, an_answer(again, SHELL), fetched()) is None


@pytest.mark.parametrize(("render", "page"), [("0", SHELL), ("1", SHELL), ("auto", b"<p>" + b"words " * 100)])
def test_pages_that_are_not_looked_at_anew(spider: Any, render: str, page: bytes) -> None:
    """Where nobody wants it, and where a page says enough."""
    visit = a_visit(render=render)
    request = a_request(SITE, visit, meta={PAGE: HOME})
    assert spider.anew(visit, an_answer(request, page), fetched(page)) is None
    assert lines_of(visit) == []


@pytest.mark.parametrize("named", ["", "/nowhere/chromium"])
def test_a_machine_without_a_browser_says_so(
    spider: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    """The plain page is what there is; a browser that is named and not there ends no session."""
    spider.context.settings.chromium_path = named
    for name in ("PATH", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    visit = a_visit(render="auto")
    assert spider.anew(visit, an_answer(a_request(SITE, visit, meta={PAGE: HOME}), SHELL), fetched()) is None
    assert [event for event, _ in lines_of(visit)] == ["render.no_browser"]


def test_a_way_without_a_second_window_is_over(spider: Any) -> None:
    """Nothing is to come."""
    for render in ("0", "auto", "1"):
        visit = a_way(render=render)
        assert spider.onward(visit) == []
        assert visit.work.over.is_set()


def test_the_second_window_sees_what_the_first_one_saw(spider: Any) -> None:
    """One page after the other; pages that keep us out have failed there as well."""
    visit = a_way(render="1")
    for url, cause in ((SITE, None), (f"{SITE}a", Cause.BLOCKED), (f"{SITE}b", None)):
        request = a_request(url, visit, meta={PAGE: "pdp", VIEWPORT: FIRST})
        spider.capture(visit, "pdp", cause or fetched(url=url), an_answer(request))
        visit.work.remove()
    [first] = spider.onward(visit)
    assert (first.url, first.meta[VIEWPORT]) == (SITE, SECOND)
    failed, second = spider.onward(visit)
    assert isinstance(failed, PageCapture)
    assert (failed.url, failed.viewport, failed.cause) == (f"{SITE}a", SECOND, Cause.BLOCKED)
    assert second.url == f"{SITE}b"
    visit.work.remove()  # the failed one is stored
    assert not visit.work.over.is_set()
    assert spider.onward(visit) == []
    assert visit.work.over.is_set()


def test_what_was_seen_through_the_second_window_is_not_seen_again(spider: Any) -> None:
    """Else a session would never end."""
    visit = a_way(render="1")
    request = a_request(SITE, visit, meta={PAGE: HOME, VIEWPORT: SECOND})
    page = spider.capture(visit, HOME, fetched(), an_answer(request))
    assert page.viewport == SECOND
    visit.work.remove()
    assert spider.onward(visit) == []


def test_links_are_looked_for_where_they_are_followed(spider: Any) -> None:
    """On home pages and hubs; what is no HTML is refused in the log."""
    visit = a_visit()
    for page_type in (HOME, Aim.HUB.value, "pdp"):
        request = a_request(SITE, visit, meta={PAGE: page_type})
        assert isinstance(awaited(spider.read(visit, an_answer(request))), FetchedPage)
    assert [each.with_links for each in spider.context.readers.asked] == [True, True, False]
    picture = an_answer(a_request(SITE, visit, meta={PAGE: HOME}), b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert awaited(spider.read(visit, picture)) is Cause.NOT_HTML
    [(event, details)] = lines_of(visit)
    assert (event, details["cause"]) == ("page.refused", Cause.NOT_HTML)


def test_a_failed_page_has_its_status_if_it_has_one(spider: Any) -> None:
    """A request that came to nothing has none; the visit waits for the capture."""
    visit = a_way()
    request = a_request(SITE, visit)
    answered = spider.capture(visit, HOME, Cause.HTTP_ERROR, an_answer(request, status=404))
    lost = spider.capture(visit, HOME, Cause.CONNECTION_FAILED, request)
    assert (answered.http_status, answered.cause, answered.viewport) == (404, Cause.HTTP_ERROR, FIRST)
    assert (lost.http_status, lost.url) == (None, SITE)
    visit.work.remove()
    assert not visit.work.over.is_set()


def test_a_rendered_page_has_what_the_browser_made_of_it(spider: Any) -> None:
    """Its picture, text, what was sent, and the doubts of both."""
    visit = a_way(render="1")
    request = a_request("https://elsewhere.example/", visit, meta={VIEWPORT: FIRST, PAGE: HOME})
    remember(
        request,
        Rendered(
            FIRST, text=b"seen", screenshot=b"png", sent=b"<p>sent", sent_type="text/html",
            sent_charset="utf-8", timings={"load_ms": 5}, doubts=("screenshot_blank",),
        ),
    )  # fmt: skip
    page = spider.capture(visit, HOME, fetched(url="https://elsewhere.example/"), an_answer(request))
    assert (page.screenshot, page.visible_text, page.sent.body) == (b"png", b"seen", b"<p>sent")
    assert page.load_timings == {"fetch_ms": 7, "load_ms": 5}
    assert page.low_confidence_reasons[-2:] == ("screenshot_blank", LEFT_SITE)


def test_a_page_that_was_asked_for_in_a_browser_and_is_none_has_no_picture(spider: Any) -> None:
    """Such as what a server sent with an error."""
    visit = a_way(render="1")
    request = a_request(SITE, visit, meta={VIEWPORT: FIRST, PAGE: HOME})
    page = spider.capture(visit, HOME, fetched(), an_answer(request))
    assert (page.screenshot, page.sent) == (None, None)
    assert window_of(an_answer(a_request(SITE))) == FIRST
