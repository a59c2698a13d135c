"""Good and bad input from the command line: one clear line, the right exit code, and the others go on."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-a", "url=not a url"], "error[bad_url]"),
        (
            ["-a", "url=ftp://shop.example/"],
            "error[bad_url]: 'ftp://shop.example/' is not an http or https URL",
        ),
        (["-a", "url=https://user:canary@shop.example/"], "error[bad_url]"),
        (["-a", "url=https:///nohost"], "error[bad_url]"),
        (["-a", "urls=/nowhere/shops.txt"], "error[usage]: /nowhere/shops.txt: No such file"),
        (["-a", "mode=fast", "-a", "url=https://shop.example/"], "error[usage]: -a mode=fast is unknown"),
        (["-a", "ulr=https://shop.example/"], "error[usage]: -a ulr=… is unknown"),
        ([], "error[usage]: there is nothing to crawl"),
        (
            ["-a", "url=https://a.example/", "-s", "DOMAIN_MIN_DELAY_MS=soon"],
            "error[config]: DOMAIN_MIN_DELAY_MS",
        ),
        (["-a", "url=https://a.example/", "-a", "render=2"], "error[usage]: -a render=2"),
        (
            ["-a", "url=https://a.example/", "-a", "render=1", "-s", "CHROMIUM_PATH=/nowhere/chromium"],
            "error[config]: CHROMIUM_PATH",
        ),
    ],
)
def test_a_mistake_costs_one_line(home: Home, arguments: list[str], words: str) -> None:
    """`scrapy crawl` and `vitrine crawl` say what is wrong before anything starts, and exit 2."""
    done = home.scrapy("crawl", "pdp", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "canary" not in done.stderr
    assert not home.files() if home.artifacts.exists() else True


def test_unreachable_sites_are_stored_as_failed(home: Home, shops: DemoServer) -> None:
    """An unknown host, a closed port, an address that may not be fetched: each a session with its cause."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        urls = {
            "http://no-such-host.invalid/": "unknown_host",
            f"http://127.0.0.1:{port}/": "connection_failed",
            "http://10.255.255.1/": "egress_refused",
            "http://[::1]:9/": "egress_refused",
            shops.url("plain"): None,
        }
        sessions = home.crawl(*urls)
    assert {session["url"]: session["cause"] for session in sessions} == urls


def test_a_bad_line_of_a_url_file_is_told_with_its_number(
    home: Home, shops: DemoServer, tmp_path: Path
) -> None:
    """Line 7 is no URL: a stored failed session and a line with the number; the others go on."""
    lines = [shops.url(f"shop-{number:04}") for number in range(1, 4)]
    file = tmp_path / "shops.txt"
    file.write_text("\n".join(["# three shops", "", lines[0], "", lines[1], lines[0], "htp:/what", lines[2]]))
    done = home.vitrine("crawl", "pdp", "--urls", str(file), "--json", "-s", "DOWNLOAD_DELAY=0")
    sessions = json.loads(done.stdout)["sessions"]
    assert done.returncode == 3
    assert "line=7" in done.stderr
    assert {s["url"]: (s["status"], s["cause"]) for s in sessions} == {
        **dict.fromkeys(lines, ("completed", None)),
        "htp:/what": ("failed", "bad_url"),
    }


@pytest.mark.soak(minutes=10)
def test_exit_codes_tell_the_truth(home: Home, shops: DemoServer) -> None:
    """0 completed, 3 partial, 1 failed; of several: 0 all well, 1 none, 3 anything else."""

    def exit_of(*names: str) -> int:
        urls = [shops.url(name) for name in names]
        return home.vitrine("crawl", "pdp", *urls, "-s", "DOWNLOAD_DELAY=0").returncode

    assert exit_of("plain") == 0
    assert exit_of("hub") == 3
    assert exit_of("404") == 1
    assert exit_of("404", "robots-forbids") == 1
    assert exit_of("plain", "404") == 3


