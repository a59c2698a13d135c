"""A recorded run: whatever its WARC files have can be found, shown and listed, page or not."""

from __future__ import annotations

import json
import re
import signal
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from crawler.db.models import Record, WarcFile
from tests.e2e.conftest import Home
from tests.e2e.test_framing import Server
from tests.e2e.test_warc import urls
from tests.unit.web.conftest import serving_on
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator
    from pathlib import Path

QUICK = {
    "DOMAIN_MIN_DELAY_MS": "0",
    "TASK_JITTER_SECONDS": "0",
    "TASK_MAX_RETRIES": "1",
    "PAGE_STORE": "warc",
}
TYPE = b"Content-Type: text/html\r\n"
PAGE = b"<html><title>%s</title><body><h1>%s</h1><p>Earthenware, glazed twice.</p>%s</body></html>"
LINKS = b"".join(b'<a href="%s">x</a>' % path for path in (b"/moved", b"/gone", b"/fails", b"/jug"))
OK = b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n"
ANSWERS = {
    "/": OK + PAGE % (b"Start", b"Start", LINKS),
    "/jug": OK + PAGE % (b"Jug", b"Jug", b""),
    "/bowl": OK + PAGE % (b"Bowl", b"Bowl", b""),
    "/moved": b"HTTP/1.0 301 Moved\r\nLocation: /bowl\r\n" + TYPE + b"\r\n<p>it has moved",
    "/gone": b"HTTP/1.0 404 Not Found\r\n" + TYPE + b"\r\n<h1>no jug here</h1>",
    "/fails": b"HTTP/1.0 500 Oops\r\n" + TYPE + b"\r\n<h1>oops</h1>",
    "/robots.txt": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /secret\n",
}
STATUSES = {
    "/": 200,
    "/jug": 200,
    "/bowl": 200,
    "/moved": 301,
    "/gone": 404,
    "/fails": 500,
    "/robots.txt": 200,
}


@pytest.fixture
def shop() -> Generator[Server]:
    """A shop with pages that moved, are gone, and fail."""
    with Server() as server:
        server.answers = ANSWERS
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def recorded(home: Home) -> list[tuple[str, int | None]]:
    """The paths and statuses of all records that can be shown, in their order."""
    database = home.database()
    with database.read() as db:
        query = select(Record.url, Record.status_code).order_by(Record.captured_at)
        found = [(urlsplit(url).path, status) for url, status in db.execute(query)]
    database.close()
    return found


def crawl(home: Home, shop: Server) -> None:
    """Run through the shop."""
    home.scrapy("crawl", "site", "-a", f"start_url={shop.url()}", "-s", "DOWNLOAD_DELAY=0")


def test_each_answer_of_a_run_is_a_record(tmp_path: Path, shop: Server) -> None:
    """Redirects, errors and robots.txt among them; the search knows pages only."""
    home = Home(tmp_path / "home", QUICK)
    crawl(home, shop)
    there = [urlsplit(url).path for kind, url in urls(home.path / "warcs") if kind == "response"]
    found = recorded(home)
    assert sorted(path for path, _ in found) == sorted(there)
    assert dict(found) == STATUSES
    indexed = json.loads(home.vitrine("snapshots", "index", "--json").stdout)
    assert (indexed["indexed"], indexed["total"]) == (3, 3)
    listed = json.loads(home.vitrine("snapshots", "list", "--json").stdout)["snapshots"]
    assert {urlsplit(each["url"]).path for each in listed} == {"/", "/jug", "/bowl"}
    assert json.loads(home.vitrine("search", "oops", "--json").stdout)["results"] == []


def test_they_are_shown_as_what_they_were(tmp_path: Path, shop: Server) -> None:
    """A redirect leads on within the archive, a missing page is missing, and the CDX server lists both."""
    home = Home(tmp_path / "home", QUICK)
    crawl(home, shop)
    with serving_on(f"sqlite:///{home.path / 'vitrine.db'}", home.path) as serve:
        served = serve()

        def shown(path: str, modifier: str = "mp_") -> tuple[int, str, str]:
            answer = served.get(f"/web/2026{modifier}/{shop.url(path)}")
            return answer.status_code, answer.headers.get("location", ""), answer.text

        status, location, _ = shown("/moved")
        assert (status, re.sub(r"\d{14}", "T", location)) == (302, f"/web/Tmp_/{shop.url('/bowl')}")
        for path, expected, words in (
            ("/gone", 404, "no jug here"),
            ("/fails", 500, "oops"),
            ("/jug", 200, "Jug"),
        ):
            status, _, text = shown(path)
            assert (status, words in text) == (expected, True)
        lines = [
            json.loads(line)
            for line in served.get(f"/web/cdx?url={shop.url('/*')}&output=json").text.splitlines()
        ]
        assert {urlsplit(line["url"]).path: int(line["status"]) for line in lines} == STATUSES


@pytest.mark.soak(minutes=10)
def test_what_is_kept_twice_is_one_capture(tmp_path: Path, shop: Server) -> None:
    """A visit's page has a file of its own beside its WARC file; it is indexed as what was recorded."""
    home = Home(tmp_path / "home", {**QUICK, "WARC_DIR": str(tmp_path / "warcs")})
    home.crawl(shop.url())
    there = [urlsplit(url).path for kind, url in urls(tmp_path / "warcs") if kind == "response"]
    for arguments in ((), ("--force",)):
        indexed = json.loads(home.vitrine("snapshots", "index", "--json", *arguments).stdout)
        assert indexed["indexed"] >= 1
        assert sorted(path for path, _ in recorded(home)) == sorted(there)
    [listed] = json.loads(home.vitrine("snapshots", "list", "--json").stdout)["snapshots"]
    shown = json.loads(home.vitrine("snapshots", "show", str(listed["id"]), "--json").stdout)
    assert (shown["container"], shown["body"]) == ("warc", "there")
    assert "Start" in home.vitrine("snapshots", "cat", str(listed["id"])).stdout


@pytest.mark.soak(minutes=10)
def test_a_killed_run_loses_none(tmp_path: Path, shop: Server, endings: list[subprocess.Popen[str]]) -> None:
    """Whoever opens the folder next writes down what its files have."""
    home = Home(tmp_path / "home", QUICK)
    process = home.start_scrapy("crawl", "site", "-a", f"start_url={shop.url()}", "-s", "DOWNLOAD_DELAY=2")
    endings.append(process)
    wait_for(lambda: "/moved" in shop.asked[:-1])  # it is written before the next request goes out
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert home.vitrine("warcs", "recover").returncode == 0
    there = [urlsplit(url).path for kind, url in urls(home.path / "warcs") if kind == "response"]
    assert "/moved" in there
    assert sorted(path for path, _ in recorded(home)) == sorted(there)
    database = home.database()
    with database.read() as db:
        assert set(db.scalars(select(WarcFile.state))) == {"sealed"}
    database.close()
