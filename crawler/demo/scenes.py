"""Scenarios that only a browser sees: what a page's scripts and overlays do to who looks at it."""

from __future__ import annotations

import re
from functools import cache, partial
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from crawler.demo.wire import HTML, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.demo.scenarios import Act, Call, Page

PLACE = "/scene/"  # where a scene's own files lie
CANARY_PORT = 9
_END = "</body>"
_MAIN = re.compile(r"(<main\b[^>]*>)(.*)(</main>)", re.DOTALL)
_LINKED_DATA = re.compile(r'<script type="application/ld\+json">.*?</script>\n?', re.DOTALL)
_IMAGE = re.compile(r'(<img\b[^>]*?) src="')
_GRID = '<ul class="grid'
_BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]>>endobj\n%%EOF\n"


@cache
def _fragment(name: str) -> str:
    path = resources.files("crawler.demo").joinpath("data", "scenes", f"{name}.html")
    return path.read_text(encoding="utf-8")


def _base(name: str, call: Call) -> str:
    """What stands before the paths of a scene's own files."""
    return f"/scenario/{name}" if call.by_prefix else ""


def _dressed(name: str, call: Call, page: Page, change: Callable[[str], str] = str, **values: str) -> Reply:
    """The page with a scene's fragment at its end."""
    reply = page(call.path)
    if reply.content_type != HTML or reply.status != 200:  # ruff: ignore[magic-value-comparison] - OK
        return reply
    fragment = _fragment(name)
    for key, value in {"base": _base(name, call), "path": call.path, **values}.items():
        fragment = fragment.replace(f"{{{key}}}", value)
    before, end, after = change(reply.body.decode()).rpartition(_END)
    return reply.but(body=f"{before}{fragment}{end}{after}".encode())


def _script_only(call: Call, page: Page) -> Reply:
    if call.path == f"{PLACE}main":
        inner = page(call.query.get("path", "/"))
        found = _MAIN.search(inner.body.decode()) if inner.content_type == HTML else None
        return Reply((found[2] if found else "").encode())

    def emptied(html: str) -> str:
        return _MAIN.sub(r"\1\3", _LINKED_DATA.sub("", html))

    return _dressed("script-only", call, page, emptied)


def _lazy(call: Call, page: Page) -> Reply:
    return _dressed("lazy", call, page, lambda html: _IMAGE.sub(rf'\1 src="{_BLANK}" data-src="', html))


def _in_frame(call: Call, page: Page) -> Reply:
    name = "banner-in-frame"
    if call.path == f"{PLACE}frame":
        return Reply(_fragment("frame").encode())
    there = f"/scenario/{name}{PLACE}frame"
    return _dressed(name, call, page, frame=escape(call.url(f"m.{call.bare_host}", there)))


def _endless_scroll(call: Call, page: Page) -> Reply:
    if call.path == f"{PLACE}more":
        number = call.number("page", 1, 10_000)
        return Reply(f'<p style="height:420px">Shelf {number}, and there are more.</p>\n'.encode())
    return _dressed("endless-scroll", call, page)


def _never_idle(call: Call, page: Page) -> Reply:
    if call.path == f"{PLACE}tick":
        return Reply(b"tick", content_type="text/plain")
    return _dressed("never-idle", call, page)


def _probing(call: Call, page: Page) -> Reply:
    if call.path == f"{PLACE}away":
        port = call.number("port", CANARY_PORT, 65_535)
        return Reply(status=302, headers=(("Location", f"http://127.0.0.1:{port}/redirected"),))
    return _dressed("probing", call, page, canary=str(CANARY_PORT))


def _download(call: Call, page: Page) -> Reply:
    """The first thing on the shelf is a file to be kept."""
    if call.path == "/products/price-list":
        attached = ("Content-Disposition", 'attachment; filename="prices.pdf"')
        return Reply(_PDF, content_type="application/pdf", headers=(attached,))
    reply = page(call.path)
    if reply.content_type != HTML:
        return reply
    link = f'<li class="tile"><a href="{_base("download", call)}/products/price-list">Price list</a></li>'
    grid = re.compile(rf"({_GRID}[^>]*>)")
    return reply.but(body=grid.sub(rf"\1{link}", reply.body.decode(), count=1).encode())


# Name, purpose in one line, what it does.
SCENES: tuple[tuple[str, str, Act], ...] = (
    ("script-only", "what the page says comes with a script", _script_only),
    *(
        (name, purpose, partial(_dressed, name))
        for name, purpose in (
            ("consent-banner", "a consent banner of one vendor's shape, kept away by a cookie"),
            ("consent-dialog", "a consent dialog of another vendor's shape, whose buttons say nothing usual"),
            ("consent-shadow", "a consent wall of a third vendor's shape, in a shadow tree"),
            ("newsletter", "a modal that wants an address, with buttons that are not to be pressed"),
            ("overlay", "a curtain without a button over a page that does not scroll"),
            ("moves-on", "a start page that leads on by script, and pages that load themselves again"),
        )
    ),
    ("banner-in-frame", "a German consent banner in another host's frame", _in_frame),
    ("lazy", "pictures that come when they are near the window", _lazy),
    ("endless-scroll", "a page that grows for as long as somebody scrolls", _endless_scroll),
    ("never-idle", "a page that never stops asking", _never_idle),
    ("download", "the first product is a file to be kept", _download),
    ("probing", "a page that knocks at private addresses, at port `canary` (9)", _probing),
)
