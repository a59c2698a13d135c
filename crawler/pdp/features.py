"""A page's features as one JSON document (SPEC F158)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import fields, has

from crawler.pdp.buy_controls import label_of
from crawler.pdp.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pdp.outline import Element
    from crawler.pdp.page import Page
    from crawler.pdp.verdict import Verdict

MAX_LISTED = 100
MAX_TEXT_CHARS = 300
_FACTS = tuple(field.name for field in fields(Facts))
_SAID_NOTHING = ("", (), None)


def features(page: Page, verdict: Verdict, facts: Facts) -> dict[str, Any]:
    """Collect what is kept of the page beside its HTML; the same page always gives the same document."""
    outline, node, rating = page.outline, page.product_node, facts.rating
    return {
        "meta": _meta(page),
        "headings": {tag: _texts(outline.by_tag[tag]) for tag in ("h1", "h2")},
        "ctas": [
            {"text": label, "href": element.get("href") or None}
            for element in (*outline.by_tag["button"], *outline.by_tag["input"])[:MAX_LISTED]
            if element.get("type").lower() not in {"hidden", "text", "checkbox", "radio"}
            and (label := label_of(element))
        ],
        "navigation": {"main": _links(outline.by_tag["nav"]), "footer": _links(outline.by_tag["footer"])},
        "pdp_core": {
            "price": _text(facts.price),
            "currency": facts.currency or None,
            "availability": facts.availability or None,
            "add_to_cart_present": verdict.signals.has_add_to_cart,
        },
        "schema_org": {
            "product_detected": node is not None,
            "fields": sorted(node.value)[:MAX_LISTED] if node else [],
        },
        "review_signals": {
            "rating": _text(rating.value) if rating else None,
            "count": rating.count if rating else None,
        },
        "facts": facts_as_dict(facts),
        "verdict": verdict_as_dict(verdict),
    }


def facts_as_dict(facts: Facts) -> dict[str, Any]:
    """The facts as JSON: amounts as decimal texts, null where unknown."""
    return {name: _said(getattr(facts, name)) for name in _FACTS}


def _said(value: object) -> Any:
    return None if value in _SAID_NOTHING else _plain(value)


def verdict_as_dict(verdict: Verdict) -> dict[str, Any]:
    """The verdict as JSON."""
    return {
        "policy": verdict.policy,
        "is_pdp": verdict.is_pdp,
        "signals": verdict.signals.as_dict(),
        "evidence": {name: _plain(found) for name, found in verdict.evidence.items()},
        "reasons": list(verdict.reasons),
    }


def traces_in(facts: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Out of both as JSON: where each fact came from, what other sources say, and why it was judged so."""
    return {
        "sources": facts["sources"],
        "disagreements": facts["disagreements"],
        "signals": verdict["signals"],
        "reasons": verdict["reasons"],
    }


def _meta(page: Page) -> dict[str, str | None]:
    outline = page.outline
    description = next(
        (tag.get("content") for tag in outline.by_tag["meta"] if tag.get("name").lower() == "description"),
        None,
    )
    canonical = next(
        (tag.get("href") for tag in outline.by_tag["link"] if "canonical" in tag.get("rel").lower()), None
    )
    return {
        "title": next(iter(_texts(outline.by_tag["title"])), None),
        "meta_description": description[: MAX_TEXT_CHARS * 4] if description else None,
        "canonical_url": canonical or None,
    }


def _texts(elements: Iterable[Element]) -> list[str]:
    texts = (
        " ".join(element.node.text(separator=" ").split())[:MAX_TEXT_CHARS]
        for element in list(elements)[:MAX_LISTED]
    )
    return [text for text in texts if text]


def _links(regions: Iterable[Element]) -> list[dict[str, str]]:
    found: dict[str, str] = {}
    for region in list(regions)[:8]:
        for link in region.node.css("a[href]")[:MAX_LISTED]:
            text = " ".join(link.text(separator=" ").split())[:MAX_TEXT_CHARS]
            if text and len(found) < MAX_LISTED:
                found.setdefault(link.attributes.get("href") or "", text)
    return [{"text": text, "href": href} for href, text in found.items()]


def _plain(value: Any) -> Any:
    """As JSON; attrs' own way there costs three times as much, and every page has some forty of these."""
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if has(type(value)):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(type(value))}
    return str(value)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
