"""When a price is worth a row of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve

from crawler.catalogue.product_facts import PriceTag
from crawler.catalogue.products import CONFIRMED_AFTER, is_news
from crawler.db.models import Price

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TAG = PriceTag("EUR", Decimal("19.90"), None, "InStock")


def last(**columns: Any) -> Price:
    """The newest row of a history."""
    said: dict[str, Any] = {"price": TAG.price, "list_price": None, "availability": "InStock", "seen_at": NOW}
    return Price(**{**said, **columns})


@pytest.mark.parametrize(
    ("changed", "news"),
    [
        ({}, False),
        ({"price": Decimal("19.9000")}, False),
        ({"price": Decimal("18.90")}, True),
        ({"list_price": Decimal(25)}, True),
        ({"availability": "SoldOut"}, True),
        ({"availability": None}, True),
    ],
)
def test_a_change_is_news(changed: dict[str, Any], *, news: bool) -> None:
    """Of the price, the list price or the availability; another spelling is none."""
    assert is_news(last(), evolve(TAG, **changed), NOW) is news


@pytest.mark.parametrize(("before", "news"), [(0, True), (1, False)])
def test_a_day_is_news(before: int, *, news: bool) -> None:
    """So that a flat line is known to be flat."""
    seen_at = NOW - CONFIRMED_AFTER + timedelta(microseconds=before)
    assert is_news(last(seen_at=seen_at), TAG, NOW) is news
