"""What comes from outside is stored in one way."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.storable import plain_amount


@pytest.mark.parametrize(
    ("amount", "shown"), [("19.9", "19.90"), ("19.9000", "19.90"), ("3800", "3800.00"), ("0.0125", "0.0125")]
)
def test_an_amount_has_two_decimals_or_what_it_needs(amount: str, shown: str) -> None:
    """The same on both databases."""
    assert str(plain_amount(Decimal(amount))) == shown
