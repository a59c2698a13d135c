"""How fast a run goes."""

from __future__ import annotations

from crawler.runs.worker import LOOKED_BACK_SECONDS, Pace, Standing


def counts(finished: int, pending: int = 0, *, error: int = 0, in_progress: int = 0) -> dict[str, int]:
    """A run's tasks, none of them refused."""
    by_status = {"pending": pending, "in_progress": in_progress, "finished": finished, "error": error}
    return {**by_status, "refused": 0}


def test_at_first_nobody_can_tell() -> None:
    """One look makes no rate, and neither do two at once."""
    pace = Pace()
    assert pace.note(counts(5, 9, error=1, in_progress=2), 100.0) == Standing(5, 1, 0, 11, 0.0, None)
    assert pace.note(counts(6, 8), 100.0).rate == 0


def test_the_rate_is_that_of_lately() -> None:
    """Failures are ends too; what was half a minute ago does not count any more."""
    pace = Pace()
    pace.note(counts(0, 100), 0.0)
    standing = pace.note(counts(8, 90, error=2), 5.0)
    assert (standing.rate, standing.seconds_left) == (2.0, 45.0)
    pace.note(counts(8, 90, error=2), 5.0 + LOOKED_BACK_SECONDS)
    standing = pace.note(counts(38, 60, error=2), 15.0 + LOOKED_BACK_SECONDS)
    assert (standing.rate, standing.seconds_left) == (3.0, 20.0)


def test_a_run_that_stands_still_has_no_end_in_sight() -> None:
    """Rather than an infinite one."""
    pace = Pace()
    pace.note(counts(3, 4), 0.0)
    assert pace.note(counts(3, 4), 10.0).seconds_left is None
