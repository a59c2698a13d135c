"""What a page says about its product: the sources, who is believed, and who disagrees (SPEC F158)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.pdp import read_facts, read_page
from crawler.pdp.account import Account, Rating
from crawler.pdp.facts import (
    Facts,
    account_in_dom,
    account_in_json,
    account_in_meta,
    account_in_microdata,
    country_of,
)
from tests.unit.pdp.pages import OFFER, page, script

SHOWN = '<h1>Tall jug</h1><p class="price">€50.00</p>'
META = (
    '<meta property="product:price:amount" content="47">'
    '<meta property="product:price:currency" content="EUR">'
)
ITEM = (
    '<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Jug, tall</b>'
    '<i itemprop="offers" itemscope><u itemprop="price">49.00</u></i></div>'
)
TALL_JUG: dict[str, Any] = {"@type": "Product", "name": "Tall jug", "offers": OFFER}


@pytest.mark.parametrize(
    ("head", "body", "price", "source"),
    [
        (script(TALL_JUG) + META, ITEM + SHOWN, "48.00", "json-ld"),
        (META, ITEM + SHOWN, "49.00", "microdata"),
        (META, SHOWN, "47", "meta"),
        ("", SHOWN, "50.00", "dom"),
    ],
)
def test_the_first_source_that_answers_is_believed(head: str, body: str, price: str, source: str) -> None:
    """JSON-LD, then microdata, then the head, then what is seen."""
    facts = read_facts(page(body, head=head))
    assert (facts.price, facts.sources["price"]) == (Decimal(price), source)


def test_what_others_say_is_kept_beside_it() -> None:
    """Where it differs; another wording of a name does not."""
    facts = read_facts(page(ITEM + SHOWN, head=script(TALL_JUG) + META))
    assert facts.disagreements["price"] == {"microdata": "49.00", "meta": "47", "dom": "50.00"}
    assert "currency" not in facts.disagreements


@pytest.mark.parametrize(
    ("more", "is_disputed"),
    [
        ("", True),
        ('<p class="price">€48.00</p>', False),  # another of its prices was seen first
        ("<p>With your card: 48,00 €</p>", False),
        ("<p>Number 48</p>", True),
    ],
)
def test_a_stated_price_is_disputed_where_it_is_shown_nowhere(more: str, *, is_disputed: bool) -> None:
    """And another one is shown instead."""
    facts = read_facts(page(SHOWN + more, head=script(TALL_JUG)))
    assert facts.shows_another_price is is_disputed
    assert ("price" in facts.disagreements) is is_disputed


def test_an_image_is_absolute() -> None:
    """Against the page's address; what cannot be joined stays as it is."""
    for image, whole in (("/j.png", "https://shop.example/j.png"), ("http://[x", "http://[x")):
        assert read_facts(page(head=script({**TALL_JUG, "image": image}))).image == whole


@pytest.mark.parametrize(
    ("price", "currency", "words"),
    [(Decimal("48.00"), "EUR", "48.00 EUR"), (Decimal("48.00"), "", "48.00"), (None, "EUR", "")],
)
def test_a_price_in_words(price: Decimal | None, currency: str, words: str) -> None:
    """With its currency where that is known; a currency alone is no price."""
    assert Facts(price=price, currency=currency).price_in_words == words


@pytest.mark.parametrize(
    ("url", "language", "country"),
    [
        ("https://shop.example.ca/p", "", "ca"),
        ("https://shop.example/p", "en-AU", "au"),
        ("https://shop.example/p", "en", ""),
        ("https://shop.example/p", "zh-Hant-TW", "tw"),
        ("https://shop.example/p", "da", "dk"),
        ("https://shop.example/p", "ca", ""),
    ],
)
def test_the_country_is_that_of_the_host_or_the_language(url: str, language: str, country: str) -> None:
    """Whose money a shared sign means."""
    html = f'<html lang="{language}"><p class="price">$5</p>'
    assert country_of(read_page(html.encode(), url=url)) == country


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
        ({"product:ean": "4006381333931"}, "gtin", "4006381333931"),
        ({"og:image": "/a.png", "og:image:secure_url": "/b.png"}, "image", "/b.png"),
        ({}, "name", ""),
    ],
)
def test_what_is_read_in_the_head(tags: dict[str, str], fact: str, value: object) -> None:
    """Open Graph and its relatives, whatever their names' case."""
    head = "".join(TAG.format(name.upper(), content) for name, content in tags.items())
    assert getattr(account_in_meta(page(head=head)), fact) == value


def test_the_first_of_a_name_counts() -> None:
    """An empty one is none."""
    head = TAG.format("og:title", "") + TAG.format("og:title", "Jug") + TAG.format("og:title", "Cup")
    assert account_in_meta(page(head=head)).name == "Jug"


PRODUCT = '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Jug</h1>{}{}</div>'
ITS_OFFER = '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">{}</div>'
ITS_PRICE = '<meta itemprop="price" content="48.00"><meta itemprop="priceCurrency" content="EUR">'


