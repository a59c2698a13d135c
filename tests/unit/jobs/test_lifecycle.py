"""The states of a job: which may follow which, and nothing else."""

from __future__ import annotations

from itertools import product

import pytest

from crawler.jobs.lifecycle import FOLLOWS, JobStateError, JobStatus, after_failed_crawl, require_change

WAYS = {
    ("queued", "running"), ("retryable", "running"), ("running", "completed"), ("running", "failed"),
    ("running", "retryable"), ("running", "queued"), ("failed", "retryable"), ("completed", "indexing"),
    ("indexing", "indexed"), ("indexing", "index_failed"), ("indexing", "completed"),
    ("index_failed", "completed"), ("index_failed", "indexing"), ("indexed", "indexing"),
}  # fmt: skip


def test_the_ways_of_a_job() -> None:
    """SPEC 141, and the two ways back when a worker goes away."""
    assert {(before, after) for before, following in FOLLOWS.items() for after in following} == WAYS
    assert set(FOLLOWS) == set(JobStatus)


def test_every_other_change_is_refused_with_both_states_named() -> None:
    """So that its reader knows what was wrong."""
    for before, after in product(JobStatus, JobStatus):
        if (before, after) in WAYS:
            require_change(7, before, after)
            continue
        with pytest.raises(JobStateError, match=f"job 7 is {before}; it cannot become {after}") as refused:
            require_change(7, before, after)
        assert refused.value.exit_code == 5


def test_a_crawl_is_tried_again_so_often() -> None:
    """SPEC 115: two times, unless it is set otherwise."""
    assert [after_failed_crawl(count, 2) for count in range(4)] == [
        "retryable",
        "retryable",
        "failed",
        "failed",
    ]