def test_a_named_product_page_is_captured_again(home: Home, shops: DemoServer) -> None:
    """`--pdp` takes that page and the site's root, without a search."""
    shops.forget()
    url = shops.url("price-changes", "/products/fogbound-tumbler")
    first, second = (home.crawl("--pdp", url)[0] for _ in range(2))
    assert first["pdp_url"] == second["pdp_url"] == url
    assert [page["page_type"] for page in first["pages"]] == ["homepage", "pdp"]
    assert first["pages"][1]["facts"]["price"] != second["pages"][1]["facts"]["price"]


def test_a_named_page_that_is_no_product_page_is_kept_and_said_to_be_none(
    home: Home, shops: DemoServer
) -> None:
    """The evidence of what it has become stays."""
    [session] = home.crawl("--pdp", shops.url("plain", "/shop/glassware"))
    assert (session["status"], session["cause"]) in {("partial", "not_pdp"), ("partial", "http_error")}


def test_feeds_and_stats_are_scrapys_own(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """`-O` writes what was stored, with the price in it; the log ends with Scrapy's stats."""
    feed = tmp_path / "pages.jsonl"
    done = home.scrapy(
        "crawl", "pdp", "-a", f"url={shops.url('polish')}", "-O", str(feed), "-s", "DOWNLOAD_DELAY=0"
    )
    rows = {row["page_type"]: row for row in map(json.loads, feed.read_text().splitlines())}
    assert done.returncode == 0
    assert (rows["pdp"]["is_pdp"], rows["pdp"]["currency"]) == (True, "PLN")
    assert set(rows["pdp"]["artifacts"]) <= home.files()
    assert "'vitrine/sessions/completed': 1" in done.stderr
    assert "'finish_reason': 'finished'" in done.stderr


def test_scrapy_parse_judges_a_page(home: Home, shops: DemoServer) -> None:
    """`scrapy parse` shows the verdict, and stores no page."""
    url = shops.url("plain", "/products/fogbound-tumbler")
    done = home.scrapy("parse", "--spider", "pdp", "--nolog", "--nocolour", url)
    assert "'is_pdp': True" in done.stdout
    assert "Fogbound Tumbler" in done.stdout
    assert [session["status"] for session in home.sessions()] == ["completed"]


@pytest.mark.soak(minutes=10)
def test_scrapy_fetch_and_shell_take_a_spider_of_ours(home: Home, shops: DemoServer) -> None:
    """Their one request goes out without a session of that spider's."""
    url = shops.url("plain", "/products/fogbound-tumbler")
    assert "Fogbound Tumbler" in home.scrapy("fetch", "--spider", "pdp", "--nolog", url).stdout
    shown = home.scrapy("shell", "--spider", "pdp", "--nolog", "-c", "response.status", url)
    assert shown.stdout.strip() == "200"


def test_logs_as_json_are_one_object_a_line(home: Home, shops: DemoServer) -> None:
    """LOG_FORMAT=json makes every line of a crawl one object, Scrapy's own lines too."""
    home.extra["LOG_FORMAT"] = "json"
    done = home.scrapy("crawl", "pdp", "-a", f"url={shops.url('plain')}", "-s", "DOWNLOAD_DELAY=0")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    started = next(line for line in lines if line["event"] == "session.start")
    assert started.keys() >= {"time", "level", "logger", "session_id", "domain", "url"}
    assert [line for line in lines if line["logger"] == "scrapy.core.engine"]


@pytest.mark.soak(minutes=10)
def test_a_long_url_comes_back(home: Home, shops: DemoServer) -> None:
    """Scrapy's own limit would swallow it, and the session would wait until its time is over."""
    [session] = home.crawl(f"{shops.url('plain')}?long={'y' * 3000}", timeout=90)
    assert (session["status"], len(session["url"]) > 3000) == ("completed", True)
