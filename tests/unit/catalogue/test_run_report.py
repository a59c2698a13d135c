"""What a run's report says of it, in one number."""

from __future__ import annotations

import pytest

from crawler.catalogue.run_report import exit_code_of


@pytest.mark.parametrize(
    ("status", "outcomes", "code"),
    [
        ("completed", {"stored": 5}, 0),
        ("completed", {"stored": 5, "filtered": 2, "robots_refused": 1}, 0),
        ("completed", {"stored": 5, "timeout": 1, "robots_refused": 1}, 3),
        ("completed", {"timeout": 5}, 1),
        ("stopped", {"stored": 5}, 3),
        ("stopped", {}, 1),
        ("failed", {"stored": 5}, 1),
        ("running", {"stored": 5}, 3),
    ],
)
def test_the_exit_code_tells_the_truth(status: str, outcomes: dict[str, int], code: int) -> None:
    """0 only where all is there that may be had."""
    finished = outcomes.get("stored", 0)
    tasks = {"pending": 0, "in_progress": 0, "finished": finished, "error": sum(outcomes.values()) - finished}
    assert exit_code_of({"status": status, "tasks": tasks, "outcomes": outcomes}) == code
