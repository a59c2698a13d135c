"""The verdicts on real saved pages stay above recorded floors; the pages are not in this repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import frozen

from bench import pdp
from crawler.pdp import POLICIES, judge, read_page

if TYPE_CHECKING:
    from crawler.pdp.account import Account

# A little under what `python -m bench.pdp` measures; the second set was not in sight when the rule was made.
FLOORS = {("", "v1.2"): 0.965, ("", "v1.3"): 0.975, ("2", "v1.2"): 0.965, ("2", "v1.3"): 0.975}
PRICE_FLOORS = {"": 0.75, "2": 0.72}  # shops round, add postage and show the price of another size
CURRENCY_FLOOR = 0.95


@frozen
class Seen:
    """A set of saved pages, each of which was read once."""

    number: str
    verdicts: dict[str, list[pdp.Judged]]
    accounts: list[tuple[Account, Account]]  # of product pages


@pytest.fixture(scope="module", params=["", "2"])
def seen(request: pytest.FixtureRequest) -> Seen:
    """A set of saved pages, where it is."""
    folder = pdp.pages_folder()
    folder = folder and folder.with_name(folder.name + request.param)
    if folder is None or not folder.is_dir():
        pytest.skip(f"no saved pages: neither {pdp.FOLDER_VARIABLE} nor ../shared/fixtures/pdp-dev is there")
    found = Seen(request.param, {policy: [] for policy in POLICIES}, [])
    for saved in pdp.saved_pages(folder):
        page = read_page(saved.body, url=saved.url)
        for policy, results in found.verdicts.items():
            results.append(pdp.Judged(saved, judge(page, policy)))
        if saved.is_pdp:
            found.accounts.append(pdp.accounts_of(page))
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_f1_stays_above_its_floor(seen: Seen, policy: str) -> None:
    """Precision and recall together do not fall."""
    outcome = pdp.outcome_of(seen.verdicts[policy])
    assert outcome.f1 >= FLOORS[seen.number, policy], str(outcome)


def test_prices_agree_with_structured_data(seen: Seen) -> None:
    """What the page shows as its price is mostly what its structured data says."""
    accuracy = pdp.agreement(seen.accounts)
    assert accuracy.price >= PRICE_FLOORS[seen.number]
    assert accuracy.currency >= CURRENCY_FLOOR
