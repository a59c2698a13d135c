"""The facts about a product: one value each, its source, and what other sources say instead."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from attrs import Factory, fields_dict, frozen

from crawler.errors import BadUrlError
from crawler.pdp.account import Account, Variant, availability_name, gtin_of, plain, rating_of
from crawler.pdp.currencies import BY_COUNTRY, BY_LANGUAGE
from crawler.pdp.money import currency_of, find_money, read_amount, read_plain
from crawler.pdp.offers import as_list, offer_of
from crawler.pdp.price import is_in_sight, is_list_price, price_in_sight
from crawler.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from crawler.pdp.page import Page
    from crawler.pdp.structured_data import Item


# ── in JSON-LD ──


MAX_VARIANTS = 200
MAX_BREADCRUMBS = 20
_GTIN_NAMES = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "ean", "isbn", "productID")


def account_in_json(page: Page) -> Account:
    """Read the page's own JSON-LD product; what a group leaves open, its first variant answers."""
    node = page.product_node
    if node is None:
        return Account(breadcrumbs=_breadcrumbs(page))
    product = node.value
    variants = [item for item in as_list(product.get("hasVariant"))[:MAX_VARIANTS] if isinstance(item, dict)]
    sources = [product, *variants[:1]]
    offer = offer_of(product)
    return Account(
        name=plain(product.get("name")),
        price=offer.amount,
        currency=offer.currency,
        list_price=offer.list_price,
        availability=availability_name(offer.availability),
        sku=_first(sources, "sku") or plain(product.get("productGroupID")),
        gtin=next((code for source in sources if (code := _gtin(source))), ""),
        mpn=_first(sources, "mpn"),
        brand=_name_of(product.get("brand")) or _name_of(product.get("manufacturer")),
        image=next((image for source in sources if (image := _image(source.get("image")))), ""),
        rating=_rating(product.get("aggregateRating")),
        variants=tuple(map(_variant, variants)) or _offered_variants(product),
        breadcrumbs=_breadcrumbs(page),
    )


def _first(sources: list[Any], name: str) -> str:
    return next((text for source in sources if (text := plain(source.get(name)))), "")


def _gtin(source: Mapping[str, Any]) -> str:
    offers = [offer for offer in as_list(source.get("offers"))[:1] if isinstance(offer, dict)]
    codes = (gtin_of(plain(holder.get(name))) for holder in (source, *offers) for name in _GTIN_NAMES)
    return next(filter(None, codes), "")


def _name_of(value: Any) -> str:
    first = next(iter(as_list(value)), None)
    return plain(first.get("name")) if isinstance(first, dict) else plain(first)


def _image(value: Any) -> str:
    first = next(iter(as_list(value)), None)
    if not isinstance(first, dict):
        return plain(first)
    url = first.get("url")
    return "" if isinstance(url, dict) else _image(url) or plain(first.get("contentUrl"))


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
        price=offer.amount,
        currency=offer.currency,
        availability=availability_name(offer.availability),
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


# ── in microdata ──


def account_in_microdata(page: Page) -> Account:
    """Read the page's own microdata product and its first offer."""
    item = page.product_item
    if item is None:
        return Account(breadcrumbs=_steps_in(page))
    offer = next(item.items("offers"), item)
    price, currency = _price(offer)
    codes = (gtin_of(item.first(name) or offer.first(name)) for name in ("gtin13", *_GTIN_NAMES))
    ratings = (
        rating_of(
            each.first("ratingValue"),
            each.first("bestRating"),
            each.first("reviewCount") or each.first("ratingCount"),
        )
        for each in item.items("aggregateRating")
    )
    return Account(
        name=plain(item.first("name")),
        price=price,
        currency=currency_of(offer.first("priceCurrency")) or currency,
        availability=availability_name(offer.first("availability") or item.first("availability")),
        sku=plain(item.first("sku") or offer.first("sku")),
        gtin=next(filter(None, codes), ""),
        mpn=plain(item.first("mpn")),
        brand=plain(next(filter(None, map(partial(_maker, item), ("brand", "manufacturer"))), "")),
        image=plain(item.first("image")),
        rating=next(ratings, None),
        breadcrumbs=_steps_in(page),
    )


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
    return item.first(name) or _inner_name(item, name)


def _maker(item: Item, name: str) -> str:
    """Who makes it: a text, or the name of an item; the address of a link says nothing."""
    text = _text_or_name(item, name)
    return "" if text.startswith(("/", "http://", "https://")) else text


def _inner_name(item: Item, name: str) -> str:
    return next((inner.first("name") for inner in item.items(name)), "")


