"""Whether the page shows a price, and which one."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.html.visible import blocks_of, text_of
from crawler.pdp.money import amounts_in, find_in_prose, find_money, read_plain
from crawler.pdp.place import ancestors, selector_of
from crawler.pdp.structured_data import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from crawler.pdp.money import Money
    from crawler.pdp.outline import Element
    from crawler.pdp.page import Page

MAX_LOOKED_AT = 60
MAX_PRICE_TEXT = 160
MAX_BLOCKS = 8
MAX_CROSSED = 3
MAX_BLOCK_TEXT = 1_500
MAX_TEXT_BLOCKS = 20
_PRICE_PROPERTIES = {"price", "lowprice"}
_PRICE_METAS = {"product:price:amount", "og:price:amount", "product:sale_price:amount", "twitter:data1"}
CROSSED_OUT = frozenset({"del", "s", "strike"})
_LIST_PRICE = re.compile(
    r"(?:^|[-_ ])(?:old|was|regular|list|strike\w*|crossed|compare"
    r"|rrp|msrp|uvp|before|original|barre|retail|high)(?:[-_ ]|$)",
    re.IGNORECASE,
)
# Words before what a price once was; the price of now comes after it.
_ONCE = re.compile(
    r"\b(?:was|were|statt|uvp|original|originally|rrp|msrp|list price|regular|retail|before|au lieu de|avant"
    r"|prima|antes|anstelle|zamiast|původně|namesto|вместо|было)\b[^\d]{0,24}[\d.,' ]{1,14}",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"filter|range|slider|facet|sort|refine|search|label|alert|match|cart|basket|shipping|versand|total"
    # Without tax, by the litre, by the month, and what is saved: other amounts than the price.
    r"|price[-_]?tax|ex[-_]?tax|unit[-_]?price|price[-_]?per|per[-_]?unit|saving|you[-_]?save|instal+ment",
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


def shown_price(page: Page) -> ShownPrice | None:
    """The first price of the page: a declared one, then a price element, then the text."""
    return next(chain(_declared(page), _in_meta(page), _in_element(page), _in_text(page)), None)


def _declared(page: Page) -> Iterator[ShownPrice]:
    for element in page.outline.properties[:2000]:
        if not _PRICE_PROPERTIES.isdisjoint(element.get("itemprop").lower().split()):
            yield from _price(element, value_of(element), "microdata")


def _in_meta(page: Page) -> Iterator[ShownPrice]:
    for element in page.outline.by_tag["meta"]:
        name = (element.get("property") or element.get("name")).lower()
        if name in _PRICE_METAS and (name != "twitter:data1" or find_money(element.get("content")[:60])):
            yield from _price(element, element.get("content"), "meta")


def price_in_sight(page: Page, *, country: str = "") -> ShownPrice | None:
    """The price that a person sees: in a price element, beside the control or the title, or anywhere."""
    readers = (_in_element, _beside_subject, _in_text)
    return next((price for reader in readers for price in reader(page, country)), None)


def is_in_sight(page: Page, amount: Decimal) -> bool:
    """Whether the page shows that amount: in any of its price elements, or with its currency in the text."""
    elements = (text_of(element.node, limit=MAX_PRICE_TEXT) for element in _price_elements(page))
    if any(amount in amounts_in(text[:MAX_PRICE_TEXT]) for text in elements):
        return True
    return any(amount in amounts_in(block) for block in islice(blocks_of(page.tree), MAX_TEXT_BLOCKS))


def _beside_subject(page: Page, country: str) -> Iterator[ShownPrice]:
    title = page.title
    subjects = [control.element for control in page.controls[:1]] + ([title[0]] if title else [])
    for subject in subjects:
        for block in ancestors(subject.node, MAX_BLOCKS):
            text = text_of(block, limit=MAX_BLOCK_TEXT, without=CROSSED_OUT)
            money = find_in_prose(text, country=country)
            if money is not None:
                yield ShownPrice(money.amount, money.currency, selector_of(block), money.text, "dom")
            if len(text) > MAX_BLOCK_TEXT:
                break


def _in_element(page: Page, country: str = "") -> Iterator[ShownPrice]:
    """Prices of price elements: those that hold now, then those that are crossed out."""
    current: list[ShownPrice] = []
    outdated: list[ShownPrice] = []
    for element in _price_elements(page):
        # What it has for programs where it says nothing.
        shown = text_of(element.node, limit=MAX_PRICE_TEXT * 2, without=CROSSED_OUT)
        text = shown or element.get("aria-label") or element.get("data-price")
        if not any(map(str.isdigit, text)) or len(text) > MAX_PRICE_TEXT:
            continue
        if page.surroundings.is_aside(element.node):
            continue
        now = _ONCE.sub(" ", text)
        current += _price(element, now, "dom", country) if not is_list_price(element) else ()
        if not current:
            outdated += _price(element, text, "dom", country)
        elif current[-1].currency:
            break
    yield from sorted(current, key=lambda price: not price.currency)
    yield from outdated


def _price_elements(page: Page) -> Iterator[Element]:
    """Price elements, those that hold no other one first."""
    speaking = page.outline.hinted("price")[: MAX_LOOKED_AT * 4]
    named = {element.node.mem_id for element in speaking}
    silent = [each for each in page.outline.priced[:MAX_LOOKED_AT] if each.node.mem_id not in named]
    found = [each for each in (*speaking, *silent) if not _is_other_amount(each.names()[:400])][
        :MAX_LOOKED_AT
    ]
    holders: list[Element] = []
    for element, following in zip_longest(found, found[1:]):
        if following is not None and _holds(element, following):
            holders.append(element)
        else:
            yield element
    yield from holders


@lru_cache(maxsize=4096)
def _is_other_amount(names: str) -> bool:
    """Whether an element is named for a filter, a cart's total or what is saved; tiles share their names."""
    return _FILTER.search(names) is not None


def _holds(element: Element, following: Element) -> bool:
    """Whether an element holds the price element that follows it, and so any."""
    return any(block.mem_id == element.node.mem_id for block in ancestors(following.node, MAX_BLOCKS))


def is_list_price(element: Element) -> bool:
    """Whether the element shows what the product cost before, or what others ask for it."""
    if element.tag in CROSSED_OUT or _LIST_PRICE.search(element.get("class")[:200]):
        return True
    return any(block.tag in CROSSED_OUT for block in ancestors(element.node, MAX_CROSSED))


def _in_text(page: Page, country: str = "") -> Iterator[ShownPrice]:
    found = (find_in_prose(block, country=country) for block in blocks_of(page.tree))
    money = next(filter(None, found), None)
    if money is not None:
        yield ShownPrice(money.amount, money.currency, "body", money.text, "dom")


def _price(element: Element, text: str, source: str, country: str = "") -> Iterator[ShownPrice]:
    money = find_money(text[:MAX_PRICE_TEXT], country=country)
    number = money.number if money else None if "%" in text else read_plain(text)
    if number is not None and number > 0:
        money = money or _money_around(element, number, country)
        amount, currency = (money.amount, money.currency) if money else (number, "")
        yield ShownPrice(amount, currency, selector_of(element.node), text[:120], source)


def _money_around(element: Element, number: Decimal, country: str) -> Money | None:
    """A number with the currency beside it, in the element around it that says no other amount."""
    for block in ancestors(element.node, MAX_CROSSED):
        text = text_of(block, limit=MAX_PRICE_TEXT * 2)
        money = find_money(text, country=country) if len(text) <= MAX_PRICE_TEXT else None
        if money is not None:
            return money if money.number == number else None
    return None
