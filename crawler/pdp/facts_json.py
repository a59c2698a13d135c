"""The product's account in JSON-LD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.pdp.account import Account, Variant, availability_name, gtin_of, plain, rating_of
from crawler.pdp.offers import as_list, offer_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.pdp.page import Page

MAX_VARIANTS = 200
MAX_BREADCRUMBS = 20
_GTIN_NAMES = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "ean", "isbn", "productID")


def account_in_json(page: Page) -> Account:
    """Read the page's own JSON-LD product; what a group leaves open, its first variant answers."""
    node = page.product_node
    account = Account(breadcrumbs=_breadcrumbs(page))
    if node is None:
        return account
    product = node.value
    variants = [item for item in as_list(product.get("hasVariant"))[:MAX_VARIANTS] if isinstance(item, dict)]
    sources = [product, *variants[:1]]
    _fill_offer(account, product)
    account.name = plain(product.get("name"))
    account.sku = _first(sources, "sku") or plain(product.get("productGroupID"))
    account.mpn = _first(sources, "mpn")
    account.gtin = next((code for source in sources if (code := _gtin(source))), "")
    account.brand = _name_of(product.get("brand")) or _name_of(product.get("manufacturer"))
    account.image = next((image for source in sources if (image := _image(source.get("image")))), "")
    account.rating = _rating(product.get("aggregateRating"))
    account.variants = tuple(map(_variant, variants)) or _offered_variants(product)
    return account


def _fill_offer(account: Account, product: Mapping[str, Any]) -> None:
    offer = offer_of(product)
    if offer is not None:
        account.price = offer.amount
        account.currency = offer.currency
        account.list_price = offer.list_price
        account.availability = availability_name(offer.availability)


def _first(sources: list[Any], name: str) -> str:
    return next((text for source in sources if (text := plain(source.get(name)))), "")


def _gtin(source: Mapping[str, Any]) -> str:
    offers = [offer for offer in as_list(source.get("offers"))[:1] if isinstance(offer, dict)]
    return next(
        (
            code
            for holder in (source, *offers)
            for name in _GTIN_NAMES
            if (code := gtin_of(plain(holder.get(name))))
        ),
        "",
    )


def _name_of(value: Any) -> str:
    first = next(iter(as_list(value)), None)
    return plain(first.get("name")) if isinstance(first, dict) else plain(first)


def _image(value: Any) -> str:
    first = next(iter(as_list(value)), None)
    if isinstance(first, dict):
        return (
            _image(first.get("url")) or plain(first.get("contentUrl"))
            if not isinstance(first.get("url"), dict)
            else ""
        )
    return plain(first) if not isinstance(first, list) else ""


def _rating(value: Any) -> Any:
    rating = next(iter(as_list(value)), None)
    if not isinstance(rating, dict):
        return None
    count = plain(rating.get("reviewCount")) or plain(rating.get("ratingCount"))
    return rating_of(plain(rating.get("ratingValue")), plain(rating.get("bestRating")), count)


def _variant(value: Mapping[str, Any]) -> Variant:
    offer = offer_of(value)
    return Variant(
        name=plain(value.get("name")),
        sku=plain(value.get("sku")),
        price=offer.amount if offer else None,
        currency=offer.currency if offer else "",
        availability=availability_name(offer.availability) if offer else "",
    )


def _offered_variants(product: Mapping[str, Any]) -> tuple[Variant, ...]:
    """Several offers of one product are its variants, where each has a name or a stock number."""
    offers = [offer for offer in as_list(product.get("offers"))[:MAX_VARIANTS] if isinstance(offer, dict)]
    if len(offers) == 1 and isinstance(offers[0].get("offers"), list):
        offers = [offer for offer in offers[0]["offers"][:MAX_VARIANTS] if isinstance(offer, dict)]
    told_apart = [offer for offer in offers if offer.get("sku") or offer.get("name")]
    return tuple(_variant({**offer, "offers": offer}) for offer in told_apart) if len(told_apart) > 1 else ()


def _breadcrumbs(page: Page) -> tuple[str, ...]:
    for node in page.linked_data:
        if "breadcrumblist" in node.types:
            elements = as_list(node.value.get("itemListElement"))[:MAX_BREADCRUMBS]
            return tuple(name for element in elements if (name := _crumb(element)))
    return ()


def _crumb(element: Any) -> str:
    if not isinstance(element, dict):
        return ""
    return plain(element.get("name")) or _name_of(element.get("item"))
