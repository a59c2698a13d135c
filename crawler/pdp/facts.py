"""The facts about a product: one value each, its source, and what other sources say instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from attrs import Factory, fields_dict, frozen

from crawler.pdp.account import Account, Rating, Variant
from crawler.pdp.facts_dom import account_in_dom
from crawler.pdp.facts_json import account_in_json
from crawler.pdp.facts_meta import account_in_meta
from crawler.pdp.facts_microdata import account_in_microdata

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from crawler.pdp.page import Page

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
class Facts:
    """What the page says about its product; empty or None where it says nothing."""

    name: str = ""
    price: Decimal | None = None
    currency: str = ""  # ISO 4217
    list_price: Decimal | None = None
    availability: str = ""  # the schema.org name, as InStock
    sku: str = ""
    gtin: str = ""
    mpn: str = ""
    brand: str = ""
    image: str = ""  # absolute
    rating: Rating | None = None
    variants: tuple[Variant, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    sources: Mapping[str, str] = Factory(dict)  # fact → source
    disagreements: Mapping[str, Mapping[str, str]] = Factory(dict)  # fact → source → what it says instead


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
    return Facts(**chosen, sources=sources, disagreements=_disagreements(accounts, chosen, sources))


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
