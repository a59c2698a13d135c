"""Sessions in a browser, from the command to the files; and the enclosure, from a page that wants out."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from crawler.demo import serve
from crawler.rendering.pictures import SIGNATURE, size_of
from tests.e2e.conftest import QUICK_RENDERING, Home
from tests.e2e.test_recorded_runs import recorded
from tests.processes import OVER, STATE, below, facts_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from crawler.demo import DemoServer
    from tests.programs.browser import InBrowser

PATIENCE_SECONDS = 600  # a browser's crawl takes its time on a busy machine; only a hang takes longer
# What only these programs of a crawl are told.
BROWSER, DRIVER = "--remote-debugging-pipe", "run-driver"
FILES = {
    "html.gz": "html_gz",
    "response.html.gz": "html_gz",
    "screenshot.png": "screenshot",
    "visible_text.txt": "visible_text",
    "features.json": "features_json",
}


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoServer]:
    """The demo's shops, each at an address of its own, none of them 127.0.0.1."""
    with serve(addressing="addresses") as server:
        yield server


@pytest.fixture
def browsing(tmp_path: Path) -> Home:
    """A home whose crawls may visit the shops, and nothing else on this machine."""
    return Home(tmp_path / "home", {**QUICK_RENDERING, "EGRESS_ALLOW": "127.0.1.0/24"})


class Canary:
    """Listens where nobody may knock, on TCP and on UDP, and counts who does."""

    def __init__(self) -> None:
        self.knocks: list[str] = []
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [threading.Thread(target=self._accept), threading.Thread(target=self._receive)]
        for thread in self._threads:
            thread.start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._tcp.accept()
            with connection:
                connection.settimeout(2)
                try:
                    said = connection.recv(200)
                except OSError:
                    said = b""
            if said.startswith(b"the end"):
                return
            self.knocks.append(f"tcp {said[:80]!r}")

    def _receive(self) -> None:
        while True:
            said = self._udp.recv(200)
            if said.startswith(b"the end"):
                return
            self.knocks.append(f"udp {said[:80]!r}")

    def close(self) -> None:
        """Stop listening."""
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            last.sendall(b"the end")
        self._udp.sendto(b"the end", ("127.0.0.1", self.port))
        for thread in self._threads:
            thread.join()
        self._tcp.close()
        self._udp.close()


def test_a_page_that_wants_out_reaches_nobody(
    browsing: Home, shop: DemoServer, in_browser: InBrowser
) -> None:
    """T14 in a browser: every spelling of loopback, metadata services, redirects, sockets, workers, WebRTC.

    A browser without our enclosure reaches a canary of its own from the same page, and may go on with it.
    The session is an ordinary one: four pages with all of their files.
    """
    with closing(Canary()) as reached, closing(Canary()) as canary:
        in_browser(lambda page: page.goto(shop.url("probing", f"/?canary={reached.port}")))
        wait_for(lambda: reached.knocks)
        url = shop.url("probing", f"/?canary={canary.port}")
        [session] = browsing.crawl("-a", "mode=evidence_pack", url, timeout=PATIENCE_SECONDS)
        assert canary.knocks == []
    assert [session[name] for name in ("status", "mode", "render")] == ["completed", "evidence_pack", "1"]
    pages = [(page["page_type"], page["viewport"], page["status"]) for page in session["pages"]]
    assert pages == [
        ("homepage", "desktop", "ok"), ("pdp", "desktop", "ok"), ("homepage", "mobile", "ok"),
        ("pdp", "mobile", "ok"),
    ]  # fmt: skip
    shown = json.loads(browsing.vitrine("sessions", "show", session["id"], "--json").stdout)
    lost = [line["details"]["hosts"] for line in shown["log"] if line["message"] == "render.not_reached"]
    assert len(lost) == 4
    assert "169.254.169.254 refused" in lost[0]
    _has_all_files(browsing, session)
    _has_its_warc(browsing, session, url)
    _is_polite(shop, "probing")


def _has_all_files(home: Home, session: dict[str, Any]) -> None:
    """Each page has its files, named as SPEC F144 has it; HTML of both kinds goes, the rest stays."""
    kept = {
        tuple(artifact["storage_uri"].split("/")[1:]): artifact
        for artifact in session["artifacts"]
        if artifact["page_id"]
    }
    assert set(kept) == {
        (page_type, viewport, name)
        for page_type in ("homepage", "pdp")
        for viewport in ("desktop", "mobile")
        for name in FILES
    }
    for (_, viewport, name), artifact in kept.items():
        assert artifact["type"] == FILES[name]
        assert (artifact["retention_until"] is not None) == name.endswith("html.gz")
        if name == "screenshot.png":
            data = (home.artifacts / artifact["storage_uri"]).read_bytes()
            assert data.startswith(SIGNATURE)
            assert size_of(data)[0] == {"desktop": 1920, "mobile": 390}[viewport]


