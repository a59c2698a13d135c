"""Good and bad input from the command line: one clear line, the right exit code, and the others go on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def test_a_mistake_costs_one_line(home: Home) -> None:
    """`scrapy crawl` says what is wrong before anything starts, without a password, and exits 2."""
    url = "url=https://user:canary@shop.example/"
    done = home.scrapy("crawl", "pdp", "-a", url, "-s", "LOG_LEVEL=ERROR")
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error[bad_url]")
    assert hint.startswith("hint: ")
    assert "canary" not in done.stderr
    assert not home.artifacts.exists()


def test_feeds_stats_and_logs_are_scrapys_own(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Feeds have what was stored, though a pipeline made dicts of it; LOG_FORMAT=json is for every line."""
    home.extra["LOG_FORMAT"] = "json"
    feeds = ("-O", str(tmp_path / "all.jsonl"), "-s", f"PAGES_FEED={tmp_path / 'pages.jsonl'}")
    as_dicts = ("-s", 'ITEM_PIPELINES={"tests.e2e.foreign_spider.AsDict": 400}')
    url = f"url={shops.url('polish')}"
    done = home.scrapy("crawl", "pdp", "-a", url, *feeds, *as_dicts, "-s", "DOWNLOAD_DELAY=0")
    assert done.returncode == 0, done.stderr
    for feed in ("all.jsonl", "pages.jsonl"):
        rows = {row["page_type"]: row for row in map(json.loads, (tmp_path / feed).read_text().splitlines())}
        assert (rows["pdp"]["is_pdp"], rows["pdp"]["currency"]) == (True, "PLN")
        assert set(rows["pdp"]["artifacts"]) <= home.files()
    assert "'vitrine/sessions/completed': 1" in done.stderr
    assert "'finish_reason': 'finished'" in done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    started = next(line for line in lines if line["event"] == "session.start")
    assert started.keys() >= {"time", "level", "logger", "session_id", "domain", "url"}
    assert [line for line in lines if line["logger"] == "scrapy.core.engine"]


@pytest.mark.soak
def test_scrapy_parse_judges_a_page(home: Home, shops: DemoServer) -> None:
    """`scrapy parse` shows the verdict, and stores no page."""
    url = shops.url("plain", "/products/fogbound-tumbler")
    done = home.scrapy("parse", "--spider", "pdp", "--nolog", "--nocolour", url)
    assert "'is_pdp': True" in done.stdout
    assert "Fogbound Tumbler" in done.stdout
    assert [session["status"] for session in home.sessions()] == ["completed"]


@pytest.mark.soak
def test_scrapy_fetch_and_shell_take_a_spider_of_ours(home: Home, shops: DemoServer) -> None:
    """Their one request goes out without a session of that spider's."""
    url = shops.url("plain", "/products/fogbound-tumbler")
    assert "Fogbound Tumbler" in home.scrapy("fetch", "--spider", "pdp", "--nolog", url).stdout
    shown = home.scrapy("shell", "--spider", "pdp", "--nolog", "-c", "response.status", url)
    assert shown.stdout.strip() == "200"


@pytest.mark.soak
def test_a_long_url_comes_back(home: Home, shops: DemoServer) -> None:
    """Scrapy's own limit would swallow it, and the session would wait until its time is over."""
    [session] = home.crawl(f"{shops.url('plain')}?long={'y' * 3000}", timeout=90)
    assert (session["status"], len(session["url"]) > 3000) == ("completed", True)
