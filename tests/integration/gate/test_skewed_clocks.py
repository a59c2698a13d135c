"""Processes whose wall clocks are wrong by minutes and hours: nobody comes early, and nobody is put out.

A server's clock decides, whatever its clients believe. A SQLite file has only the clock of the machine, which
all its users share: it may be wrong, but they cannot disagree about it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.embedded.skew import skewed_by
from tests.integration.gate.history import Interval, gaps, overlaps
from tests.integration.gate.test_processes import Worker, all_lines, next_line, worker

if TYPE_CHECKING:
    from pathlib import Path

MINUTE, HOUR = 60, 3600
SKEWS = (-3 * HOUR, 20 * MINUTE, 5 * HOUR, -7 * MINUTE)
DELAY_MS = 50


def test_wrong_clocks_let_nobody_in_early(store_url: str, wrong_clock: Path) -> None:
    """Two processes, which disagree by hours, and six sessions."""
    require_order(visits(store_url, wrong_clock, SKEWS[:2], sessions=6, seconds=0.2))


@pytest.mark.soak(minutes=20)
def test_wrong_clocks_for_minutes(store_url: str, wrong_clock: Path) -> None:
    """Four processes, which disagree by up to eight hours, and six hundred sessions."""
    require_order(visits(store_url, wrong_clock, SKEWS, sessions=600, seconds=0.1))


def visits(
    store_url: str, wrong_clock: Path, skews: tuple[int, ...], *, sessions: int, seconds: float
) -> list[list[dict[str, Any]]]:
    """What processes said that visit one domain at the same time."""
    if store_url.startswith("sqlite"):
        skews = (skews[0],) * len(skews)
    order = {
        "task": "visit", "store": store_url, "min_delay_ms": DELAY_MS, "queue_wait_seconds": 600,
        "seconds": seconds, "is_told_to_begin": True,
    }  # fmt: skip
    shares = [[f"session-{n}" for n in range(sessions)][first :: len(skews)] for first in range(len(skews))]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(worker(skewed_by(skew, wrong_clock), **order, sessions=share))
            for skew, share in zip(skews, shares, strict=True)
        ]
        for process in workers:
            assert next_line(process) == {"event": "ready"}
        begun = [told_to_begin(process) for process in workers]  # whose clock is behind comes first
        # side by side: who cannot say more stands still, with the domain in its hands
        with ThreadPoolExecutor(len(workers)) as readers:
            said = [
                [*lines, *more] for lines, more in zip(begun, readers.map(all_lines, workers), strict=True)
            ]
    right = time.time() - time.monotonic()
    for skew, lines in zip(skews, said, strict=True):
        told = next(line for line in lines if line["event"] == "begun")
        assert told["wall"] - told["start"] - right == pytest.approx(skew, abs=MINUTE)
    assert sum(line["event"] == "visited" for lines in said for line in lines) == sessions
    return said


def told_to_begin(process: Worker) -> list[dict[str, Any]]:
    """What it says until it has a domain, or waits for one."""
    print(file=process.stdin, flush=True)
    said = [next_line(process)]
    while said[-1]["event"] not in {"begun", "lock.queue.wait"}:
        said.append(next_line(process))
    return said


def require_order(said: list[list[dict[str, Any]]]) -> None:
    """One at a time, none before the delay was over, and nobody lost what it had."""
    found = [
        Interval(line["start"], line["end"], line["session"])
        for lines in said
        for line in lines
        if line["event"] == "visited"
    ]
    assert overlaps(found) == []
    assert min(gaps(found)) >= DELAY_MS
    events = {line["event"] for lines in said for line in lines}
    assert not events & {"lost", "lock.lost", "lock.release.stale", "lock.acquire.timeout"}
