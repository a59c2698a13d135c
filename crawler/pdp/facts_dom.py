"""The product's account in what the page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.errors import BadUrlError
from crawler.pdp.account import Account, plain
from crawler.pdp.currencies import BY_COUNTRY
from crawler.pdp.money import find_money, read_amount
from crawler.pdp.price import is_list_price, price_in_sight
from crawler.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from crawler.pdp.page import Page

MAX_LOOKED_AT = 60


def account_in_dom(page: Page) -> Account:
    """Read the shown title, price, list price, image and breadcrumbs."""
    title = page.title
    price = price_in_sight(page, country=country_of(page))
    return Account(
        name=plain(title[1]) if title else "",
        price=price.amount if price else None,
        currency=price.currency if price else "",
        list_price=next(_list_prices(page), None),
    )


def country_of(page: Page) -> str:
    """The country whose money a shared sign means: by the host's ending, or by the page's language tag."""
    try:
        ending = host_of(page.url).rpartition(".")[2]
    except BadUrlError:
        ending = ""
    if ending in BY_COUNTRY:
        return ending
    language = next((element.get("lang") for element in page.outline.by_tag["html"]), "")
    return language.replace("_", "-").rpartition("-")[2].lower() if "-" in language or "_" in language else ""


def _list_prices(page: Page) -> Iterator[Decimal]:
    for element in page.outline.hinted("price")[:MAX_LOOKED_AT]:
        if is_list_price(element):
            text = element.node.text(separator=" ")[:160]
            money = find_money(text)
            amount = money.amount if money else read_amount(text)
            if amount:
                yield amount
