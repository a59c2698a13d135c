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
# Takes and frees the lock as fast as it can.
GREEDY = """
import pathlib, sys, time
from crawler.db.engine import WriteLock
lock = WriteLock(pathlib.Path(sys.argv[1]))
print("begun", flush=True)
while True:
    with lock.held(10):
        time.sleep(0.005)
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


def test_who_gave_up_does_not_get_it_later(path: Path) -> None:
    """A wait that was given up on lets go at once of what it gets."""
    lock = WriteLock(path)
    with lock.held(1), pytest.raises(LockedError), lock.held(0.05):
        pass
    with lock.held(5):  # it is free, at the latest when the abandoned waiter has passed it on
        pass


def test_who_waits_gets_it_in_turn(path: Path) -> None:
    """First come, first served."""
    order: list[int] = []

    def wait(number: int) -> None:
        with WriteLock(path).held(PATIENCE_SECONDS):
            order.append(number)

    waiters = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
    with WriteLock(path).held(1):
        for waiter in waiters:
            waiter.start()
            time.sleep(0.5)  # nothing tells that it waits
    for waiter in waiters:
        waiter.join(PATIENCE_SECONDS)
    assert order == [0, 1, 2, 3, 4]


def test_a_greedy_writer_does_not_starve_others(path: Path) -> None:
    """Ten turns beside a process that asks again at once."""
    greedy = started(GREEDY, path)
    begun = time.monotonic()
    try:
        for _ in range(10):
            with WriteLock(path).held(PATIENCE_SECONDS):
                pass
    finally:
        ended(greedy)
    assert time.monotonic() - begun < PATIENCE_SECONDS


def test_its_folder_is_made(tmp_path: Path) -> None:
    """The lock comes before the database it guards."""
    with WriteLock(tmp_path / "new" / "vitrine.db.lock").held(1):
        assert (tmp_path / "new").is_dir()
