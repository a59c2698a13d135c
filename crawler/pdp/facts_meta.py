"""The product's account in the head: Open Graph, product and Twitter tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pdp.account import Account, availability_name, gtin_of, plain
from crawler.pdp.money import currency_of, find_money, read_plain

if TYPE_CHECKING:
    from crawler.pdp.page import Page


def account_in_meta(page: Page) -> Account:
    """Read the meta tags; the first of a name counts."""
    tags: dict[str, str] = {}
    for element in page.outline.by_tag["meta"]:
        name = (element.get("property") or element.get("name")).strip().lower()
        if name and element.get("content"):
            tags.setdefault(name, element.get("content"))
    price = (
        tags.get("product:sale_price:amount")
        or tags.get("product:price:amount")
        or tags.get("og:price:amount")
        or ""
    )
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
