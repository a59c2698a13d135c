"""Whether the page shows a price, and which one."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.microdata import value_of
from crawler.pdp.money import find_in_prose, find_money, read_plain
from crawler.pdp.place import selector_of
from crawler.pdp.visible import text_of, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Element
    from crawler.pdp.page import Page

MAX_LOOKED_AT = 60
MAX_PRICE_TEXT = 160
_PRICE_PROPERTIES = {"price", "lowprice"}
_PRICE_METAS = {"product:price:amount", "og:price:amount", "product:sale_price:amount", "twitter:data1"}
_FILTER = re.compile(
    r"filter|range|slider|facet|sort|refine|search|label|alert|match|cart|basket|shipping|versand|total",
    re.IGNORECASE,
)


@frozen(eq=False)
class ShownPrice:
    """An amount that stands on the page, where, and in which words."""

    amount: Decimal
    currency: str
    selector: str
    text: str
    source: str  # microdata, meta or dom


def shown_price(page: Page, *, country: str = "") -> ShownPrice | None:
    """The first price of the page: a declared one, then a price element, then the text."""
    for reader in (_declared, _in_meta, _in_element, _in_text):
        found = next(reader(page, country), None)
        if found is not None:
            return found
    return None


def _declared(page: Page, country: str) -> Iterator[ShownPrice]:
    for element in page.outline.properties[:2000]:
        if _PRICE_PROPERTIES.isdisjoint(element.get("itemprop").lower().split()):
            continue
        text = value_of(element)
        yield from _price(element, text, "microdata", country)


def _in_meta(page: Page, country: str) -> Iterator[ShownPrice]:
    for element in page.outline.by_tag["meta"]:
        name = (element.get("property") or element.get("name")).lower()
        if name in _PRICE_METAS and (name != "twitter:data1" or find_money(element.get("content")[:60])):
            yield from _price(element, element.get("content"), "meta", country)


def _in_element(page: Page, country: str) -> Iterator[ShownPrice]:
    looked = 0
    for element in page.outline.hinted("price"):
        if _FILTER.search(f"{element.get('class')} {element.get('id')}"[:400]):
            continue
        text = (
            text_of(element.node, limit=MAX_PRICE_TEXT * 2)
            or element.get("aria-label")
            or element.get("content")
        )
        if not any(map(str.isdigit, text)) or len(text) > MAX_PRICE_TEXT:
            continue
        looked += 1
        if looked > MAX_LOOKED_AT:
            return
        if not page.surroundings.is_aside(element.node):
            yield from _price(element, text, "dom", country)


def _in_text(page: Page, country: str) -> Iterator[ShownPrice]:
    money = find_in_prose(visible_text(page), country=country)
    if money is not None:
        yield ShownPrice(money.amount, money.currency, "body", money.text, "dom")


def _price(element: Element, text: str, source: str, country: str) -> Iterator[ShownPrice]:
    money = find_money(text[:MAX_PRICE_TEXT], country=country)
    amount = money.amount if money else read_plain(text)
    if amount is not None and amount > 0:
        yield ShownPrice(
            amount, money.currency if money else "", selector_of(element.node), text[:120], source
        )
