"""The demo as a process: it says where it is, serves the same bytes, and ends when it should."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.demo import spawn
from tests.unit.demo.asking import ask, read
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.demo import DemoServer
    from crawler.demo.process import DemoProcess

COMMAND = [sys.executable, "-W", "error", "-m", "crawler.demo"]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[DemoProcess]:
    """A demo in another process."""
    with spawn(bulk=1) as process:
        yield process


def started(*arguments: str) -> subprocess.Popen[str]:
    """A demo that has said where it is."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    place = json.loads(process.stdout.readline())
    assert read(place["shops"]["plain"])
    return process


def test_bytes_are_the_same_across_processes(elsewhere: DemoProcess, demo: DemoServer) -> None:
    """Equal pages have equal bytes, wherever they were made."""
    for shop, path in (("plain", "/"), ("japanese", "/items/asagiri-gurasu"), ("shop-0001", "/c/tea")):
        here, there = ask(demo.url(shop, path)), ask(elsewhere.url(shop, path))
        assert here.body == there.body
        assert here.headers.items() == there.headers.items()


def test_the_process_is_gone_when_the_block_ends() -> None:
    """Nothing listens any more."""
    with spawn() as process:
        url = urlsplit(process.front).geturl()
    with pytest.raises(ConnectionRefusedError):
        ask(url)


@pytest.mark.parametrize("how", ["stdin", "SIGTERM"])
def test_it_ends_quietly_when_told(how: str) -> None:
    """By its parent or by a signal, with status 0 and without a word."""
    with started() as process:
        if how == "stdin":
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(signal.Signals[how])
        assert process.wait(PATIENCE_SECONDS) == 0
        assert process.stderr is not None
        assert not process.stderr.read()


def test_a_port_in_use_is_one_clear_line(elsewhere: DemoProcess) -> None:
    """No traceback, and the exit code of a usage error."""
    done = subprocess.run(
        [*COMMAND, "--port", str(elsewhere.port)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.startswith("error: cannot listen")
    assert len(done.stderr.splitlines()) == 1
