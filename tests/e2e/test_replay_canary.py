"""Hostile pages in a real browser: no script runs, and nobody outside of the archive is asked anything."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Error

from tests.unit.archive.captured import HTML, day, exchange, record
from tests.unit.archive.hostile import hostile_pages
from tests.unit.web.conftest import serving_on

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from playwright.sync_api import Page

    from crawler.warc.messages import Exchange
    from tests.programs.browser import InBrowser

AS_THE_SITE_SAYS = (
    {"Refresh": "0;url={}/refresh"},
    {"Link": "<{}/preload>; rel=preload; as=script"},
    {"Service_Worker_Allowed": "/", "Set_Cookie": "a=b; Path=/"},
    {"kind": "image/svg+xml"},
    {"kind": "image/png"},
    {"kind": "application/xhtml+xml"},
    {"kind": "multipart/x-mixed-replace; boundary=x"},
    {"kind": "text/html; charset=utf-7"},
)
ACTING = (
    "<html xmlns='http://www.w3.org/1999/xhtml'><body onload=\"new Image().src='{0}/ran'\">"
    "<script>new Image().src='{0}/ran'</script><meta http-equiv='refresh' content='0;url={0}/refresh'/>"
    "<a id='go' href='{0}/left'>x</a></body></html>"
)


class Canary(ThreadingHTTPServer):
    """A server that must never be asked; it remembers what it was asked for."""

    asked: list[str]

    @property
    def address(self) -> str:
        """Where it waits."""
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Remember, and answer."""
        assert isinstance(self.server, Canary)
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    do_POST = do_GET  # ruff: ignore[mixed-case-variable-in-class-scope] - the library's names

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def canary() -> Generator[Canary]:
    """A canary that sits there for as long as the block."""
    server = Canary(("127.0.0.1", 0), _Answers)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("framed", [8, pytest.param(1, marks=pytest.mark.soak)])
def test_archived_pages_can_do_nothing(
    sqlite_database: str, tmp_path: Path, in_browser: InBrowser, framed: int
) -> None:
    """Neither by themselves nor, some or all, in their frame, whatever is clicked on.

    The canary itself can be reached.
    """
    with canary() as bird, serving_on(sqlite_database, tmp_path / "home") as serve:
        served = serve()
        pages = list(_hostile(bird.address))
        record(served.database, tmp_path / "warcs", *pages)
        asked: set[str] = set()

        def look(page: Page) -> None:
            page.context.on("request", lambda request: asked.add(request.url))
            for number, each in enumerate(pages):
                _visit(page, f"{served.address}/web/20260503120000mp_/{each.url}")
                if number % framed == 0:
                    _visit(page, f"{served.address}/web/20260503120000/{each.url}")
            # In a window of its own: where the last click leads to may still be on its way in this one.
            page.context.new_page().goto(f"{bird.address}/awake")

        assert len(pages) >= 48
        in_browser(look)
        assert [path for path in bird.asked if path != "/favicon.ico"] == ["/awake"]  # an icon of that page
        abroad = {url for url in asked if not url.startswith((served.address, "data:image/", "about:"))}
        assert abroad == {f"{bird.address}/awake"}


def _hostile(bird: str) -> Generator[Exchange]:
    """Pages that act, as they are and under headers that do."""
    for number, body in enumerate(hostile_pages(bird).values()):
        yield exchange(f"https://evil.example/{number}", body, day(3))
    for number, said in enumerate(AS_THE_SITE_SAYS):
        how: dict[str, Any] = {"kind": HTML, **{key: value.format(bird) for key, value in said.items()}}
        yield exchange(f"https://evil.example/said/{number}", ACTING.format(bird), day(3), **how)


def _visit(page: Page, address: str) -> None:
    """Open a page, let it do what it can, and click on what lures."""
    with suppress(Error):  # what is only saved is no page
        page.goto(address, wait_until="load")
    for frame in page.frames:
        with suppress(Error):  # what cannot be seen cannot be clicked on, and a click may take the page away
            for lure in frame.locator("#go, #go2").all()[:2]:
                lure.click(timeout=100, no_wait_after=True, force=True)
