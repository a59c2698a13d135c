"""Items and their properties, read from elements."""

from __future__ import annotations

import pytest

from crawler.pdp.microdata import value_of
from tests.unit.pdp.pages import page

ITEM = """
<div itemscope itemtype="https://schema.org/Product">
  <h1 itemprop="name">Jug</h1>
  <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
    <meta itemprop="price" content="48.00">
  </div>
  <ul><li itemprop="isRelatedTo" itemscope itemtype="https://schema.org/Product">
    <b itemprop="name">Cup</b></li></ul>
</div>
"""


def test_properties_belong_to_the_nearest_item() -> None:
    """An item may be the value of another's property."""
    product, offer, related = page(ITEM).items
    assert product.types == {"product"}
    assert (product.first("name"), offer.first("price"), related.first("name")) == ("Jug", "48.00", "Cup")
    assert list(product.items("offers")) == [offer]
    assert (offer.parent, offer.role, related.role) == (product, "offers", "isRelatedTo")


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ('<meta itemprop="x" content=" 48 ">', "48"),
        ('<a itemprop="x" href="/p">Jug</a>', "/p"),
        ('<img itemprop="x" src="/j.png">', "/j.png"),
        ('<img itemprop="x" data-src="/j.png">', "/j.png"),
        ('<time itemprop="x" datetime="2026-01-01">today</time>', "2026-01-01"),
        ('<b itemprop="x">A <i>tall</i>\n jug</b>', "A tall jug"),
        ('<b itemprop="x" content="said">shown</b>', "said"),
    ],
)
def test_a_value_is_where_its_element_has_it(html: str, value: str) -> None:
    """In an attribute for some tags, else in the text."""
    [element] = page(html).outline.properties
    assert value_of(element) == value


def test_a_property_outside_of_items_belongs_to_none() -> None:
    """It is an element all the same."""
    outside = page('<b itemprop="name">Jug</b>')
    assert outside.items == ()
    assert len(outside.outline.properties) == 1
