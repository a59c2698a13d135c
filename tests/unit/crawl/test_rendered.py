"""What came of rendering goes with its own attempt, and with no other."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import HtmlResponse

from crawler.crawl.rendered import Rendered, remember, rendered_in

URL = "https://shop.example/"


def test_an_attempt_forgets_what_an_earlier_one_brought() -> None:
    """Else a plain answer would have another page's picture."""
    request = Request(URL)
    answer = HtmlResponse(URL, request=request)
    assert rendered_in(answer) is None
    remember(request, Rendered("desktop", text=b"jug"))
    found = rendered_in(answer)
    assert found is not None
    assert found.text == b"jug"
    remember(request, None)
    remember(request, None)
    assert rendered_in(answer) is None


def test_what_somebody_else_keeps_there_is_none() -> None:
    """A spider's own meta may have that name."""
    assert rendered_in(HtmlResponse(URL, request=Request(URL, meta={"rendered": True}))) is None
