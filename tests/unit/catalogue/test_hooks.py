"""How a page's facts are scored, and how a day's latencies are added up."""

from __future__ import annotations

from decimal import Decimal
from statistics import median
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from crawler.catalogue.hooks import DISAGREEMENT, WEIGHTS, added, median_ms, quality_of
from crawler.pdp import Facts


def test_quality_is_a_hundred_at_most() -> None:
    """All facts and no contradiction; each disagreement costs."""
    said: dict[str, Any] = dict.fromkeys(WEIGHTS, "x")
    facts = Facts(**{**said, "price": Decimal(1), "breadcrumbs": ("a",)})
    assert quality_of(facts) == 100
    contradicted = evolve(facts, disagreements={"name": {}, "price": {}})
    assert quality_of(contradicted) == 100 - 2 * DISAGREEMENT
    assert quality_of(Facts(disagreements={"name": {}})) == 0


@given(st.lists(st.floats(1, 60_000), min_size=1, max_size=50))
def test_the_median_is_right_to_five_percent(latencies: list[float]) -> None:
    """However the day's sessions are added up."""
    counts = added(added({}, latencies[::2]), latencies[1::2])
    lower = sorted(latencies)[(len(latencies) - 1) // 2]
    found = median_ms(counts)
    assert found is not None
    assert abs(found - lower) <= 0.05 * lower + 1
    assert median_ms({}) is None
    assert len(latencies) > 1 or abs(found - median(latencies)) <= 0.05 * lower + 1
