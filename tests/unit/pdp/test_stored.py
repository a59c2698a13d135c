"""What was stored of a page is read again as the values that it was (SPEC C66, F143)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crawler.pdp import Evidence, Facts, Rating, Signals, Variant, Verdict
from crawler.pdp.features import facts_as_dict, verdict_as_dict
from crawler.pdp.stored import facts_in, verdict_in

VERDICTS = [
    Verdict("v1.2", is_pdp=False, signals=Signals(), reasons=("missing_price", "missing_strong_signal")),
    Verdict(
        "v1.3", is_pdp=True, signals=Signals(has_price=True, has_product_schema=True),
        evidence={"has_price": Evidence("p.price", "€48.00")},
    ),
]  # fmt: skip
JUG = Facts(
    name="Jug", price=Decimal("48.00"), currency="EUR", list_price=Decimal("60.50"), availability="InStock",
    rating=Rating(Decimal("4.5"), None, 12), breadcrumbs=("Home", "Jugs"), sources={"name": "json-ld"},
    variants=(Variant("Small", "J1", Decimal("9.90"), "EUR", ""), Variant("Big", "J2", None, "", "SoldOut")),
    disagreements={"price": {"dom": "47.00"}},
)  # fmt: skip


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: verdict.policy)
def test_a_verdict_is_what_it_was(verdict: Verdict) -> None:
    """By way of JSON, as in a database."""
    assert verdict_in(json.loads(json.dumps(verdict_as_dict(verdict)))) == verdict


@pytest.mark.parametrize("facts", [JUG, Facts()])
def test_facts_are_what_they_were(facts: Facts) -> None:
    """Amounts to the last digit."""
    again = facts_in(json.loads(json.dumps(facts_as_dict(facts))))
    assert again == facts
    assert str(again.price) == str(facts.price)


def test_what_was_not_written_is_empty() -> None:
    """Another version knew less, or more."""
    assert facts_in(None) == facts_in({}) == facts_in({"colour": "red"}) == Facts()
    assert facts_in({"name": "Jug"}) == Facts(name="Jug")
    assert verdict_in(None) is verdict_in({}) is None
    assert verdict_in({"is_pdp": True, "signals": {"has_smell": True}}) == Verdict(
        "", is_pdp=True, signals=Signals()
    )
