"""A Scrapy project of somebody else's, made by `scrapy startproject`, gets all of it by one line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

SPIDER = """
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
        **%s,
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


def project_of(folder: Path, way: str, **custom: object) -> Path:
    """A fresh project, with the one line at the beginning or the end of its settings."""
    subprocess.run(
        [sys.executable, "-m", "scrapy", "startproject", "theirs", str(folder)],
        check=True, capture_output=True, cwd=folder.parent,
    )  # fmt: skip
    settings = folder / "theirs" / "settings.py"
    first, last = WAYS[way]
    settings.write_text(first + settings.read_text(encoding="utf-8") + last, encoding="utf-8")
    (folder / "theirs" / "spiders" / "shop.py").write_text(SPIDER % repr(custom), encoding="utf-8")
    return folder


def in_project(project: Path, home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `scrapy` where the project lies."""
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=project, env=home.environment, text=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
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


@pytest.mark.soak(minutes=10)
@pytest.mark.parametrize("way", WAYS)
def test_a_broken_promise_is_refused_there_as_well(home: Home, tmp_path: Path, way: str) -> None:
    """Whatever command it is that runs the spider."""
    project = project_of(tmp_path / "project", way, HTTPCACHE_ENABLED=True, CAPTURE_PAGES=False)
    done = in_project(project, home, "crawl", "shop", "-a", "url=http://shop.example/")
    assert done.returncode != 0
    assert "\nerror[config]: HTTPCACHE_ENABLED answers with pages of another day" in f"\n{done.stderr}"
    assert "\nhint: HTTPCACHE_ENABLED=False" in done.stderr
    assert not home.path.exists()
