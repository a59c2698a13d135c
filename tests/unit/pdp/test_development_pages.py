"""The verdicts on real saved pages stay above recorded floors; the pages are not in this repository."""

from __future__ import annotations

import pytest

from bench import pdp

# A little under what `python -m bench.pdp` measures.
FLOORS = {"v1.2": 0.95, "v1.3": 0.95}
PRICE_FLOOR = 0.75  # shops round, add postage and show the price of another size
CURRENCY_FLOOR = 0.95


@pytest.fixture(scope="module")
def saved() -> list[pdp.SavedPage]:
    """The saved pages, where they are."""
    folder = pdp.pages_folder()
    if folder is None:
        pytest.skip(f"no saved pages: neither {pdp.FOLDER_VARIABLE} nor ../shared/fixtures/pdp-dev is there")
    return pdp.saved_pages(folder)


@pytest.mark.parametrize("policy", FLOORS)
def test_f1_stays_above_its_floor(saved: list[pdp.SavedPage], policy: str) -> None:
    """Precision and recall together do not fall."""
    outcome = pdp.outcome_of(pdp.judged(saved, policy))
    assert outcome.f1 >= FLOORS[policy], str(outcome)


def test_prices_agree_with_structured_data(saved: list[pdp.SavedPage]) -> None:
    """What the page shows as its price is mostly what its structured data says."""
    accuracy = pdp.fact_accuracy(saved)
    assert accuracy.price >= PRICE_FLOOR
    assert accuracy.currency >= CURRENCY_FLOOR
