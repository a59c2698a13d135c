"""Settings and meta keys of other people's projects mean what Scrapy's documentation says."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.e2e.farm import farm
from tests.e2e.projects import VITRINES, Project

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak(minutes=5)

SPIDER = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, proxy=None, **more):
        super().__init__(**more)
        self.url, self.meta = url, {"proxy": proxy} if proxy else {}

    async def start(self):
        yield scrapy.Request(self.url, meta=self.meta)

    def parse(self, response):
        yield {
            "url": response.url, "flags": response.flags,
            "at_once": self.settings.getint("CONCURRENT_ITEMS"),
        }
"""
SECRET = "geheim"


def unpacked(path: Path) -> bytes:
    """A file's content."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@contextmanager
def proxy() -> Generator[tuple[int, list[tuple[str, str | None]]]]:
    """A proxy that answers itself; its port, and who asked it for what."""
    asked: list[tuple[str, str | None]] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Proxy-Authorization"]))
            body = b"<html><title>Jug</title><h1>Jug</h1><p>by proxy"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("way", VITRINES)
def test_a_proxy_of_a_request_has_its_user_and_password(home: Home, tmp_path: Path, way: str) -> None:
    """They are in no log, no row and no WARC file."""
    project = Project.make(tmp_path / "theirs", home, way, SPIDER, LOG_LEVEL="DEBUG")
    home.extra["WARC_DIR"] = str(tmp_path / "warc")
    with proxy() as (port, asked):
        done = project.crawl("http://shop.example/", "-a", f"proxy=http://us:{SECRET}@127.0.0.1:{port}")
    assert asked == [("http://shop.example/", "Basic dXM6Z2VoZWlt")], done.stderr
    assert [item["url"] for item in project.items()] == ["http://shop.example/"]
    found = home.python("-m", "crawler.cli", "sessions", "list", "--json").stdout
    assert "shop.example" in found
    shown = [done.stderr.encode(), found.encode()]
    kept = [unpacked(path) for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert any(b"WARC/1.1" in each for each in kept)
    for words in (SECRET.encode(), b"dXM6Z2VoZWlt"):
        assert not any(words in each for each in shown + kept)


@pytest.mark.parametrize("way", VITRINES)
def test_a_cache_is_for_development(home: Home, tmp_path: Path, way: str) -> None:
    """What comes out of it reaches the callback, marked, and is no evidence."""
    project = Project.make(tmp_path / "theirs", home, way, SPIDER, HTTPCACHE_ENABLED=True)
    with farm(1, 1) as sites:
        runs = [project.crawl(sites.starts[0]) for _ in range(2)]
        items = project.items()
        assert sites.asked == {sites.starts[0].removeprefix("http://"): 1}
    assert [done.returncode for done in runs] == [0, 0], runs[1].stderr
    assert [item["flags"] for item in items] == [["cached"]]
    cached, fresh = home.sessions()
    assert (len(fresh["pages"]), cached["pages"], cached["status"]) == (1, [], "completed")
    assert "page.cached" in runs[1].stderr


@pytest.mark.parametrize("way", ["plain", *VITRINES])
@pytest.mark.parametrize("follows", [True, False])
def test_plain_settings_are_the_users(home: Home, tmp_path: Path, way: str, *, follows: bool) -> None:
    """Meta refresh follows METAREFRESH_ENABLED; CONCURRENT_ITEMS is Scrapy's, or the project's."""
    project = Project.make(tmp_path / "theirs", home, way, SPIDER, METAREFRESH_ENABLED=follows)
    refresh = '<meta http-equiv="refresh" content="0; url=/there"><p>moved'
    with farm(1, 1, lambda path: (200, "", refresh) if path == "/" else None) as sites:
        project.crawl(sites.starts[0])
    [item] = project.items()
    assert (item["url"].endswith("/there"), item["at_once"]) == (follows, 100)
