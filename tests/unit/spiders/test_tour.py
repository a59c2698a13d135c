"""Which pages are seen in a browser, through which window: as little as needed, and never a way round."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crawler.capture.failures import Cause
from crawler.spiders.tour import ALWAYS, HOME, NEVER, SHELL_BYTES, WHERE_NEEDED, Tour

SHELL = b"<html><head><script src=app.js></script></head><body><div id=root></div></body></html>"


def a_page(body: bytes = SHELL, *, is_html: bool = True, is_pdp: bool = False, **signals: bool) -> Any:
    """A plain page, as it was read."""
    given = {"has_add_to_cart": False, "has_product_schema": False, "has_price": False, **signals}
    verdict = SimpleNamespace(is_pdp=is_pdp, signals=SimpleNamespace(**given))
    return SimpleNamespace(body=body, reading=SimpleNamespace(is_html=is_html, verdict=verdict))


def why(page: Any, page_type: str = "pdp", render: str = WHERE_NEEDED) -> str | None:
    """Why a page is looked at in a browser."""
    return Tour(render).why_render(page_type, page)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (a_page(), "script_shell"), (a_page(is_pdp=True), None), (a_page(is_html=False), None),
        (a_page(b"<p>hardly a word"), None),  # no script would fill it
        (a_page(b"<script type=application/ld+json>{}</script><p>x"), None),
        (a_page(b"<script></script><p>" + b"word " * 100), None),
        (a_page(b"<script></script><p>" + b"word " * 100, has_price=True), "no_verdict"),
        (a_page(SHELL + b"<nav>" + b"link " * 500 + b"</nav><!--" + b"x" * 500 + b"-->"), "script_shell"),
        (a_page(SHELL + b"<b>" * SHELL_BYTES), None),
        (Cause.EMPTY_PAGE, "no_verdict"), (Cause.UNREADABLE, "no_verdict"), (Cause.TIMEOUT, None),
        (Cause.ROBOTS_REFUSED, None), (Cause.BLOCKED, None),
    ],
)  # fmt: skip
def test_what_says_nothing_without_a_browser(page: Any, reason: str | None) -> None:
    """A shell that a script fills, or half of a product page; nobody who refused us is asked again."""
    assert why(page) == reason
    assert why(page, render=NEVER) is None
    assert why(page, render=ALWAYS) is None


def test_half_a_product_on_a_home_page_is_none() -> None:
    """Prices stand on many."""
    half = a_page(b"<script></script><p>" + b"word " * 100, has_price=True)
    assert why(half, HOME) is None
