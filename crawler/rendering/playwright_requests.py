"""Requests written for scrapy-playwright: rendered in Vitrine's browser, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler import logs
from crawler.capture.failures import Cause
from crawler.crawl.answers import RequestRefusedError
from crawler.crawl.context import VIEWPORT, Component
from crawler.rendering.viewports import DESKTOP
from crawler.urls import redact

if TYPE_CHECKING:
    from scrapy import Request

WANTED = "playwright"  # scrapy-playwright's meta keys
_CONTEXT = "each session has a browser context of its own for each viewport"
# What cannot be had in a browser that nothing leads out of, with the way to get what is wanted.
REFUSED = {
    "playwright_include_page": "the page is closed once it is read; do it by playwright_page_methods, whose "
    "results are in their `result`",
    "playwright_page": "a page is not used twice; do it by playwright_page_methods of one request",
    "playwright_context": f"{_CONTEXT}; leave it out",
    "playwright_context_kwargs": f"{_CONTEXT}; RENDER_LOCALE and RENDER_TIMEZONE are for it",
    "playwright_page_goto_kwargs": "RENDER_… settings say how long a page is waited for",
    "proxy": "a rendered page goes through PROXY_URL; set that",
}

log = logs.get_logger(__name__)


class NotRenderedError(RequestRefusedError):
    """A request asks for what no page is rendered with; to send it unrendered would be another page."""

    cause = Cause.NOT_RENDERED


class PlaywrightMiddleware(Component):
    """Has requests with `playwright=True` rendered through the enclosure."""

    def process_request(self, request: Request) -> None:
        """Give the request a viewport, or refuse it, with a line that says what to do instead."""
        if not request.meta.get(WANTED):
            return
        refused = {key: way for key, way in REFUSED.items() if request.meta.get(key)}
        if refused:
            instead = "; ".join(f"{key}: {way}" for key, way in refused.items())
            log.error("render.refused", url=redact(request.url), instead=instead)
            raise NotRenderedError(f"not rendered: {instead}")
        request.meta.setdefault(VIEWPORT, DESKTOP.name)
