"""Soak tests end: by their bound, by a signal, with whatever they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial

import pytest

from tests.bounds import bound_to, dealt, end_what_came_after, ours
from tests.processes import parent_of

ENDLESS = [sys.executable, "-Sc", "import time; print(flush=True); time.sleep(600)"]


def test_the_longest_begin_on_each_process() -> None:
    """Whatever the number of processes, each gets as many, from its longest to its shortest."""
    assert dealt([1, 5, 3, 4, 2], int, 1) == [5, 4, 3, 2, 1]
    assert dealt([1, 5, 3, 4, 2, 6, 7], int, 3) == [6, 3, 5, 2, 7, 4, 1]
    assert dealt([1], int, 3) == [1]


def wait_bound(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for a process, in a call of the system, under a bound."""
    with ExitStack() as stack:
        bound_to(stack, seconds, list)
        process.wait()


def test_a_test_that_takes_too_long_fails_where_it_is() -> None:
    """However it waits."""
    with subprocess.Popen(ENDLESS, stdout=subprocess.PIPE) as process:
        with pytest.raises(pytest.fail.Exception, match="not over after 0 s"):
            wait_bound(process, 0.01)
        process.kill()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_signal_interrupts_once() -> None:
    """Whoever is impatient does not interrupt the cleaning up; no other test begins."""
    told: list[str] = []
    with ExitStack() as stack:
        bound_to(stack, 600, partial(told.append, "no other"))
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
    assert told == ["no other"] * 2


@pytest.mark.soak  # beside no other tests, whose processes come and go
def test_what_a_test_started_ends_with_it() -> None:
    """Grandchildren too, but for servers, which are in sessions of their own."""
    before = set(ours())
    starter = f"import subprocess; subprocess.run({ENDLESS!r})"
    with (
        subprocess.Popen([sys.executable, "-Sc", starter], stdout=subprocess.PIPE) as process,
        subprocess.Popen(ENDLESS, stdout=subprocess.PIPE, start_new_session=True) as server,
    ):
        for each in (process, server):
            assert each.stdout
            assert each.stdout.readline()
        came = set(ours()) - before
        assert server.pid not in came
        assert {parent_of(pid) for pid in came} >= {os.getpid(), process.pid}
        end_what_came_after(before)
        assert process.wait() == -signal.SIGKILL
        assert server.poll() is None
        server.kill()
