"""A product's account in the head."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.pdp.facts_meta import account_in_meta
from tests.unit.pdp.pages import page

TAG = '<meta property="{}" content="{}">'


@pytest.mark.parametrize(
    ("tags", "fact", "value"),
    [
        ({"og:title": "Tall  jug"}, "name", "Tall jug"),
        ({"product:price:amount": "48.00"}, "price", Decimal("48.00")),
        ({"og:price:amount": "$48.00"}, "currency", "USD"),
        ({"product:price:amount": "60", "product:sale_price:amount": "48"}, "price", Decimal(48)),
        ({"product:price:amount": "48", "product:price:currency": "eur"}, "currency", "EUR"),
        ({"product:original_price:amount": "60"}, "list_price", Decimal(60)),
        ({"product:availability": "in stock"}, "availability", "InStock"),
        ({"product:retailer_item_id": "J-1"}, "sku", "J-1"),
        ({"product:ean": "4006381333931"}, "gtin", "4006381333931"),
        ({"og:brand": "Kiln"}, "brand", "Kiln"),
        ({"og:image": "/a.png", "og:image:secure_url": "/b.png"}, "image", "/b.png"),
        ({}, "name", ""),
    ],
)
def test_what_is_read(tags: dict[str, str], fact: str, value: object) -> None:
    """Open Graph and its relatives, whatever their names' case."""
    head = "".join(TAG.format(name.upper(), content) for name, content in tags.items())
    assert getattr(account_in_meta(page(head=head)), fact) == value


def test_the_first_of_a_name_counts() -> None:
    """An empty one is none."""
    head = TAG.format("og:title", "") + TAG.format("og:title", "Jug") + TAG.format("og:title", "Cup")
    assert account_in_meta(page(head=head)).name == "Jug"
