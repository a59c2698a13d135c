"""Scrapy projects of somebody else's get all of it by one line, and keep Scrapy's own ways."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
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

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

BOTH_WAYS = pytest.mark.parametrize("way", ["add-on", pytest.param("import", marks=pytest.mark.soak)])
ASKING = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"
    custom_settings = %s

    def __init__(self, url, paths="1,2,broken", proxy=None, **more):
        super().__init__(**more)
        self.urls = [url + path for path in paths.split(",")]
        self.meta = {"proxy": proxy} if proxy else {}

    async def start(self):
        for url in self.urls:
            yield scrapy.Request(url, meta=dict(self.meta))

    def parse(self, response):
        yield {"url": response.url, "flags": response.flags}
"""
SCRIPT = """
import sys
from scrapy.crawler import {process}
from scrapy.utils.project import get_project_settings
from crawler.addon import exit_code

process = {process}(get_project_settings())
crawler = process.create_crawler("shop")
process.crawl(crawler, url=sys.argv[1])
process.start()
sys.exit(exit_code(crawler))
"""
REFUSED = {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver"}
SECRET = "geheim"
OF_STARTPROJECT = """
from scrapy import Spider

class Seen:
    def process_request(self, request):
        request.headers["X-Theirs"] = "1"

class ShopSpider(Spider):
    name = "shop"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {"theirs.spiders.shop.Seen": 600},
        "ADDONS": {},
        "DOWNLOAD_DELAY": 0,
    }

    def __init__(self, url, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""
WAYS = {
    "import": ("from crawler.settings import *\n", ""),
    "add-on": ("", '\nADDONS = {"crawler.addon.Vitrine": 100}\n'),
}


def project_of(folder: Path, way: str) -> Path:
    """A fresh project, with the one line at the beginning or the end of its settings."""
    subprocess.run(
        [sys.executable, "-m", "scrapy", "startproject", "theirs", str(folder)],
        check=True, capture_output=True, cwd=folder.parent,
    )  # fmt: skip
    settings = folder / "theirs" / "settings.py"
    first, last = WAYS[way]
    settings.write_text(first + settings.read_text(encoding="utf-8") + last, encoding="utf-8")
    (folder / "theirs" / "spiders" / "shop.py").write_text(OF_STARTPROJECT, encoding="utf-8")
    return folder


def in_project(project: Path, home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `scrapy` where the project lies."""
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=project, env=home.environment, text=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip


@BOTH_WAYS
def test_a_project_beside_this_one(home: Home, shops: DemoServer, tmp_path: Path, way: str) -> None:
    """Its own spider, its own middleware, its own feed; our gate, our session, our evidence."""
    project = project_of(tmp_path / "project", way)
    url = shops.url("plain")
    done = in_project(project, home, "crawl", "shop", "-a", f"url={url}", "-O", "items.jsonl")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    [item] = [json.loads(line) for line in (project / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert item.keys() == {"title"}
    [session] = home.sessions()
    assert (session["status"], session["domain"]) == ("completed", shops.domain("plain"))
    assert [page["url"] for page in session["pages"]] == [url]


OF_ALL_KINDS = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, **more):
        super().__init__(**more)
        self.url = url

    async def start(self):
        gone = {"handle_httpstatus_list": [404]}
        yield scrapy.Request(self.url + "good")
        yield scrapy.Request(self.url + "raises", self.parse_badly)
        yield scrapy.Request(self.url + "yields", self.yield_badly)
        yield scrapy.Request(self.url + "gone", meta=gone)
        yield scrapy.Request(self.url + "unhandled")
        yield scrapy.Request(self.url + "broken")
        yield scrapy.Request(self.url + "closes", self.close_here, priority=-1)

    def parse(self, response):
        return {"path": response.url.rpartition("/")[2]}

    def parse_badly(self, response):
        raise ValueError("no price in " + response.url)

    def yield_badly(self, response):
        yield {"path": "yields"}
        raise KeyError("price")

    def close_here(self, response):
        raise scrapy.exceptions.CloseSpider("enough")
"""


def special(path: str) -> tuple[int, str, str] | None:
    """Two pages that are not there, with a text of their own, and one that fails."""
    if path == "/broken":
        return 501, "", "<p>no"
    return (404, "", "<h1>Sold out</h1><p>Look elsewhere.") if path in {"/gone", "/unhandled"} else None


def lines_with(done: subprocess.CompletedProcess[str], words: str) -> list[str]:
    """The log's lines that have these words."""
    return [line for line in done.stderr.splitlines() if words in line]


@BOTH_WAYS
def test_a_page_is_kept_whatever_its_callback_does(home: Home, tmp_path: Path, way: str) -> None:
    """It raises, at once or later, or closes the spider; a 404 that it handles is its page.

    What failed is logged with its URL and its cause, and the exit code tells of it.
    """
    project = Project.make(tmp_path / "theirs", home, way, OF_ALL_KINDS)
    pages = tmp_path / "pages.jsonl"
    with farm(1, 1, special) as sites:
        done = project.crawl(sites.starts[0], "-s", f"PAGES_FEED={pages}")
    [session] = home.sessions()
    kept = {page["url"].rpartition("/")[2]: page for page in session["pages"]}
    assert kept.keys() == {"good", "raises", "yields", "gone", "closes"}, done.stderr
    assert (kept["gone"]["http_status"], kept["gone"]["status"]) == (404, "ok")
    assert done.stderr.count("Spider error processing") == 2
    fed = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
    assert {page["url"].rpartition("/")[2] for page in fed} == kept.keys()
    assert {item["path"] for item in project.items()} == {"good", "yields", "gone"}
    files = {(file["page_id"], file["type"]): file["storage_uri"] for file in session["artifacts"]}
    sold_out = home.artifacts / files[kept["gone"]["id"], "html_gz"]
    assert b"Sold out" in gzip.decompress(sold_out.read_bytes())
    [line] = [line for line in lines_with(done, "page.failed") if f"url={sites.starts[0]}broken" in line]
    assert "cause=http_error" in line
    assert done.returncode == 3


POSTS = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, **more):
        super().__init__(**more)
        self.url = url

    async def start(self):
        yield scrapy.Request(self.url, method="HEAD", dont_filter=True)
        yield scrapy.FormRequest(self.url, formdata={"user": "ann", "password": "xyz"}, dont_filter=True)

    def parse(self, response):
        return {"status": response.status}
"""


@pytest.mark.soak
def test_the_answer_to_a_form_is_no_capture_of_its_page(home: Home, tmp_path: Path) -> None:
    """It is kept under an address that names the method; what was sent is not in it, and HEAD has no page."""
    project = Project.make(tmp_path / "theirs", home, "add-on", POSTS)
    with farm(1, 1) as sites:
        done = project.crawl(sites.starts[0])
        assert done.returncode == 0, done.stderr
        [session] = home.sessions()
        assert [page["url"] for page in session["pages"]] == [f"{sites.starts[0]}?__wb_method=POST"]
    assert len(project.items()) == 2


@pytest.mark.soak
@pytest.mark.parametrize("way", VITRINES)
@pytest.mark.parametrize("custom", [REFUSED, {"HTML_RETENTION_DAYS": "abc"}], ids=["promise", "setting"])
def test_a_refusal_is_a_line_and_a_hint(home: Home, tmp_path: Path, way: str, custom: dict[str, str]) -> None:
    """And exit code 2."""
    project = Project.make(tmp_path / "theirs", home, way, ASKING % custom)
    done = project.scrapy("crawl", "shop", "-a", "url=http://127.0.0.1:9/", "-s", "LOG_LEVEL=WARNING")
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error[config]: ")
    assert hint.startswith("hint: ")


@pytest.mark.soak
@pytest.mark.parametrize(
    ("process", "custom", "code"), [("CrawlerProcess", {}, 3), ("AsyncCrawlerProcess", REFUSED, 2)]
)
def test_a_script_can_exit_as_the_command_does(
    home: Home, tmp_path: Path, process: str, custom: dict[str, str], code: int
) -> None:
    """A refusal is a line of the log."""
    project = Project.make(tmp_path / "theirs", home, "add-on", ASKING % custom)
    (project.folder / "run.py").write_text(SCRIPT.format(process=process), encoding="utf-8")
    with farm(1, 5, special) as sites:
        done = project.python("run.py", sites.starts[0])
    assert done.returncode == code, done.stderr
    refusals = lines_with(done, "crawl.refused code=config error=")
    assert len(refusals) == (code == 2)
    assert all("hint=" in line for line in refusals)


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


@pytest.mark.soak
def test_a_proxy_of_a_request_has_its_user_and_password(home: Home, tmp_path: Path) -> None:
    """They are in no log, no row and no WARC file."""
    project = Project.make(tmp_path / "theirs", home, "add-on", ASKING % {}, LOG_LEVEL="DEBUG")
    home.extra["WARC_DIR"] = str(tmp_path / "warc")
    with proxy() as (port, asked):
        done = project.crawl(
            "http://shop.example/", "-a", "paths=", "-a", f"proxy=http://us:{SECRET}@127.0.0.1:{port}"
        )
    assert asked == [("http://shop.example/", "Basic dXM6Z2VoZWlt")], done.stderr
    assert [item["url"] for item in project.items()] == ["http://shop.example/"]
    found = home.python("-m", "crawler.cli", "sessions", "list", "--json").stdout
    assert "shop.example" in found
    shown = [done.stderr.encode(), found.encode()]
    kept = [unpacked(path) for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert any(b"WARC/1.1" in each for each in kept)
    for words in (SECRET.encode(), b"dXM6Z2VoZWlt"):
        assert not any(words in each for each in shown + kept)


@pytest.mark.soak
def test_a_cache_is_for_development(home: Home, tmp_path: Path) -> None:
    """What comes out of it reaches the callback, marked, and is no evidence."""
    project = Project.make(tmp_path / "theirs", home, "add-on", ASKING % {}, HTTPCACHE_ENABLED=True)
    with farm(1, 1) as sites:
        runs = [project.crawl(sites.starts[0], "-a", "paths=") for _ in range(2)]
        items = project.items()
        assert sites.asked == {sites.starts[0].removeprefix("http://"): 1}
    assert [done.returncode for done in runs] == [0, 0], runs[1].stderr
    assert [item["flags"] for item in items] == [["cached"]]
    cached, fresh = home.sessions()
    assert (len(fresh["pages"]), cached["pages"], cached["status"]) == (1, [], "completed")
    assert "page.cached" in runs[1].stderr


class Pausing:
    """A site with a page that asks for a pause twice."""

    asked = 0

    def __call__(self, path: str) -> tuple[int, str, str] | None:
        """The answer to a request for a path."""
        if path != "/broken" or self.asked == 2:
            return None
        self.asked += 1
        return 429, "Retry-After: 1\r\n", "<p>no"


@pytest.mark.soak
def test_a_pause_that_a_site_asks_for_holds_for_retries(home: Home, tmp_path: Path) -> None:
    """RetryMiddleware knows no Retry-After."""
    project = Project.make(tmp_path / "theirs", home, "add-on", ASKING % {})
    with farm(1, 1, Pausing()) as sites:
        done = project.crawl(sites.starts[0])
    assert len(project.items()) == 3, done.stderr
    elapsed = done.stderr.partition("'elapsed_time_seconds': ")[2].partition(",")[0]
    assert float(elapsed) >= 2
