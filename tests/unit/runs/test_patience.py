"""When to give up."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawler.runs import patience as runs_patience
from crawler.runs.patience import Patience, Threads


def test_it_ends_after_so_long_without_any_success() -> None:
    """Counted from the first failure; a success begins it anew."""
    patience = Patience(seconds=60)
    assert not patience.is_over(1e9)
    assert not patience.note("first", 100)
    assert not patience.note("second", 159.9)
    assert not patience.is_over(159.9)
    assert patience.is_over(160)
    assert patience.error == "second"
    patience.forget()
    assert not patience.is_over(1e9)
    assert not patience.note("third", 1000)


def test_it_ends_after_so_many_in_a_row() -> None:
    """However fast they come."""
    patience = Patience(most=3)
    assert [patience.note("no", 0) for _ in range(3)] == [False, False, True]


class Moody:
    """Fails so many times before it works."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls = 0

    def __call__(self) -> int:
        """Try."""
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError("away")
        return self.calls


def patiently(write: Moody) -> int:
    """Run it in threads, in a loop of its own: pytest-twisted's runs in this thread."""

    async def main() -> int:
        pool = Threads()
        try:
            return await pool.patiently(write)
        finally:
            pool.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


def test_a_write_is_tried_again_for_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last error is raised."""
    monkeypatch.setattr(runs_patience, "PATIENCE_SECONDS", (0.0, 0.0))
    assert patiently(Moody(2)) == 3
    hopeless = Moody(9)
    with pytest.raises(OSError, match="away"):
        patiently(hopeless)
    assert hopeless.calls == 3
