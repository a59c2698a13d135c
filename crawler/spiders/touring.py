"""The frame of a spider that looks at a session's pages through one window or two, or through none."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.http import Response

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture, Sent
from crawler.crawl.answers import page_of
from crawler.crawl.context import VIEWPORT
from crawler.errors import ConfigError
from crawler.rendering.chromium import find_chromium
from crawler.rendering.rendered import rendered_in
from crawler.spiders.search import Aim
from crawler.spiders.tour import FIRST, HOME, NEVER, SECOND, Tour
from crawler.spiders.visiting import VisitingSpider
from crawler.urls import same_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request

    from crawler.capture.items import FetchedPage
    from crawler.rendering.rendered import Rendered
    from crawler.sessions.visit import Visit

PAGE = "page_type"  # the meta key that says what a request is for
LEFT_SITE = "left_site"  # the doubt about a page of another site than the one that was given


class TouringSpider(VisitingSpider):
    """Asks for pages as their sessions want them seen, and knows which are still to be seen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tours: WeakKeyDictionary[Visit, Tour] = WeakKeyDictionary()

    @abstractmethod
    def parse_known(self, response: Response, visit: Visit) -> AsyncIterator[Any]:
        """Called with a page that is kept whatever it is."""

    # ── what is asked for ──

    def tour(self, visit: Visit) -> Tour:
        """What a visit has still to see."""
        if visit not in self.tours:
            self.tours[visit] = Tour.of(visit.order)
        return self.tours[visit]

    def look(self, visit: Visit, url: str, callback: Any, page_type: str, **known: Any) -> Request:
        """A request for a page, through the visit's first window if it has one."""
        has_window = visit.order.render != NEVER and self.tour(visit).window is not None
        seen = {VIEWPORT: FIRST} if has_window and page_type != Aim.SITEMAP.value else {}
        return self.ask(visit, url, callback, meta={PAGE: page_type, **seen}, **known)

    def anew(self, visit: Visit, response: Response, page: FetchedPage | Cause) -> Request | None:
        """The same page in a browser, where the plain one says nothing."""
        request = response.request
        if visit.order.render == NEVER or request is None or VIEWPORT in request.meta:
            return None
        reason = self.tour(visit).why_render(request.meta[PAGE], page)
        if reason is None:
            return None
        if not self._has_browser():
            visit.journal.warn("navigation", "render.no_browser", url=response.url, reason=reason)
            return None
        visit.journal.info("navigation", "render.chosen", url=response.url, reason=reason)
        meta = {PAGE: request.meta[PAGE], VIEWPORT: FIRST}
        known = {name: value for name, value in request.cb_kwargs.items() if name != "visit"}
        return self.ask(visit, response.url, request.callback, meta=meta, **known)

    def _has_browser(self) -> bool:
        with suppress(ConfigError):  # one is named, and is not there: so says `vitrine doctor`
            return find_chromium(self.context.settings.chromium_path) is not None
        return False

    def onward(self, visit: Visit) -> list[PageCapture | Request]:
        """The visit's next page through the second window; its way is over when there is none.

        Where the site kept us out in the first window, the page has failed in the second as well: another
        browser's name would be more than the one mitigation that there is (SPEC F148).
        """
        failed: list[PageCapture | Request] = []
        while visit.order.render != NEVER and (step := self.tour(visit).next()):
            if step.kept_out is None:
                meta = {PAGE: step.page_type, VIEWPORT: SECOND}
                return [*failed, self.ask(visit, step.url, self.parse_known, meta=meta)]
            visit.work.add()
            failed.append(
                PageCapture(
                    session_id=visit.id, page_type=step.page_type, url=step.url, cause=step.kept_out,
                    viewport=SECOND,
                )
            )  # fmt: skip
        visit.work.remove()
        return failed

    # ── what came of it ──

    async def read(self, visit: Visit, response: Response) -> FetchedPage | Cause:
        """The HTML page that was asked for, or why it is none."""
        looks_around = response.meta[PAGE] in {HOME, Aim.HUB.value}
        page = await page_of(
            self.context.readers, response, visit.order.crawl_policy_version, with_links=looks_around
        )
        if not isinstance(page, Cause):
            if page.reading.is_html:
                return page
            page = Cause.NOT_HTML
        visit.journal.warn("navigation", "page.refused", url=response.url, status=response.status, cause=page)
        return page

    def capture(
        self, visit: Visit, page_type: str, page: FetchedPage | Cause, origin: Response | Request
    ) -> PageCapture:
        """The item of a page; the visit does not end before it is stored.

        What was seen through the first window is to be seen through the second.
        """
        viewport = window_of(origin)
        if visit.order.render != NEVER and viewport == FIRST:
            # what failed is tried from where it began, not from where it got to
            cause = page if isinstance(page, Cause) else None
            came_by = origin.meta.get("redirect_urls") if cause else None
            self.tour(visit).note(page_type, came_by[0] if came_by else origin.url, cause)
        visit.work.add()
        if isinstance(page, Cause):
            return PageCapture(
                session_id=visit.id, page_type=page_type, url=origin.url, cause=page, viewport=viewport,
                http_status=getattr(origin, "status", None),
            )  # fmt: skip
        doubts = [] if same_site(page.url, visit.order.url) else [LEFT_SITE]
        seen: dict[str, Any] = {}
        if VIEWPORT in origin.meta and isinstance(origin, Response) and (rendered := rendered_in(origin)):
            seen, doubts = _seen(rendered, page), [*rendered.doubts, *doubts]
        return PageCapture.of(page, visit.id, page_type, doubts=tuple(doubts), viewport=viewport, **seen)


def window_of(origin: Response | Request) -> str:
    """The window that a page was seen through; without a browser it goes by the first one's name."""
    return str(origin.meta.get(VIEWPORT, FIRST))


def _seen(rendered: Rendered, page: FetchedPage) -> dict[str, Any]:
    """What a browser has made of a page beside its HTML."""
    sent = rendered.sent and Sent(rendered.sent, rendered.sent_type, rendered.sent_charset)
    return {
        "sent": sent or None,
        "screenshot": rendered.screenshot,
        "visible_text": rendered.text,
        "load_timings": {"fetch_ms": page.fetch_ms, **rendered.timings},
    }
