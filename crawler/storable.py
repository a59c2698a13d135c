"""What comes from outside, made fit to be stored and shown. Pure."""

from __future__ import annotations

from decimal import Decimal


def plain_amount(amount: Decimal) -> Decimal:
    """An amount with two decimals, or with as many more as it needs."""
    short = amount.quantize(Decimal("0.01"))
    return short if short == amount else amount.normalize()
