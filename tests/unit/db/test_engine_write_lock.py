"""One writer at a time, in the order of their coming, and no wait without an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from crawler.db.engine import WriteLock
from crawler.errors import LockedError
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

# Takes the lock, says so, and waits to be ended.
HOLDER = """
import pathlib, sys
from crawler.db.engine import WriteLock
with WriteLock(pathlib.Path(sys.argv[1])).held(10):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the lock lies."""
    return tmp_path / "vitrine.db.lock"


def started(program: str, path: Path) -> subprocess.Popen[str]:
    """Another process, once it has said its word."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline()
    return process


def ended(process: subprocess.Popen[str]) -> None:
    """End it as a crash would."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def test_two_do_not_hold_it(path: Path) -> None:
    """Who comes second waits, and is told when it was too long."""
    refused = pytest.raises(LockedError, match=r"has been writing for 0\.05 seconds")
    with WriteLock(path).held(1), refused as caught, WriteLock(path).held(0.05):
        pytest.fail("both hold it")
    assert caught.value.exit_code == 5
    with WriteLock(path).held(5):  # an abandoned wait lets go at once of what it gets
        pass


def test_it_is_free_after_an_error(path: Path) -> None:
    """Whatever ends the block."""
    lock = WriteLock(path)
    with pytest.raises(ZeroDivisionError), lock.held(1):
        _ = 1 // 0
    with lock.held(0):
        pass


def test_it_is_free_when_its_holder_dies(path: Path) -> None:
    """The kernel knows; nobody has to clean up."""
    holder = started(HOLDER, path)
    with pytest.raises(LockedError), WriteLock(path).held(0.05):
        pass
    ended(holder)
    with WriteLock(path).held(1):
        pass


def test_who_waits_gets_it_in_turn(path: Path) -> None:
    """First come, first served."""
    order: list[int] = []

    def wait(number: int) -> None:
        with WriteLock(path).held(PATIENCE_SECONDS):
            order.append(number)

    waiters = [threading.Thread(target=wait, args=(number,)) for number in range(3)]
    with WriteLock(path).held(1):
        for waiter in waiters:
            waiter.start()
            time.sleep(0.5)  # nothing tells that it waits
    for waiter in waiters:
        waiter.join(PATIENCE_SECONDS)
    assert order == [0, 1, 2]