def said_in_microdata(said: str = "", offer: str = ITS_PRICE) -> Account:
    """What a page says whose product says that."""
    return account_in_microdata(page(PRODUCT.format(said, ITS_OFFER.format(offer))))


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
def test_what_is_read_in_microdata(said: str, fact: str, value: object) -> None:
    """Of the page's own product and its first offer."""
    assert getattr(said_in_microdata(said), fact) == value


def test_a_price_may_be_money() -> None:
    """With its currency beside it, and as the low end of a range."""
    for name in ("price", "lowPrice"):
        found = said_in_microdata(offer=f'<b itemprop="{name}">48,00 €</b>')
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


EUR = {"priceCurrency": "EUR"}
LIST_PRICE = {**EUR, "price": "60", "priceType": "https://schema.org/ListPrice"}
JUG: dict[str, Any] = {"@type": "Product", "name": "Jug", "offers": OFFER}


def said_in_json(**said: Any) -> Account:
    """What a page says whose product says that."""
    return account_in_json(page("<h1>Jug</h1>", head=script({**JUG, **said})))


@pytest.mark.parametrize(
    ("said", "fact", "value"),
    [
        ({"sku": 5}, "sku", "5"),
        ({"gtin13": "4006381333931"}, "gtin", "4006381333931"),
        ({"offers": {**OFFER, "gtin": "4006381333931"}}, "gtin", "4006381333931"),
        ({"gtin13": "4006381333932"}, "gtin", ""),
        ({"brand": {"@type": "Brand", "name": "Kiln"}}, "brand", "Kiln"),
        ({"image": ["/a.png", "/b.png"]}, "image", "/a.png"),
        ({"image": {"@type": "ImageObject", "contentUrl": "/a.png"}}, "image", "/a.png"),
        (
            {"aggregateRating": {"ratingValue": 4.5, "bestRating": 5, "ratingCount": 3}},
            "rating",
            Rating(Decimal("4.5"), Decimal(5), 3),
        ),
        ({"aggregateRating": "4.5"}, "rating", None),
        ({"aggregateRating": {"ratingValue": "101", "ratingCount": 3}}, "rating", None),
        ({"aggregateRating": {"ratingValue": "4,6"}}, "rating", Rating(Decimal("4.6"), None, None)),
        ({"gtin": "gtin:73513537"}, "gtin", "73513537"),
        ({"gtin": "0000000000000"}, "gtin", ""),
        ({"offers": {**OFFER, "availability": "http://schema.org/SoldOut/"}}, "availability", "SoldOut"),
        ({"offers": {**OFFER, "availability": "oos"}}, "availability", "OutOfStock"),
        ({"offers": {**OFFER, "availability": "sold_out"}}, "availability", "SoldOut"),
        ({"offers": {**OFFER, "availability": "perhaps"}}, "availability", ""),
        ({"offers": {**EUR, "lowPrice": "48", "highPrice": "60"}}, "price", Decimal(48)),
        ({"offers": [{**EUR}, {**EUR, "price": 48}]}, "price", Decimal(48)),
        ({"offers": {"priceSpecification": [LIST_PRICE, {**EUR, "price": "48"}]}}, "price", Decimal(48)),
        ({"offers": {**OFFER, "priceSpecification": LIST_PRICE}}, "list_price", Decimal(60)),
        ({"offers": [None, 5, "48"]}, "price", None),
        ({"offers": {**EUR, "price": True}}, "price", None),
        ({}, "price", Decimal("48.00")),
        ({}, "currency", "EUR"),
    ],
)
def test_what_is_read_in_json(said: dict[str, Any], fact: str, value: object) -> None:
    """In the forms that pages use."""
    assert getattr(said_in_json(**said), fact) == value


def test_a_group_has_variants() -> None:
    """The first of them answers for what the group leaves open."""
    variants = [{"@type": "Product", "name": f"Jug {n}", "sku": str(n), "offers": OFFER} for n in (1, 2)]
    found = said_in_json(**{"@type": "ProductGroup", "offers": [], "hasVariant": variants})
    assert (found.sku, found.price) == ("1", Decimal("48.00"))
    assert [(each.name, each.sku, each.price) for each in found.variants] == [
        ("Jug 1", "1", Decimal("48.00")), ("Jug 2", "2", Decimal("48.00")),
    ]  # fmt: skip


def test_several_offers_that_are_told_apart_are_variants() -> None:
    """By their number or name."""
    assert len(said_in_json(offers=[{**OFFER, "sku": "1"}, {**OFFER, "sku": "2"}]).variants) == 2
    assert said_in_json(offers=[OFFER, OFFER]).variants == ()


def test_breadcrumbs_are_those_of_the_page() -> None:
    """Also where it has no product."""
    items = [{"name": "Home"}, {"item": {"name": "Jugs"}}, "x", {}]
    head = script({"@type": "BreadcrumbList", "itemListElement": items})
    assert account_in_json(page(head=head)) == Account(breadcrumbs=("Home", "Jugs"))


def test_title_and_prices_are_read() -> None:
    """The one of now and the one before."""
    found = account_in_dom(page('<h1>Jug</h1><p class="old-price">€60.00</p><p class="price">€48.00</p>'))
    assert (found.name, found.price, found.currency, found.list_price) == (
        "Jug", Decimal("48.00"), "EUR", Decimal("60.00"),
    )  # fmt: skip
