"""A plain Scrapy spider loses no request to the domain gate, however long others hold the domain."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


SPIDER = "tests/e2e/patient_spider.py"
LIMIT_SECONDS = 2
PAGE_MS = 200
# Without evidence, whose first page waits for a process that reads it: a session is to be full of pages.
PLAIN = ("-s", "DOWNLOAD_DELAY=0", "-s", "CAPTURE_PAGES=False", "-s", "ROBOTSTXT_OBEY=False")


@pytest.fixture
def busy(home: Home, shops: DemoServer) -> DemoServer:
    """The shops, visited by sessions that are short."""
    shops.forget()
    home.extra["SESSION_MAX_SECONDS"] = str(LIMIT_SECONDS)
    return shops


def arguments(urls: str, feed: Path, *more: str, pages: int, ms: int = PAGE_MS) -> tuple[str, ...]:
    """What the spider is started with."""
    asked = ("-a", f"urls={urls}", "-a", f"pages={pages}", "-a", f"ms={ms}")
    return ("runspider", SPIDER, *asked, "-o", f"{feed}:jsonl", *PLAIN, *more)


def numbers(*feeds: Path) -> Counter[str]:
    """How often each page is in the feeds; nothing is lost."""
    rows = [json.loads(line) for feed in feeds for line in feed.read_text(encoding="utf-8").splitlines()]
    assert [row for row in rows if "lost" in row] == []
    return Counter(row["url"].rpartition("page=")[2] for row in rows)


def each_once(pages: int) -> Counter[str]:
    """Every page, once."""
    return Counter(map(str, range(pages)))


def asked(shops: DemoServer, shop: str = "slow") -> int:
    """How many pages a shop was asked for."""
    return len(shops.log.entries(shop))


def numbers_asked(shops: DemoServer) -> Counter[str]:
    """How often the slow shop was asked for each page."""
    return Counter(entry.path.rpartition("page=")[2] for entry in shops.log.entries("slow"))


@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.soak)])
def test_longer_than_a_session_may_last(home: Home, busy: DemoServer, tmp_path: Path, times: int) -> None:
    """The domain is released in time and taken again, by one session after the other."""
    pages = times * LIMIT_SECONDS * 1000 // PAGE_MS
    more = ("-s", f"JOBDIR={tmp_path / 'job'}")
    done = home.scrapy(*arguments(busy.url("slow"), tmp_path / "out", *more, pages=pages), timeout=600)
    assert done.returncode in {0, 3}, done.stderr  # 3: a machine that stops for a second ends a session late
    assert numbers(tmp_path / "out") == each_once(pages)
    assert numbers_asked(busy) == each_once(pages), done.stderr
    assert len(home.sessions()) > times


@pytest.mark.soak
def test_files_of_a_pipeline_wait_as_well(home: Home, busy: DemoServer, tmp_path: Path) -> None:
    """Scrapy downloads them past its scheduler; they need several sessions, and all are there."""
    settings = {"FILES_STORE": tmp_path, "ITEM_PIPELINES": '{"scrapy.pipelines.files.FilesPipeline": 1}'}
    given = (f"page={busy.url('plain')}", f"files={busy.url('slow')}")
    done = home.scrapy(
        "runspider", "tests/e2e/files_spider.py", "-O", str(tmp_path / "out.jsonl"), *PLAIN,
        *(word for each in given for word in ("-a", each)),
        *(word for name, value in settings.items() for word in ("-s", f"{name}={value}")),
    )  # fmt: skip
    assert done.returncode in {0, 3}, done.stderr
    [item] = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [file["status"] for file in item["files"]] == ["downloaded"] * 20
    assert len(home.sessions()) > 2


@pytest.mark.soak
@pytest.mark.parametrize("redis", [False, True], ids=["local", "redis"])
def test_two_crawls_of_one_domain_come_to_their_end(
    home: Home, busy: DemoServer, tmp_path: Path, endings: list[subprocess.Popen[str]],
    request: pytest.FixtureRequest, *, redis: bool,
) -> None:  # fmt: skip
    """They take turns; the site has one visitor at a time, and each log says for whom it waits."""
    if redis:
        home.extra["REDIS_URL"] = request.getfixturevalue("redis_url")
    feeds = [tmp_path / "one", tmp_path / "two"]
    both = [home.start_scrapy(*arguments(busy.url("slow"), feed, pages=10)) for feed in feeds]
    endings += both
    logs = [process.communicate(timeout=120)[1] for process in both]
    assert {process.returncode for process in both} <= {0, 3}, logs
    for feed in feeds:
        assert numbers(feed) == each_once(10)
    assert numbers_asked(busy) == each_once(10) + each_once(10)
    assert busy.log.peak("slow") == 1
    assert any("domain.waiting" in log and "held_by=" in log for log in logs), logs


@pytest.mark.soak
def test_a_domain_that_is_held_keeps_no_other_waiting(
    home: Home, shops: DemoServer, tmp_path: Path, endings: list[subprocess.Popen[str]]
) -> None:
    """Its requests come first and are more than may wait beside the engine; the other's all get through."""
    shops.forget()
    held = [home.start_scrapy(*arguments(shops.url("slow"), tmp_path / "held", ms=2000, pages=1000))]
    endings += held
    wait_for(lambda: asked(shops))
    few = ("-s", "CONCURRENT_REQUESTS=4", "-a", "pause=4")
    urls = f"{shops.url('slow')},{shops.url('plain')}"
    both = home.start_scrapy(*arguments(urls, tmp_path / "both", *few, pages=200, ms=0))
    endings.append(both)
    wait_for(lambda: asked(shops, "plain") == 200)
    assert held[0].poll() is None
    both.send_signal(signal.SIGINT)
    both.communicate(timeout=120)
    assert both.returncode == 130


