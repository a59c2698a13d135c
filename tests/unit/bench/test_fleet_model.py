"""A fleet on a virtual clock: what is known beforehand comes out of it, and what is slow is what is full."""

from __future__ import annotations

import pytest
from attrs import evolve

from bench.fleet_model import DATABASE, DISK, REDIS, WORKERS, Costs, Fleet, Simulation

FREE = Costs(
    worker_cpu=0, database_cpu=0, redis_cpu=0, commits=0, commit_seconds=0, look_cpu=0, look_redis=0,
    pages=3, assumed_answer=0.5,
)  # fmt: skip
SMALL = Fleet(workers=2, slots=2, domains=40, turns=2)


def test_where_nothing_costs_anything_sessions_take_what_sites_take() -> None:
    """Three answers and two delays are 3.5 seconds; four at once do 80 of them in 70."""
    came = Simulation(SMALL, FREE).run()
    assert came.sessions == 80
    assert came.most_at_once == 4
    assert came.seconds == pytest.approx(20 * 3.5, abs=1.5)
    assert set(came.busy.values()) == {0}


def test_one_domain_is_visited_again_when_its_delay_is_over() -> None:
    """However many workers there are."""
    came = Simulation(Fleet(workers=50, domains=1, turns=5), FREE).run()
    assert came.most_at_once == 1
    assert came.seconds >= 5 * 3.5 + 4 * 2
    assert came.overlaps == 0


@pytest.mark.parametrize(
    ("costs", "fullest"),
    [
        (evolve(FREE, worker_cpu=5.0), WORKERS),
        (evolve(FREE, database_cpu=5.0), DATABASE),
        (evolve(FREE, look_cpu=3.0), DATABASE),
        (evolve(FREE, redis_cpu=2.0), REDIS),
        (evolve(FREE, commits=3, commit_seconds=20.0), DISK),
    ],
)
def test_what_is_slow_is_full(costs: Costs, fullest: str) -> None:
    """And the fleet is slower for it; no domain has two visitors all the same."""
    came = Simulation(SMALL, costs).run()
    assert came.fullest == fullest
    assert came.rate < Simulation(SMALL, FREE).run().rate
    assert (came.sessions, came.overlaps) == (80, 0)
    assert max(came.busy.values()) <= 1
