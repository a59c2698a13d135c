"""What a product in structured data is offered for."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.pdp.offers import Offer, amount_in, as_list, offer_of

EUR = {"priceCurrency": "EUR"}


@pytest.mark.parametrize(
    ("offers", "amount"),
    [
        ({**EUR, "price": "48.00"}, "48.00"),
        ({**EUR, "price": 48}, "48"),
        ({**EUR, "lowPrice": "48", "highPrice": "60"}, "48"),
        ([{**EUR}, {**EUR, "price": "48"}], "48"),
        ({**EUR, "offers": [{**EUR, "price": "48"}]}, "48"),
        ({"priceSpecification": {**EUR, "price": "48"}}, "48"),
        (
            {"priceSpecification": [
                {**EUR, "price": "60", "priceType": "https://schema.org/ListPrice"}, {**EUR, "price": "48"},
            ]},
            "48",
        ),
    ],
)  # fmt: skip
def test_an_offer_is_where_its_price_is(offers: Any, amount: str) -> None:
    """In the offer, in one of several, in the range's low end, or in its specification."""
    found = offer_of({"offers": offers})
    assert found is not None
    assert (found.amount, found.currency) == (Decimal(amount), "EUR")


def test_a_variant_answers_for_its_group() -> None:
    """Where the group itself asks for nothing."""
    found = offer_of({"hasVariant": [{"name": "Red"}, {"offers": {**EUR, "price": "48"}}]})
    assert found is not None
    assert found.amount == 48


def test_a_list_price_stands_beside_it() -> None:
    """With the availability as a bare name."""
    offer = {
        **EUR, "price": "48", "availability": "https://schema.org/InStock/",
        "priceSpecification": {"price": "60", "priceType": "https://schema.org/StrikethroughPrice"},
    }  # fmt: skip
    assert offer_of({"offers": offer}) == Offer(Decimal(48), "EUR", Decimal(60), "InStock")


@pytest.mark.parametrize("product", [{}, {"offers": []}, {"offers": "48"}, {"offers": [None, 5]}])
def test_nothing_is_offered(product: dict[str, Any]) -> None:
    """Whatever stands there instead."""
    assert offer_of(product) == Offer()


def test_an_amount_may_be_written_in_many_ways() -> None:
    """As a number, a text or a list; truth is none."""
    values: list[Any] = ["48.50", 48, ["48"], True, None, {}, "free"]
    assert [amount_in(value) for value in values] == [
        Decimal("48.50"), Decimal(48), Decimal(48), None, None, None, None,
    ]  # fmt: skip
    assert (as_list(None), as_list(5), as_list([5])) == ([], [5], [5])
