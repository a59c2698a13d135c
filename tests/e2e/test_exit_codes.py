"""`scrapy crawl` exits as `vitrine crawl` does: with what became of the sessions, or of the run."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Home, with_status
from tests.e2e.farm import farm
from tests.e2e.test_interruptions import HELD_UP, write_urls
from tests.e2e.test_runs import QUICK, page
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess

    from crawler.demo import DemoServer

AT_ONCE = ("-s", "DOWNLOAD_DELAY=0")
DONE, FAILED, USAGE, PARTLY, LOCKED, INTERRUPTED = 0, 1, 2, 3, 5, 130


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["plain"], DONE),
        (["hub"], PARTLY),
        (["plain", "404"], PARTLY),
        (["404", "403"], FAILED),
    ],
)
def test_sessions(home: Home, shops: DemoServer, names: list[str], code: int) -> None:
    """All well is 0, none well is 1, anything else is 3."""
    urls = [shops.url(name) for name in names]
    done = home.scrapy("crawl", "pdp", "-a", f"url={' '.join(urls)}", *AT_ONCE)
    assert done.returncode == code, done.stderr


@pytest.mark.soak(minutes=10)
def test_an_entry_that_is_no_url_counts_as_a_session(home: Home, shops: DemoServer) -> None:
    """It was asked for, and came to nothing."""
    file = write_urls(home.path.parent / "urls.txt", [shops.url("plain"), "ftp://shop.example/"])
    assert home.scrapy("crawl", "pdp", "-a", f"urls={file}", *AT_ONCE).returncode == PARTLY


@pytest.mark.soak(minutes=10)
def test_a_domain_that_is_held_and_a_signal(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """5 for the one session that does not get its domain; 130 for the crawl that was told to stop."""
    ours = ("crawl", "pdp", "-a", f"url={shops.url('slow')}")
    first = home.start_scrapy(*ours, *HELD_UP)
    endings.append(first)
    wait_for(lambda: with_status(home, "running"))
    assert home.scrapy(*ours, *AT_ONCE).returncode == LOCKED
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=120)
    assert first.returncode == INTERRUPTED


@pytest.mark.soak(minutes=10)
def test_a_crawl_that_was_stopped_twice(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """Nobody is left to say how it ended; it was interrupted all the same."""
    process = home.start_scrapy("crawl", "pdp", "-a", f"url={shops.url('slow')}", *HELD_UP)
    endings.append(process)
    wait_for(lambda: with_status(home, "running"))
    for _ in range(2):
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED


def test_what_cannot_begin(home: Home) -> None:
    """A line and a hint, and the error's own code."""
    for code, arguments in (
        (USAGE, ["-a", "urls=/none"]),
        (FAILED, ["-a", "session=00000000"]),
    ):
        done = home.scrapy("crawl", "pdp", *arguments, "-s", "LOG_LEVEL=ERROR")
        assert done.returncode == code
        assert done.stderr.startswith("error[")
        assert "Traceback" not in done.stderr


def test_runs(home: Home, endings: list[subprocess.Popen[str]]) -> None:
    """0 for all that may be had, 3 where some failed, 1 where none was had, 130 after a signal."""
    quick = Home(home.path, dict(QUICK))

    def special(path: str) -> tuple[int, str, str] | None:
        if path == "/broken":
            return 404, "", ""
        return (200, "", page(["/broken"])) if path == "/some" else None

    with farm(hosts=1, pages=40, special=special) as sites:
        [start] = sites.starts
        for code, given in (
            (DONE, [f"start_url={start}", "max_pages=3"]),
            (PARTLY, [f"start_url={start}some"]),
            (FAILED, [f"start_url={start}broken"]),
            (LOCKED, ["run_id=1"]),
        ):
            pairs = [part for pair in given for part in ("-a", pair)]
            done = quick.scrapy("crawl", "site", *pairs, *AT_ONCE)
            assert done.returncode == code, done.stderr
        sites.asked.clear()
        process = quick.start_scrapy("crawl", "site", "-a", f"start_url={start}", "-s", "DOWNLOAD_DELAY=1")
        endings.append(process)
        wait_for(lambda: sites.asked.total() > 2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        assert process.returncode == INTERRUPTED


def test_a_spider_without_sessions(home: Home) -> None:
    """Saved pages need nobody's leave."""
    saved = "tests/contract/pdp/platform-shopify/page.html"
    assert home.scrapy("crawl", "saved-pages", "-a", f"files={saved}").returncode == DONE
