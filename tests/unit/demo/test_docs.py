"""The demo's page in the documentation says what the tables in the code say."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.demo import DEMO_SIX, SHOPS
from crawler.demo.scenarios import SCENARIOS

PAGE = (Path(__file__).parents[3] / "docs" / "demo-shop.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHOPS)
def test_every_shop_has_its_line(name: str) -> None:
    """With its purpose and how a visit ends."""
    shop = SHOPS[name]
    end = f"{shop.status}: {shop.summary}" if shop.summary else shop.status
    assert f"| `{name}` | {shop.purpose} | {end} |" in PAGE


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_has_its_line(name: str) -> None:
    """With its parameters and their defaults."""
    assert f"| `{name}` | {SCENARIOS[name].purpose} |" in PAGE


def test_no_line_is_left_over() -> None:
    """What is gone from the code is gone from the page."""
    shops, _, scenarios = PAGE.partition("## Scenarios")
    assert shops.partition("## Shops")[2].count("\n| `") == len(SHOPS)
    assert scenarios.count("\n| `") == len(SCENARIOS)


def test_the_six_are_named() -> None:
    """In the order in which they are visited."""
    *first, last = [f"`{shop.name}`" for shop in DEMO_SIX]
    assert f"`make demo` visits {', '.join(first)} and {last}." in PAGE
