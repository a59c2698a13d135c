"""A product's account in microdata."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.pdp.account import Account, Rating
from crawler.pdp.facts_microdata import account_in_microdata
from tests.unit.pdp.pages import page

ITEM = '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Jug</h1>{}{}</div>'
OFFER = '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">{}</div>'
PRICE = '<meta itemprop="price" content="48.00"><meta itemprop="priceCurrency" content="EUR">'


def account(said: str = "", offer: str = PRICE) -> Account:
    """What a page says whose product says that."""
    return account_in_microdata(page(ITEM.format(said, OFFER.format(offer))))


@pytest.mark.parametrize(
    ("said", "fact", "value"),
    [
        ('<i itemprop="sku">J-1</i>', "sku", "J-1"),
        ('<i itemprop="gtin13">4006381333931</i>', "gtin", "4006381333931"),
        ('<i itemprop="brand">Kiln</i>', "brand", "Kiln"),
        ('<i itemprop="brand" itemscope><b itemprop="name">Kiln</b></i>', "brand", "Kiln"),
        ('<img itemprop="image" src="/j.png">', "image", "/j.png"),
        (
            '<i itemprop="aggregateRating" itemscope><b itemprop="ratingValue">4,5</b></i>',
            "rating",
            Rating(Decimal("4.5"), None, None),
        ),
        ("", "name", "Jug"),
        ("", "price", Decimal("48.00")),
        ("", "currency", "EUR"),
    ],
)
def test_what_is_read(said: str, fact: str, value: object) -> None:
    """Of the page's own product and its first offer."""
    assert getattr(account(said), fact) == value


def test_a_price_may_be_money() -> None:
    """With its currency beside it, and as the low end of a range."""
    for name in ("price", "lowPrice"):
        found = account(offer=f'<b itemprop="{name}">48,00 €</b>')
        assert (found.price, found.currency) == (Decimal("48.00"), "EUR")


def test_breadcrumbs_of_both_kinds() -> None:
    """A list of steps, or steps that each stand alone."""
    listed = (
        '<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop="itemListElement" itemscope>'
        '<b itemprop="name">Home</b></li></ol>'
    )
    single = '<a itemscope itemtype="http://data-vocabulary.org/Breadcrumb"><b itemprop="title">Home</b></a>'
    for html in (listed, single):
        assert account_in_microdata(page(html)).breadcrumbs == ("Home",)
