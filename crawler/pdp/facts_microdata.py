"""The product's account in microdata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pdp.account import Account, availability_name, gtin_of, plain, rating_of
from crawler.pdp.money import currency_of, find_money, read_plain

if TYPE_CHECKING:
    from decimal import Decimal

    from crawler.pdp.microdata import Item
    from crawler.pdp.page import Page

_GTIN_NAMES = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "isbn", "productID")
MAX_BREADCRUMBS = 20


def account_in_microdata(page: Page) -> Account:
    """Read the page's own microdata product and its first offer."""
    item = page.product_item
    account = Account(breadcrumbs=_breadcrumbs(page))
    if item is None:
        return account
    offer = next((offer for offer in item.items("offers")), item)
    account.price, account.currency = _price(offer)
    account.currency = currency_of(offer.first("priceCurrency")) or account.currency
    account.availability = availability_name(offer.first("availability") or item.first("availability"))
    account.name = plain(item.first("name"))
    account.sku = plain(item.first("sku") or offer.first("sku"))
    account.mpn = plain(item.first("mpn"))
    account.gtin = next(
        (code for name in _GTIN_NAMES if (code := gtin_of(item.first(name) or offer.first(name)))), ""
    )
    account.brand = plain(_text_or_name(item, "brand") or _text_or_name(item, "manufacturer"))
    account.image = plain(item.first("image"))
    rating = next(item.items("aggregateRating"), None)
    if rating is not None:
        count = rating.first("reviewCount") or rating.first("ratingCount")
        account.rating = rating_of(rating.first("ratingValue"), rating.first("bestRating"), count)
    return account


def _price(offer: Item) -> tuple[Decimal | None, str]:
    for name in ("price", "lowPrice"):
        text = offer.first(name)
        money = find_money(text[:160])
        if money is not None:
            return money.amount, money.currency
        amount = read_plain(text)
        if amount:
            return amount, ""
    return None, ""


def _text_or_name(item: Item, name: str) -> str:
    return item.first(name) or next((inner.first("name") for inner in item.items(name)), "")


def _breadcrumbs(page: Page) -> tuple[str, ...]:
    for item in page.items:
        if "breadcrumblist" in item.types:
            elements = list(item.items("itemListElement"))[:MAX_BREADCRUMBS]
            return tuple(
                name
                for element in elements
                if (name := plain(_text_or_name(element, "name") or _item_name(element)))
            )
    singles = [item.first("title") for item in page.items if "breadcrumb" in item.types]
    return tuple(name for text in singles[:MAX_BREADCRUMBS] if (name := plain(text)))


def _item_name(element: Item) -> str:
    return next((inner.first("name") for inner in element.items("item")), "")