def _steps_in(page: Page) -> tuple[str, ...]:
    for item in page.items:
        if "breadcrumblist" in item.types:
            elements = list(item.items("itemListElement"))[:MAX_BREADCRUMBS]
            return tuple(
                name
                for element in elements
                if (name := plain(_text_or_name(element, "name") or _inner_name(element, "item")))
            )
    singles = [item.first("title") for item in page.items if "breadcrumb" in item.types]
    return tuple(name for text in singles[:MAX_BREADCRUMBS] if (name := plain(text)))


# ── in the head: Open Graph, product and Twitter tags ──


def account_in_meta(page: Page) -> Account:
    """Read the meta tags; the first of a name counts."""
    tags: dict[str, str] = {}
    for element in page.outline.by_tag["meta"]:
        name = (element.get("property") or element.get("name")).strip().lower()
        if name and element.get("content"):
            tags.setdefault(name, element.get("content"))
    amounts = ("product:sale_price:amount", "product:price:amount", "og:price:amount")
    price = next(filter(None, map(tags.get, amounts)), "")
    money = find_money(price[:80])
    currency = tags.get("product:price:currency") or tags.get("og:price:currency") or ""
    listed = tags.get("product:original_price:amount") or ""
    return Account(
        name=plain(tags.get("og:title")),
        price=read_plain(price) or (money.amount if money else None),
        currency=currency_of(currency) or (money.currency if money else ""),
        list_price=read_plain(listed) or None,
        availability=availability_name(tags.get("product:availability") or tags.get("og:availability") or ""),
        sku=plain(tags.get("product:retailer_item_id")),
        gtin=gtin_of(tags.get("product:ean") or tags.get("product:upc") or tags.get("product:isbn") or ""),
        mpn=plain(tags.get("product:mfr_part_no")),
        brand=plain(tags.get("product:brand") or tags.get("og:brand")),
        image=plain(tags.get("og:image:secure_url") or tags.get("og:image") or tags.get("twitter:image")),
    )


# ── in what the page shows ──


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
    spoken, *regions = language.replace("_", "-").lower().split("-")
    return next((region for region in regions if region in BY_COUNTRY), BY_LANGUAGE.get(spoken, ""))


def _list_prices(page: Page) -> Iterator[Decimal]:
    for element in page.outline.hinted("price")[:MAX_LOOKED_AT]:
        if is_list_price(element):
            text = element.node.text(separator=" ")[:160]
            money = find_money(text)
            amount = money.amount if money else read_amount(text)
            if amount:
                yield amount


# ── who is believed ──


# In the order in which they are believed.
SOURCES = {
    "json-ld": account_in_json,
    "microdata": account_in_microdata,
    "meta": account_in_meta,
    "dom": account_in_dom,
}
# What every source may word in its own way is no disagreement.
_NOT_COMPARED = frozenset({"image", "variants", "breadcrumbs", "rating"})


@frozen
class Facts(Account):
    """What the page says about its product, fact by fact the most believed account of it."""

    sources: Mapping[str, str] = Factory(dict)  # fact → source
    disagreements: Mapping[str, Mapping[str, str]] = Factory(dict)  # fact → source → what it says instead

    @property
    def shows_another_price(self) -> bool:
        """Whether the data state a price that the page shows nowhere, and it shows another one."""
        return "dom" in self.disagreements.get("price", ())

    @property
    def price_in_words(self) -> str:
        """With its currency; empty where the page does not say it."""
        return "" if self.price is None else f"{self.price} {self.currency}".rstrip()


def read_facts(page: Page) -> Facts:
    """Ask every source and believe the first that answers, fact by fact."""
    accounts = {source: reader(page) for source, reader in SOURCES.items()}
    chosen: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name in fields_dict(Account):
        for source, account in accounts.items():
            value = getattr(account, name)
            if value:
                chosen[name], sources[name] = value, source
                break
    if "image" in chosen:
        chosen["image"] = _absolute(page.url, chosen["image"])
    disagreements = _disagreements(accounts, chosen, sources)
    if "dom" in disagreements.get("price", ()) and is_in_sight(page, chosen["price"]):
        del disagreements["price"]["dom"]  # another of its prices was seen first
    return Facts(
        **chosen, sources=sources, disagreements={name: told for name, told in disagreements.items() if told}
    )


def _disagreements(
    accounts: Mapping[str, Account], chosen: Mapping[str, Any], sources: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, value in chosen.items():
        if name in _NOT_COMPARED:
            continue
        for source, account in accounts.items():
            other = getattr(account, name)
            if source != sources[name] and other and not _agree(value, other):
                found.setdefault(name, {})[source] = str(other)
    return found


def _agree(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        first, second = _bare(one), _bare(other)
        return first in second or second in first
    return one == other


def _bare(text: str) -> str:
    return "".join(re.findall(r"\w+", text.lower()))


def _absolute(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return address
