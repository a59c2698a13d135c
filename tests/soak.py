"""Soak tests: each has a bound, takes along the processes that it started, and tells what it measured.

`@pytest.mark.soak(minutes=…)` says how long one may take on a machine that has other work.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from attrs import frozen

from tests.processes import below, kill

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

MINUTES = 15  # where a test does not say
AGAIN_SECONDS = 60  # later, a test that did not end has its processes killed
FIGURES = "figures"


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no soak test may do without
def _bounded(request: pytest.FixtureRequest) -> Generator[None]:
    """Fail where the test is when its time is over, so that it cleans up as after any failure."""
    mark = request.node.get_closest_marker("soak")
    if mark is None:
        yield
        return
    before = _ours()
    minutes = mark.kwargs.get("minutes", MINUTES)
    is_over = False

    def out_of_time(*_: object) -> None:
        nonlocal is_over
        if is_over:
            kill(_ours() - before)
            return
        is_over = True
        pytest.fail(f"it was not over after {minutes} minutes", pytrace=False)

    earlier = signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, minutes * 60, AGAIN_SECONDS)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, earlier)
    kill(_ours() - before)


def _ours() -> set[int]:
    """The processes below this one, but for servers, which have sessions of their own."""
    return set(below(os.getpid(), in_session=os.getsid(0)))


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Keeps what a test has measured, for the line that tells of it."""
    return lambda said: record_property(FIGURES, said)


@pytest.hookimpl(trylast=True)  # once there is a reporter
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
