"""How much can be made of a verdict: where its facts came from, and a score. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# What each fact adds to the score; all of them make a hundred.
WEIGHTS = {
    "name": 20, "price": 20, "currency": 15, "availability": 10, "image": 15,
    "brand": 5, "sku": 5, "gtin": 5, "breadcrumbs": 5,
}  # fmt: skip
DISAGREEMENT = 5  # what each fact costs about which the page's sources do not agree


def quality_of(facts: Mapping[str, Any]) -> int:
    """From 0 to 100: how complete the facts are, less where their sources disagree."""
    complete = sum(weight for name, weight in WEIGHTS.items() if facts.get(name))
    return max(0, complete - DISAGREEMENT * len(facts.get("disagreements") or ()))


def traces_of(verdict: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Where each fact came from and what other sources say, with the signals and reasons of the verdict."""
    return {
        "sources": facts.get("sources") or {},
        "disagreements": facts.get("disagreements") or {},
        "signals": verdict.get("signals") or {},
        "reasons": verdict.get("reasons") or [],
    }
