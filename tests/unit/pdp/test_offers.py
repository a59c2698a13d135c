"""What a product in structured data is offered for."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.pdp.offers import Offer, offer_of

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


def test_a_list_price_stands_beside_it() -> None:
    """With the availability as a bare name."""
    offer = {
        **EUR, "price": "48", "availability": "https://schema.org/InStock/",
        "priceSpecification": {"price": "60", "priceType": "https://schema.org/StrikethroughPrice"},
    }  # fmt: skip
    assert offer_of({"offers": offer}) == Offer(Decimal(48), "EUR", Decimal(60), "InStock")
