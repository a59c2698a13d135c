"""WARC files of crawls of sites that mean harm, and on disks that do not hold them."""

from __future__ import annotations

import gzip
import json
import os
from base64 import b64encode
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from crawler.errors import ExitCode
from tests.e2e.disks import mounted
from tests.e2e.test_recorded_runs import records, urls
from tests.unit.warc.made import entries

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

CANARY = "kanarie"
HTML = b"<html><title>x</title><h1>x</h1></html>"
PACKED = gzip.compress(HTML)
# What a server may send; of each, what a record has to say of it.
ANSWERS = {
    "/plain": b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: 1\r\nSet-Cookie: b=2\r\nContent-Length: 39\r\n\r\n"
    + HTML,
    "/carriage": b"HTTP/1.1 200 OK\r\nX-A: a\rWARC-Type: forged\r\nContent-Length: 39\r\n\r\n" + HTML,
    "/nul": b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nX\0-B: c\r\nContent-Length: 39\r\n\r\n" + HTML,
    "/latin": b"HTTP/1.1 200 OK\r\nX-A: caf\xe9\r\nContent-Length: 39\r\n\r\n" + HTML,
    "/folded": b"HTTP/1.1 200 OK\r\nX-A: a\r\n WARC-Type: forged\r\nContent-Length: 39\r\n\r\n" + HTML,
    "/odd-status": b"HTTP/1.1 799 \0\x1b[31m\rodd\r\nContent-Length: 39\r\n\r\n" + HTML,
    "/old": b"HTTP/1.0 200 OK\r\n\r\n" + HTML,
    "/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 390\r\n\r\n" + HTML,
    "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n27\r\n" + HTML + b"\r\n0\r\n\r\n",
    "/packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED)
    + PACKED,
    "/large": b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n" + HTML,
    "/grows": b"HTTP/1.1 200 OK\r\n\r\n" + bytes(8000),
    "/nothing": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/same": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "/an-archive": b"HTTP/1.1 200 OK\r\nContent-Type: application/warc\r\nContent-Length: 39\r\n\r\n"
    + b"WARC/1.1\r\nWARC-Type: response\r\n\r\n".ljust(39),
    "/last": b"HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n" + HTML,
}


HEADERS = {
    b"set-cookie", b"x", b"x-a", b"x-b", b"x--b", b"content-length", b"content-encoding", b"content-type",
}  # fmt: skip


