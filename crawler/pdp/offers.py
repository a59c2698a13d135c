"""What a product in structured data is offered for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.pdp.money import currency_of, read_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

MAX_OFFERS = 500
_AMOUNTS = ("price", "lowPrice", "minPrice")
_LIST_PRICE_TYPES = ("ListPrice", "MSRP", "StrikethroughPrice", "SRP")


@frozen
class Offer:
    """The first priced offer of a product, with what stands beside its price; empty where there is none."""

    amount: Decimal | None = None
    currency: str = ""
    list_price: Decimal | None = None
    availability: str = ""  # bare name, as `InStock`


def offer_of(product: Mapping[str, Any]) -> Offer:
    """Read the product's offer, or that of its first variant."""
    offers = list(_offers(product))
    if not offers:
        return Offer()
    first = next((offer for offer in offers if _amount(offer)), offers[0])
    return Offer(
        amount=_amount(first),
        currency=_currency(first) or next((code for offer in offers if (code := _currency(offer))), ""),
        list_price=_list_price(first),
        availability=_bare(first.get("availability"))
        or next((name for offer in offers if (name := _bare(offer.get("availability")))), ""),
    )


def as_list(value: Any) -> list[Any]:
    """A JSON value as the list that it may be."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _offers(product: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for offer in as_list(product.get("offers"))[:MAX_OFFERS]:
        if isinstance(offer, dict):
            yield offer
            yield from (
                inner for inner in as_list(offer.get("offers"))[:MAX_OFFERS] if isinstance(inner, dict)
            )
    for variant in as_list(product.get("hasVariant"))[:MAX_OFFERS]:
        if isinstance(variant, dict):
            yield from (offer for offer in as_list(variant.get("offers")) if isinstance(offer, dict))


def _specifications(offer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for item in as_list(offer.get("priceSpecification"))[:20] if isinstance(item, dict)]


def _is_list_price(specification: Mapping[str, Any]) -> bool:
    return str(specification.get("priceType", "")).endswith(_LIST_PRICE_TYPES)


def _amount(offer: Mapping[str, Any]) -> Decimal | None:
    selling = [item for item in _specifications(offer) if not _is_list_price(item)]
    for holder in (offer, *selling):
        for name in _AMOUNTS:
            amount = amount_in(holder.get(name))
            if amount:
                return amount
    return None


def amount_in(value: Any) -> Decimal | None:
    """The amount that a JSON value holds, be it a number, a text or a list with one."""
    value = next(iter(as_list(value)), None)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return read_plain(str(value))


def _list_price(offer: Mapping[str, Any]) -> Decimal | None:
    listed = [item for item in _specifications(offer) if _is_list_price(item)]
    return next((amount for item in listed if (amount := amount_in(item.get("price")))), None)


def _currency(offer: Mapping[str, Any]) -> str:
    for holder in (offer, *_specifications(offer)):
        code = holder.get("priceCurrency")
        if isinstance(code, str) and code.strip():
            return currency_of(code)
    return ""


def _bare(value: Any) -> str:
    name = next(iter(as_list(value)), "")
    return name.rstrip("/").rsplit("/", 1)[-1] if isinstance(name, str) else ""
