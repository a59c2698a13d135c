"""Soak tests have a bound, end on a signal, and take along what they have started; the longest come first.

`@pytest.mark.soak(minutes=…)` says how long one may take on a machine that has other work: several times what
it needs on two cores of its own. Servers for many tests are in sessions of their own, and are left alone.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from attrs import frozen

from tests.processes import LASTING, below, kill, parent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

T = TypeVar("T")

MINUTES = 15  # where a test does not say
AGAIN_SECONDS = 60  # later, whoever does not clean up in that time loses its processes
CLEANING_SECONDS = 60  # that tests have once somebody wants them to end
FIGURES = "figures"


def minutes_of(item: pytest.Item) -> float | None:
    """The bound of a soak test; None for any other."""
    mark = item.get_closest_marker("soak")
    return None if mark is None else mark.kwargs.get("minutes", MINUTES)


# ── the order ──


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where only soak tests are run, the longest begin: a short run's end is not one long test on its own."""
    bounds = [minutes_of(item) for item in items]
    if None not in bounds:
        items[:] = dealt(items, minutes_of, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def dealt(tests: list[T], minutes: Callable[[T], Any], hands: int) -> list[T]:
    """As many even pieces, each with its longest first: pytest-xdist gives one to each process."""
    falling = sorted(tests, key=minutes, reverse=True)
    pieces = sorted((falling[first::hands] for first in range(hands)), key=len)
    return [test for piece in pieces for test in piece]


# ── the bound ──


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no soak test may do without
def _bounded(request: pytest.FixtureRequest) -> Generator[None]:
    """Raise where the test is, so that it cleans up as after any failure; then end whatever is left of it."""
    minutes = minutes_of(request.node)
    if minutes is None:
        yield
        return
    with ExitStack() as stack:
        stack.callback(end_what_came_after, set(ours()))
        bound_to(stack, minutes * 60, partial(setattr, request.session, "shouldstop", "interrupted"))
        yield


def bound_to(stack: ExitStack, seconds: float, begin_no_other: Callable[[], object]) -> None:
    """React to the time being over, and to the first of any interrupts: cleaning up is not interrupted again.

    What is raised can get lost, in a callback of some library's: even then no other test begins.
    A shell has what it starts in the background ignore the interrupt, so that is said here as well.
    """
    told: list[int] = []

    def out_of_time(*_: object) -> None:
        if told:
            kill(ours())
            return
        told.append(signal.SIGALRM)
        pytest.fail(f"it was not over after {seconds:.0f} s", pytrace=False)

    def interrupted(*_: object) -> None:
        begin_no_other()
        if not told:
            told.append(signal.SIGINT)
            raise KeyboardInterrupt

    for number, reaction in {
        signal.SIGALRM: out_of_time, signal.SIGINT: interrupted, signal.SIGTERM: interrupted
    }.items():  # fmt: skip
        stack.callback(signal.signal, number, signal.signal(number, reaction))
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    stack.callback(signal.setitimer, signal.ITIMER_REAL, 0)


def ours() -> list[int]:
    """The processes below this one, but for those that outlive a test."""
    return [pid for pid in below(os.getpid(), in_session=os.getsid(0)) if pid not in LASTING]


def end_what_came_after(before: set[int]) -> None:
    """Kill the processes that were not there before."""
    kill(set(ours()) - before)


# ── the end by a signal ──


def pytest_keyboard_interrupt() -> None:
    """Pass it on to the processes that run the tests, and wait until these have cleaned up."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    for number in (signal.SIGINT, signal.SIGTERM):  # once is enough
        signal.signal(number, signal.SIG_IGN)
    workers = [pid for pid in ours() if parent_of(pid) == os.getpid()]
    for pid in workers:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
    until = time.monotonic() + CLEANING_SECONDS
    while set(ours()) - set(workers) and time.monotonic() < until:
        time.sleep(0.1)
    kill(set(ours()) - set(workers))


# ── what came of it ──


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Keeps what a test has measured, for the line that tells of it."""
    return lambda said: record_property(FIGURES, said)


@pytest.hookimpl(trylast=True)  # once there is somebody who talks
def pytest_configure(config: pytest.Config) -> None:
    """Have the process that talks to people tell of soak tests."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Teller(reporter.write_line))


@frozen
class Teller:
    """Tells of each soak test when it is over."""

    say: Callable[[str], None]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """How long it took, how it ended, what it measured."""
        if "soak" in report.keywords and (report.when == "call" or report.failed):
            figures = [str(value) for name, value in report.user_properties if name == FIGURES]
            what = " ".join([report.nodeid, *figures])
            self.say(f"\n{report.duration:6.0f} s  {report.outcome}  {what}")