class Wire(ThreadingTCPServer):
    """Answers a path with bytes, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.asked: list[bytes] = []

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Connection(StreamRequestHandler):
    server: Wire

    def handle(self) -> None:
        """One request, one answer."""
        lines = []
        while (line := self.rfile.readline()).strip():
            lines.append(line)
        self.server.asked.append(b"".join(lines))
        path = lines[0].split()[1].decode() if lines else ""
        self.wfile.write(ANSWERS.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))


@pytest.fixture
def wire() -> Generator[Wire]:
    """A server that sends what nobody should."""
    with Wire() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_what_a_hostile_site_sends(home: Home, wire: Wire, tmp_path: Path) -> None:
    """Every answer is a whole record, no line of it is ours, and nothing that proves who we are is there."""
    warcs = tmp_path / "warcs"
    done = home.scrapy(
        "runspider", "tests/e2e/secretive_spider.py", "-a", f"url={wire.url}", "-a", f"secret={CANARY}",
        "-a", f"paths={','.join(ANSWERS)}", "-s", "DOWNLOAD_DELAY=0", "-s", f"WARC_DIR={warcs}",
        "-s", "RETRY_ENABLED=0", "-s", "DOWNLOAD_MAXSIZE=4000",
    )  # fmt: skip
    assert done.returncode == ExitCode.PARTLY, done.stderr  # what breaks off is no page
    asked = b"\n".join(wire.asked)
    for number in (4, 5, 8):
        assert f"{CANARY}{number}".encode() in asked  # it was sent
    assert f"{CANARY}3".encode() not in asked  # it is a proxy's, and there is none
    assert b64encode(f"{CANARY}1:{CANARY}2".encode()) in asked
    found = [each for path in warcs.iterdir() for each in entries(path.read_bytes())]
    answers = {
        str(each.head.url).removeprefix(wire.url): each for each in found if each.head.kind == "response"
    }
    # A header with NUL in its name or value is none that HTTP knows: nothing of that answer gets through.
    assert set(answers) == {*ANSWERS, "/robots.txt"} - {"/nul"}
    assert {each.head.kind for each in found} == {"warcinfo", "request", "response"}
    assert {(each.block_ok, each.payload_ok) for each in found} <= {(True, True), (True, None)}
    for each in answers.values():
        assert each.message is not None
        assert {name.lower() for name, _ in each.message.headers} <= HEADERS
    plain = answers["/plain"].message
    assert plain is not None
    assert [value for name, value in plain.headers if name.lower() == b"set-cookie"] == [b"a=1", b"b=2"]
    truncated = {path: each.head.get("warc-truncated") for path, each in answers.items()}
    why = {"/cut": "disconnect", "/large": "length", "/grows": "length"}
    assert {path: word for path, word in truncated.items() if word} == why
    assert answers["/packed"].block.endswith(PACKED)
    assert answers["/chunked"].block.endswith(HTML)
    written = b"".join(gzip.decompress(path.read_bytes()) for path in warcs.iterdir())
    secrets = [CANARY.encode(), b64encode(f"{CANARY}1:{CANARY}2".encode())]
    assert [secret for secret in secrets if secret in written] == []
    assert os.uname().nodename.encode() not in written
    assert str(home.path).encode() not in written
    assert len(urls(warcs)) == len(found)


def crawled(home: Home, shops: DemoServer, folder: Path) -> subprocess.CompletedProcess[str]:
    """A run that records what it sends."""
    return home.scrapy(
        "crawl", "site", "-a", f"start_url={shops.url('plain')}", "-a", "max_pages=30",
        "-s", "DOWNLOAD_DELAY=0", "-s", f"WARC_DIR={folder}",
    )  # fmt: skip


@pytest.mark.soak
def test_a_disk_that_is_full(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """The crawl ends and says why; what is there is whole, each row has its bytes; with room it goes on."""
    folder = tmp_path / "warcs"
    with mounted(folder, "size=48k") as remount:
        done = crawled(home, shops, folder)
        assert done.returncode == 1, done.stderr
        assert "disk_full" in done.stderr
        assert home.vitrine("warcs", "recover", str(folder)).returncode == 0
        for path in folder.iterdir():
            assert path.name.endswith(".warc.gz")
            assert records(path)
        assert json.loads(home.vitrine("artifacts", "verify", "--json").stdout)["pages_failed"] == []
        remount("size=16m")
        resumed = home.vitrine("runs", "resume", "1", "-s", "DOWNLOAD_DELAY=0", "-s", f"WARC_DIR={folder}")
        assert resumed.returncode == 0, resumed.stderr
        done_with = tasks(home)
        assert done_with == {"finished": 27, "error": 3}  # robots.txt forbids three of them
        found = json.loads(home.vitrine("artifacts", "verify", "--json").stdout)
        assert (found["pages_checked"], found["pages_failed"]) == (27, [])


@pytest.mark.soak
def test_a_folder_that_cannot_be_written(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Nothing is asked of the site; one line says what is wrong."""
    folder = tmp_path / "warcs"
    with mounted(folder, "ro"):
        shops.forget()
        done = crawled(home, shops, folder)
        assert done.returncode not in {0, 3}
        assert "Read-only file system" in done.stderr
        assert "Traceback" not in done.stderr
        assert shops.log.entries() == []


def tasks(home: Home) -> dict[str, Any]:
    """Those of the run that there are."""
    said: dict[str, int] = json.loads(home.vitrine("runs", "show", "1", "--json").stdout)["tasks"]
    return {status: count for status, count in said.items() if count}
