"""Retries of other people's spiders are Scrapy's: its settings, its meta keys, its function."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.e2e.farm import farm
from tests.e2e.projects import VITRINES, Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak(minutes=5)

SPIDER = """
import scrapy
from scrapy.downloadermiddlewares.retry import get_retry_request

KINDS = {
    "patient": {"max_retry_times": 4},
    "never": {"dont_retry": True, "handle_httpstatus_list": [503]},
}

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, paths="500,429,408,patient,never,late,gone", **more):
        super().__init__(**more)
        self.url, self.paths = url, paths.split(",")

    async def start(self):
        for path in self.paths:
            yield scrapy.Request(f"{self.url}{path}", meta=KINDS.get(path, {}), errback=self.failed)

    def parse(self, response):
        if b"not yet" in response.body:
            return get_retry_request(response.request, spider=self, reason="not_yet", max_retry_times=3)
        return {"path": response.url.rpartition("/")[2], "status": response.status}

    def failed(self, failure):
        return {"path": failure.request.url.rpartition("/")[2], "status": failure.value.response.status}
"""
FAILS = {"/500": 2, "/429": 2, "/408": 1, "/patient": 4, "/gone": 99, "/never": 99}
STATUS = {"/429": 429, "/408": 408, "/never": 503, "/patient": 503, "/gone": 403}


class Moody:
    """A site whose pages fail for a while."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, path: str) -> tuple[int, str, str] | None:
        """Fail as often as the table says; one page says "not yet" three times."""
        self.asked[path] += 1
        if path == "/late" and self.asked[path] <= 3:
            return 200, "", "<p>not yet"
        if self.asked[path] <= FAILS.get(path, 0):
            pause = "Retry-After: 1\r\n" if path == "/429" else ""
            return STATUS.get(path, 500), pause, "<p>no"
        return None


@pytest.mark.parametrize("way", ["plain", *VITRINES])
def test_a_page_recovers_as_it_does_in_plain_scrapy(home: Home, tmp_path: Path, way: str) -> None:
    """By status, by `max_retry_times`, by `get_retry_request`; and 403 is an answer, as ever."""
    site = Moody()
    project = Project.make(tmp_path / "theirs", home, way, SPIDER)
    with farm(1, 1, site) as sites:
        done = project.crawl(sites.starts[0])
    assert "Traceback" not in done.stderr, done.stderr
    assert {item["path"]: item["status"] for item in project.items()} == {
        "500": 200, "429": 200, "408": 200, "patient": 200, "late": 200, "never": 503, "gone": 403,
    }  # fmt: skip
    del site.asked["/robots.txt"]
    assert site.asked == {
        "/500": 3, "/429": 3, "/408": 2, "/patient": 5, "/late": 4, "/never": 1, "/gone": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, 1),
        ({"RETRY_HTTP_CODES": [403]}, 3),
        ({"RETRY_HTTP_CODES": [403], "RETRY_TIMES": 1}, 2),
        ({"RETRY_HTTP_CODES": [403], "RETRY_ENABLED": False}, 1),
    ],
    ids=str,
)
def test_the_settings_mean_what_they_say(
    home: Home, tmp_path: Path, settings: dict[str, object], asked: int
) -> None:
    """How often a page is tried that never comes."""
    project, site = Project.make(tmp_path / "theirs", home, "add-on", SPIDER, **settings), Moody()
    with farm(1, 1, site) as sites:
        project.crawl(sites.starts[0], "-a", "paths=gone")
    assert site.asked["/gone"] == asked


def test_a_pause_that_a_site_asks_for_holds_for_retries(home: Home, tmp_path: Path) -> None:
    """RetryMiddleware knows no Retry-After; the pages behind the one that was refused wait as well."""
    project = Project.make(tmp_path / "theirs", home, "add-on", SPIDER)
    with farm(1, 1, Moody()) as sites:
        done = project.crawl(sites.starts[0], "-a", "paths=429,patient")
    assert len(project.items()) == 2, done.stderr
    elapsed = done.stderr.partition("'elapsed_time_seconds': ")[2].partition(",")[0]
    assert float(elapsed) >= 2
