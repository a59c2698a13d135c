"""What a page says of its product, made fit to be kept: no endless, unspeakable or absurd value. Pure."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_NAME_CHARS = 500
MAX_CODE_CHARS = 100
MAX_IMAGE_CHARS = 2048
MAX_AMOUNT = Decimal(1_000_000_000_000)
MIN_EXPONENT = -12  # an amount with more decimals than this is no price
_CURRENCY = re.compile(r"[A-Z]{3}")
_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")


@frozen
class PriceTag:
    """What the product costs."""

    currency: str
    price: Decimal
    list_price: Decimal | None
    availability: str | None


@frozen
class Sighting:
    """What a page says of its product; None where it says nothing that can be kept."""

    name: str | None
    brand: str | None
    sku: str | None
    gtin: str | None
    image: str | None
    tag: PriceTag | None  # a price without a currency is none


def sighting_of(facts: Mapping[str, Any]) -> Sighting:
    """Read the facts of a page row."""
    image = text_of(facts.get("image"), MAX_IMAGE_CHARS + 1)
    return Sighting(
        name=text_of(facts.get("name"), MAX_NAME_CHARS),
        brand=text_of(facts.get("brand"), MAX_CODE_CHARS),
        sku=text_of(facts.get("sku"), MAX_CODE_CHARS),
        gtin=text_of(facts.get("gtin"), MAX_CODE_CHARS),
        image=image if image and len(image) <= MAX_IMAGE_CHARS and image.startswith("http") else None,
        tag=_tag_of(facts),
    )


def amount_of(value: object) -> Decimal | None:
    """An amount of money: a finite number from zero to a trillion; None for anything else."""
    try:
        amount = Decimal(str(value)[:MAX_CODE_CHARS])
    except InvalidOperation:
        return None
    if not amount.is_finite() or amount.adjusted() < MIN_EXPONENT or not 0 <= amount <= MAX_AMOUNT:
        return None
    return amount.quantize(Decimal("0.0001"))


def text_of(value: object, limit: int) -> str | None:
    """A text on one line, of at most `limit` characters; None for what is empty or no text."""
    if not isinstance(value, str):
        return None
    return " ".join(_UNSPEAKABLE.sub(" ", value[: limit * 4]).split())[:limit] or None


def _tag_of(facts: Mapping[str, Any]) -> PriceTag | None:
    price, currency = amount_of(facts.get("price")), facts.get("currency")
    if price is None or not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        return None
    availability = text_of(facts.get("availability"), MAX_CODE_CHARS)
    return PriceTag(currency, price, amount_of(facts.get("list_price")), availability)
