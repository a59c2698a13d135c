"""One source's account of a product, before the sources are compared."""

from __future__ import annotations

import re
from decimal import Decimal

from attrs import frozen

MAX_TEXT_CHARS = 500
MAX_RATING = 100


@frozen
class Rating:
    """How buyers rate the product."""

    value: Decimal
    best: Decimal | None
    count: int | None


@frozen
class Variant:
    """One choice of a product that comes in several."""

    name: str
    sku: str
    price: Decimal | None
    currency: str
    availability: str


@frozen
class Account:
    """What one source says about the product; empty or None where it says nothing."""

    name: str = ""
    price: Decimal | None = None
    currency: str = ""  # ISO 4217
    list_price: Decimal | None = None
    availability: str = ""  # the schema.org name, as InStock
    sku: str = ""
    gtin: str = ""
    mpn: str = ""
    brand: str = ""
    image: str = ""  # absolute in `Facts`
    rating: Rating | None = None
    variants: tuple[Variant, ...] = ()
    breadcrumbs: tuple[str, ...] = ()


_SPELLINGS = {
    "InStock": "instock instocks available true yes",
    "InStoreOnly": "instoreonly",
    "OnlineOnly": "onlineonly",
    "LimitedAvailability": "limitedavailability",
    "OutOfStock": "outofstock oos pending false no unavailable",
    "SoldOut": "soldout",
    "Discontinued": "discontinued",
    "PreOrder": "preorder",
    "PreSale": "presale",
    "BackOrder": "backorder availablefororder",
    "MadeToOrder": "madetoorder",
    "Reserved": "reserved",
}
_AVAILABILITY = {word: name for name, words in _SPELLINGS.items() for word in words.split()}


def plain(value: object) -> str:
    """A text on one line, empty for anything that is no text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value[: MAX_TEXT_CHARS * 2].split())[:MAX_TEXT_CHARS] if isinstance(value, str) else ""


def availability_name(text: str) -> str:
    """The schema.org name of an availability, from an address, a bare name or a theme's spelling."""
    bare = re.sub(r"[^a-z]", "", text.strip().rstrip("/")[-60:].rsplit("/", 1)[-1].lower())
    return _AVAILABILITY.get(bare, "")


def gtin_of(text: str) -> str:
    """A GTIN of 8, 12, 13 or 14 digits with a sound check digit; empty for anything else."""
    digits = re.sub(r"[\s-]", "", text.strip().removeprefix("gtin:"))[:20]
    if len(digits) not in {8, 12, 13, 14} or not digits.isascii() or not digits.isdigit() or not int(digits):
        return ""
    weighed = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return digits if weighed % 10 == 0 else ""


def rating_of(value: str, best: str, count: str) -> Rating | None:
    """A rating, where its value is a number that can be one."""
    number = _decimal(value)
    if number is None or number < 0 or number > MAX_RATING:
        return None
    digits = re.sub(r"\D", "", count[:20])
    return Rating(number, _decimal(best), int(digits) if digits else None)


def _decimal(text: str) -> Decimal | None:
    match = re.match(r"\s{0,9}(\d{1,6}(?:[.,]\d{1,6})?)", text[:40])
    return Decimal(match[1].replace(",", ".")) if match else None
