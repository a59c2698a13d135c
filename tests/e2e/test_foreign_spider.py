"""A spider that knows nothing of Vitrine gets gate, evidence and policy by the project's settings alone."""

from __future__ import annotations

import csv
import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

SPIDER = "tests/e2e/foreign_spider.py"
PAGE_SECONDS = 1.0  # the pace at which pages are asked for, where it matters how many are


def run(home: Home, shops: DemoServer, feed: Path, *more: str) -> None:
    """Run the foreign spider on a shop, its items into a feed."""
    done = home.scrapy(
        "runspider", SPIDER, "-a", f"url={shops.url('plain')}",
        "-O", str(feed), "-s", "DOWNLOAD_DELAY=0", *more,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def lines_of(feed: Path) -> list[dict[str, Any]]:
    """A feed of JSON lines."""
    return [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]


def test_its_pages_are_judged_and_kept_in_a_session(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """One session for the domain, one request at a time, each page with its files and its verdict.

    Components of its own cost no promise, though their dicts replace the project's, and the feed of its items
    has the columns that it would have anywhere.
    """
    shops.forget()
    nothing = {"tests.e2e.foreign_spider.Nothing": 600}
    custom = {
        "DOWNLOADER_MIDDLEWARES": nothing, "SPIDER_MIDDLEWARES": nothing, "EXTENSIONS": {},
        "ITEM_PIPELINES": {"tests.e2e.foreign_spider.NeedsTitle": 400},
    }  # fmt: skip
    home.extra["FOREIGN_SETTINGS"] = json.dumps(custom)
    pages = tmp_path / "pages.jsonl"
    run(home, shops, tmp_path / "out.csv", "-s", f"PAGES_FEED={pages}")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as feed:
        items = list(csv.DictReader(feed))
    [session] = home.sessions()
    stored = lines_of(pages)
    assert (session["status"], session["domain"]) == ("completed", shops.domain("plain"))
    assert items[0].keys() == {"title"}
    assert len(stored) == len(items) == len(session["pages"]) > 5
    assert sum(bool(row["is_pdp"]) for row in stored) == len(stored) - 1
    assert {a["storage_uri"] for a in session["artifacts"]} == home.files()
    assert shops.log.peak("plain") == 1


BURST = """
import scrapy

class Burst(scrapy.Spider):
    name = "burst"

    def __init__(self, url, **more):
        super().__init__(**more)
        self.start_urls = [f"{url}?ms=20&page={number}" for number in range(40)]

    def parse(self, response):
        pass
"""


@pytest.mark.soak
def test_without_a_delay_requests_still_go_one_at_a_time(
    home: Home, shops: DemoServer, tmp_path: Path
) -> None:
    """However many the spider begins with: Scrapy itself would send them all at once."""
    shops.forget()
    (tmp_path / "burst.py").write_text(BURST, encoding="utf-8")
    manners = ("-s", "DOWNLOAD_DELAY=0", "-s", "ROBOTSTXT_OBEY=False", "-s", "CAPTURE_PAGES=False")
    done = home.scrapy("runspider", str(tmp_path / "burst.py"), "-a", f"url={shops.url('slow')}", *manners)
    assert (done.returncode, len(shops.log.entries("slow"))) == (0, 40), done.stderr
    assert shops.log.peak("slow") == 1


@pytest.mark.soak
def test_it_may_go_without_evidence(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """CAPTURE_PAGES=False leaves the gate and drops the rest."""
    run(home, shops, tmp_path / "out.jsonl", "-s", "CAPTURE_PAGES=False")
    [session] = home.sessions()
    assert all(row.keys() == {"title"} for row in lines_of(tmp_path / "out.jsonl"))
    assert [a["type"] for a in session["artifacts"]] == ["session_logs_jsonl"]


@pytest.mark.soak
def test_a_cache_is_refused_before_anything_starts(home: Home) -> None:
    """Where the spider keeps its pages itself: old answers are no evidence of today."""
    home.extra["FOREIGN_SETTINGS"] = json.dumps({"HTTPCACHE_ENABLED": True, "CAPTURE_PAGES": False})
    done = home.scrapy("runspider", SPIDER, "-a", "url=http://shop.example/", "-s", "LOG_LEVEL=ERROR")
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error[config]: HTTPCACHE_ENABLED answers with pages of another day")
    assert hint.startswith("hint: HTTPCACHE_ENABLED=False")
    assert not home.path.exists()


@pytest.mark.soak
def test_a_crawl_of_which_nothing_could_be_kept_does_not_go_on(home: Home, tmp_path: Path) -> None:
    """Once in the log, without a traceback for each of its requests, and once where the command ends."""
    (tmp_path / "page.gz").write_bytes(b"no database" * 500)
    home.extra["DATABASE_URL"] = f"sqlite:///{tmp_path / 'page.gz'}"
    done = home.scrapy("runspider", SPIDER, "-a", "url=http://shop.example/", "-s", "LOG_LEVEL=ERROR")
    assert done.returncode == 1
    logged, error, _hint = done.stderr.splitlines()
    assert "crawl.given_up code=database_unavailable" in logged
    assert error.startswith("error[database_unavailable]: ")


def unhurried(home: Home, shops: DemoServer, *more: str) -> subprocess.Popen[str]:
    """Start a crawl that has far more to ask for than it will."""
    shops.forget()
    return home.start_scrapy(
        "runspider", SPIDER, "-a", f"url={shops.url('plain')}", "-s", f"DOWNLOAD_DELAY={PAGE_SECONDS}",
        "-s", "DOWNLOAD_DELAY_JITTER=0", *more,
    )  # fmt: skip


def pages_asked_for(shops: DemoServer) -> int:
    """How many pages the site was asked for."""
    return sum(request.path != "/robots.txt" for request in shops.log.entries("plain"))


@pytest.mark.soak
def test_enough_items_are_enough(home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]) -> None:
    """CLOSESPIDER_ITEMCOUNT counts the spider's items, and what waits for its turn stays here."""
    process = unhurried(home, shops, "-s", "CLOSESPIDER_ITEMCOUNT=3")
    endings.append(process)
    process.communicate(timeout=120)
    [session] = home.sessions()
    # One may be under way when the third comes.
    assert 3 <= pages_asked_for(shops) <= 4
    assert (session["status"], session["cause"], process.returncode) == ("completed", None, 0)
    assert session["error_summary"] == "Stopped by the spider: closespider_itemcount"


@pytest.mark.soak
def test_an_interruption_ends_it_within_seconds(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """Not after all that Scrapy has taken in hand, page by page."""
    process = unhurried(home, shops)
    endings.append(process)
    wait_for(lambda: pages_asked_for(shops) > 1)
    process.send_signal(signal.SIGINT)
    begun, asked = time.monotonic(), pages_asked_for(shops)
    process.communicate(timeout=120)
    # Seven and more were waiting for a second each; the machine may be slow, but not by so many pages.
    assert pages_asked_for(shops) - asked <= 2
    assert process.returncode == 130, time.monotonic() - begun
    [session] = home.sessions()
    assert session["cause"] == "interrupted"
