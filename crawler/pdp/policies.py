"""The rule, by policy version: data and pure functions (SPEC C58-71)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_POLICY = "v1.2"
SIGNALS = ("has_price", "has_title_and_image", "has_add_to_cart", "has_product_schema")


@frozen
class Policy:
    """What a version of the rule reads as evidence, and what it refuses."""

    version: str
    schema_sources: frozenset[str]  # which kinds of structured data count as product schema
    offer_is_price: bool  # whether a priced offer in JSON-LD counts as price
    refuses_declared: bool  # whether a page that declares itself something else is refused


POLICIES: Mapping[str, Policy] = {
    "v1.2": Policy("v1.2", frozenset({"json-ld"}), offer_is_price=False, refuses_declared=False),
    "v1.3": Policy(
        "v1.3", frozenset({"json-ld", "microdata", "rdfa"}), offer_is_price=True, refuses_declared=True
    ),
}


def evaluate_pdp_validation_signals(
    *, has_price: bool, has_add_to_cart: bool, has_product_schema: bool, has_title_and_image: bool
) -> tuple[bool, bool, bool]:
    """Whether it is a product page, the base signals hold, and a strong one does (SPEC C61-64)."""
    base_met = has_price and has_title_and_image
    strong_signal_met = has_add_to_cart or has_product_schema
    return base_met and strong_signal_met, base_met, strong_signal_met


def is_valid_pdp_page(signals: Mapping[str, object]) -> bool:
    """Whether the signals make a product page; one that is missing is false."""
    is_valid, _, _ = evaluate_pdp_validation_signals(
        has_price=bool(signals.get("has_price")),
        has_add_to_cart=bool(signals.get("has_add_to_cart")),
        has_product_schema=bool(signals.get("has_product_schema")),
        has_title_and_image=bool(signals.get("has_title_and_image")),
    )
    return is_valid