def _has_its_warc(home: Home, session: dict[str, Any], url: str) -> None:
    """What was sent and received is in one file: robots.txt, documents and what they loaded."""
    [artifact] = [each for each in session["artifacts"] if each["type"] == "warc"]
    assert artifact["retention_until"] is not None
    with (home.artifacts / artifact["storage_uri"]).open("rb") as file:
        answers = {
            str(record.headers["WARC-Target-URI"]): record.reader.read()
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True)
        }
        file.seek(0)
        made = [
            str(record.headers["WARC-Target-URI"]).removeprefix("urn:vitrine:").split(":")[:2]
            for record in ArchiveIterator(file, record_types=WarcRecordType.resource)
        ]
    windows, kinds = ("desktop", "mobile"), ("dom", "screenshot")
    assert sorted(made) == sorted([kind, window] for window in windows for kind in kinds for _ in range(2))
    site = url.partition("/?")[0]
    assert f"{site}/robots.txt" in answers
    assert b"knocks at doors" in answers[url]
    assert any(address.endswith(".svg") for address in answers)
    assert not [address for address in answers if "canary" in address and address != url]
    # They are in the catalogue, but for the documents, which are kept as files.
    kept = {urlsplit(page["url"]).path for page in session["pages"]}
    catalogued = {path for path, _ in recorded(home)}
    assert {"/robots.txt"} < catalogued == {urlsplit(address).path for address in answers} - kept


def _is_polite(shop: DemoServer, name: str) -> None:
    """robots.txt was asked for first, and nothing that it forbids; we say who we are in each window."""
    seen = shop.log.entries(name)
    ours = [entry for entry in seen if "Vitrine/" in entry.user_agent]
    assert ours[0].path == "/robots.txt"
    assert not [entry.path for entry in ours if entry.path.startswith(("/members/", "/account"))]
    assert {"Mobile" in entry.user_agent for entry in ours} == {True, False}


@pytest.mark.soak
def test_auto_renders_what_a_script_fills_and_says_so(browsing: Home, shop: DemoServer) -> None:
    """Two pages in one window; a shop that needs no browser gets none."""
    urls = [shop.url("script-only"), shop.url("plain")]
    sessions = browsing.crawl("-a", "render=auto", *urls, timeout=PATIENCE_SECONDS)
    by_url = {session["url"]: session for session in sessions}
    shell, plain = by_url[shop.url("script-only")], by_url[shop.url("plain")]
    assert [session["status"] for session in sessions] == ["completed"] * 2
    assert len(shell["pages"]) == len(plain["pages"]) == 2
    shown = json.loads(browsing.vitrine("sessions", "show", shell["id"], "--json").stdout)
    reasons = [line["details"]["reason"] for line in shown["log"] if line["message"] == "render.chosen"]
    assert set(reasons) == {"script_shell"}
    assert sum(artifact["type"] == "screenshot" for artifact in shell["artifacts"]) == 2
    assert sum(artifact["type"] == "screenshot" for artifact in plain["artifacts"]) == 0


@pytest.mark.soak
def test_a_browser_that_dies_costs_a_moment(
    browsing: Home, shop: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """It is started anew, and what drives it too; its page is rendered again, and nothing of it is left."""
    slow = Home(browsing.path, {**browsing.extra, "RENDER_MIN_MS": "1500"})
    crawl = slow.start_scrapy(
        "crawl", "pdp", "-s", "DOWNLOAD_DELAY=0", "-a", "render=1", "-a", f"url={shop.url('german')}"
    )
    endings.append(crawl)
    browser = _with_a_page(crawl, shop, BROWSER, set())
    os.kill(browser, signal.SIGKILL)
    _with_a_page(crawl, shop, BROWSER, {browser})
    driver = _with_a_page(crawl, shop, DRIVER, set())
    left = _programs_below(crawl.pid, "")
    os.kill(driver, signal.SIGKILL)
    output = crawl.communicate(timeout=PATIENCE_SECONDS)[1]
    assert crawl.returncode == 0, output[-3000:]
    assert "never retrieved" not in output
    [session] = slow.sessions()
    assert session["status"] == "completed"
    assert len(session["pages"]) == 4
    wait_for(lambda: not any(map(_is_running, left)))


def _with_a_page(crawl: subprocess.Popen[str], shop: DemoServer, named: str, but: set[int]) -> int:
    """One of a crawl's programs, found while a page of the shop is being rendered."""
    found: int = min(wait_for(lambda: _programs_below(crawl.pid, named) - but, PATIENCE_SECONDS))
    asked = len(_rendered_pages(shop))
    wait_for(lambda: len(_rendered_pages(shop)) > asked or crawl.poll() is not None, PATIENCE_SECONDS)
    return found


def _rendered_pages(shop: DemoServer) -> list[str]:
    """The documents that a browser has asked the shop for."""
    asked = [entry.path for entry in shop.log.entries("german") if "Chrome/" in entry.user_agent]
    return [path for path in asked if path == "/" or path.startswith("/products/")]


def _is_running(pid: int) -> bool:
    facts = facts_of(pid)
    return bool(facts) and facts[STATE] not in OVER


def _programs_below(parent: int, named: str) -> set[int]:
    """What a process started, and what that started in turn, whose command has such a word."""
    return {pid for pid in below(parent) if not named or named.encode() in _command_of(pid)}


def _command_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []  # it is gone
