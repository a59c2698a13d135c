"""What came of rendering a page, beside the HTML that is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from crawler.capture.items import Sent

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from crawler.capture.items import FetchedPage

_RENDERED = "rendered"  # the meta key of what came of it


@frozen
class Rendered:
    """A page as a shopper saw it."""

    viewport: str
    text: bytes = field(default=b"", repr=False)  # what can be read, in UTF-8
    screenshot: bytes | None = field(default=None, repr=False)
    sent: bytes | None = field(default=None, repr=False)  # what the server sent, before any script ran
    sent_type: str = ""
    sent_charset: str = ""
    timings: dict[str, Any] = field(factory=dict)
    doubts: tuple[str, ...] = ()


def rendered_in(response: Response) -> Rendered | None:
    """What came of rendering an answer; None of one that was not rendered, or is no page."""
    found = response.meta.get(_RENDERED)
    return found if isinstance(found, Rendered) else None


def seen_in(rendered: Rendered, page: FetchedPage) -> dict[str, Any]:
    """Return the fields of a capture that a browser has made of a page beside its HTML."""
    sent = rendered.sent and Sent(rendered.sent, rendered.sent_type, rendered.sent_charset)
    return {
        "sent": sent or None,
        "screenshot": rendered.screenshot,
        "visible_text": rendered.text,
        "load_timings": {"fetch_ms": page.fetch_ms, **rendered.timings},
    }


def remember(request: Request, rendered: Rendered | None) -> None:
    """Have a request carry what came of it; None forgets what an earlier attempt brought."""
    request.meta.pop(_RENDERED, None)
    if rendered is not None:
        request.meta[_RENDERED] = rendered