@pytest.mark.soak
@pytest.mark.parametrize("jobdir", [False, True], ids=["memory", "jobdir"])
def test_a_domain_that_is_never_free(
    home: Home, shops: DemoServer, tmp_path: Path, endings: list[subprocess.Popen[str]], *, jobdir: bool
) -> None:
    """After as long as the user allows the crawl ends with a reason; a JOBDIR has all that is left."""
    shops.forget()
    holder = home.start_scrapy(*arguments(shops.url("slow"), tmp_path / "held", ms=2000, pages=1000))
    endings.append(holder)
    wait_for(lambda: asked(shops))
    keeps = ("-s", f"JOBDIR={tmp_path / 'job'}") if jobdir else ()
    wanted = arguments(shops.url("slow"), tmp_path / "out", *keeps, pages=10, ms=0)
    refused = home.scrapy(*wanted, "-s", "DOMAIN_QUEUE_WAIT_SECONDS=1")
    assert refused.returncode == 5, refused.stderr
    assert "error[domain_held]: waited for too long: " in refused.stderr
    assert "'finish_reason': 'domain_held'" in refused.stderr
    rows: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert len(rows) == (0 if jobdir else 10)  # errbacks were called where nobody keeps the requests
    holder.send_signal(signal.SIGINT)
    holder.communicate(timeout=120)
    if jobdir:
        done = home.scrapy(*wanted)
        assert (done.returncode, numbers(tmp_path / "out")) == (0, each_once(10)), done.stderr


@pytest.mark.soak
def test_an_interrupted_crawl_goes_on_with_what_is_left(
    home: Home, busy: DemoServer, tmp_path: Path, endings: list[subprocess.Popen[str]]
) -> None:
    """Twice, at whatever point of its sessions: each page is asked for once, and comes once."""
    feeds, keeps = [tmp_path / name for name in ("one", "two", "three")], ("-s", f"JOBDIR={tmp_path / 'job'}")
    code, log = 0, ""
    for feed in feeds:
        process = home.start_scrapy(*arguments(busy.url("slow"), feed, *keeps, pages=20))
        endings.append(process)
        if feed is not feeds[-1]:
            before = asked(busy)
            wait_for(lambda before=before: asked(busy) > before + 4)
            time.sleep(LIMIT_SECONDS / 2)
            process.send_signal(signal.SIGINT)
        log = process.communicate(timeout=120)[1]
        code = process.returncode
    assert code in {0, 3}, log
    assert numbers(*feeds) == each_once(20)
    assert numbers_asked(busy) == each_once(20), log
