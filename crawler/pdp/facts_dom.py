"""The product's account in what the page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.pdp.account import Account, plain
from crawler.pdp.money import find_money, read_amount
from crawler.pdp.price import shown_price
from crawler.pdp.title import titles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from crawler.pdp.outline import Element
    from crawler.pdp.page import Page

_LIST_PRICE = re.compile(
    r"old|was|regular|list-?price|strike|crossed|compare|rrp|msrp|uvp|before|original|barre|statt|retail",
    re.IGNORECASE,
)
MAX_LOOKED_AT = 60


def account_in_dom(page: Page) -> Account:
    """Read the shown title, price, list price, image and breadcrumbs."""
    title = next(titles(page.outline), None)
    price = shown_price(page)
    return Account(
        name=plain(title[1]) if title else "",
        price=price.amount if price and price.source == "dom" else None,
        currency=price.currency if price and price.source == "dom" else "",
        list_price=next(_list_prices(page), None),
    )


def _list_prices(page: Page) -> Iterator[Decimal]:
    for element in page.outline.hinted("price")[:MAX_LOOKED_AT]:
        if _is_list_price(element):
            text = element.node.text(separator=" ")[:160]
            money = find_money(text)
            amount = money.amount if money else read_amount(text)
            if amount:
                yield amount


def _is_list_price(element: Element) -> bool:
    return element.tag in {"del", "s", "strike"} or bool(_LIST_PRICE.search(element.get("class")[:200]))
