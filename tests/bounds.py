"""Every soak test has a bound, and ends on a signal; what it has started ends with it."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

SOAK_SECONDS = 2 * 3600  # the longest takes an hour on two cores


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no soak test may do without
def _bounded(request: pytest.FixtureRequest) -> Generator[None]:
    """Raise where the test is, so that it cleans up as after any failure.

    A shell has what it starts in the background ignore the interrupt, so that is said here too.
    """
    if request.node.get_closest_marker("soak") is None:
        yield
        return

    def out_of_time(*_: object) -> None:
        pytest.fail(f"it was not over after {SOAK_SECONDS} s", pytrace=False)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    reactions = {signal.SIGALRM: out_of_time, signal.SIGINT: interrupted}
    with ExitStack() as stack:
        for number, reaction in reactions.items():
            stack.callback(signal.signal, number, signal.signal(number, reaction))
        signal.setitimer(signal.ITIMER_REAL, SOAK_SECONDS)
        stack.callback(signal.setitimer, signal.ITIMER_REAL, 0)
        yield
