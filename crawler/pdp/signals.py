"""Reads the four signals of the rule, each on its own feet."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from attrs import Factory, define

from crawler.pdp.declared import declarations
from crawler.pdp.evidence import Evidence, evidence
from crawler.pdp.offers import offer_of
from crawler.pdp.place import selector_of
from crawler.pdp.price import shown_price
from crawler.pdp.rdfa import own_typed
from crawler.pdp.title import first_image
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.pdp.page import Page
    from crawler.pdp.policies import Policy

logger = logging.getLogger(__name__)


@define
class Reading:
    """What was read from one page under one policy."""

    evidence: dict[str, Evidence] = Factory(dict)
    refusals: list[str] = Factory(list)
    failures: list[str] = Factory(list)


def read_signals(page: Page, policy: Policy) -> Reading:
    """Read each signal; a reader that fails is named and leaves the others alone."""
    reading = Reading()
    for name, reader in READERS.items():
        try:
            evidence = reader(page, policy)
        except Exception:
            logger.exception("the reader of %s failed on %s", name, redact(page.url))
            reading.failures.append(f"unreadable_{name.removeprefix('has_')}")
        else:
            if evidence is not None:
                reading.evidence[name] = evidence
    if policy.refuses_declared:
        reading.refusals += _refusals(page)
    return reading


def _read_price(page: Page, policy: Policy) -> Evidence | None:
    price = shown_price(page)
    if price is not None:
        return evidence(price.selector, price.text)
    product = page.product_node if policy.offer_is_price else None
    offer = offer_of(product.value) if product else None
    if product is None or offer is None or not offer.amount:
        return None
    return evidence(f"{product.path}.offers", f"{offer.amount} {offer.currency}".strip())


def _read_title_and_image(page: Page, _: Policy) -> Evidence | None:
    title = page.title
    image = first_image(page.outline)
    if title is None or image is None:
        return None
    return evidence(f"{selector_of(title[0].node)}, {selector_of(image.node)}", title[1])


def _read_add_to_cart(page: Page, _: Policy) -> Evidence | None:
    control = next(iter(page.controls), None)
    if control is None:
        return None
    return evidence(selector_of(control.element.node), control.label)


def _read_product_schema(page: Page, policy: Policy) -> Evidence | None:
    node = page.product_node
    if node is not None:
        return evidence(node.path, str(node.value.get("name") or ""))
    item = page.product_item if "microdata" in policy.schema_sources else None
    if item is not None:
        return evidence(selector_of(item.element.node), item.first("name"))
    typed = own_typed(page.outline) if "rdfa" in policy.schema_sources else None
    return evidence(selector_of(typed.node), typed.get("typeof")) if typed else None


def _refusals(page: Page) -> list[str]:
    """Declared kinds that are believed.

    Firm ones are, unless a control and data speak for a product together; weak ones, unless either does.
    """
    is_offered = page.product_node is not None and "offers" in page.product_node.value
    is_described = is_offered or page.product_item is not None
    is_bought = bool(page.controls)
    return sorted(
        {
            found.reason
            for found in declarations(page)
            if not (is_bought and is_described) and (found.is_firm or not (is_bought or is_offered))
        }
    )


READERS: dict[str, Callable[[Page, Policy], Evidence | None]] = {
    "has_price": _read_price,
    "has_title_and_image": _read_title_and_image,
    "has_add_to_cart": _read_add_to_cart,
    "has_product_schema": _read_product_schema,
}
