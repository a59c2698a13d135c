"""Whether a page is a product page: its four signals, each read on its own feet, and why it is refused."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from crawler.errors import UsageError
from crawler.pdp.offers import offer_of
from crawler.pdp.own_product import BOTH, CONTROL, EITHER, declarations, own_typed
from crawler.pdp.place import selector_of
from crawler.pdp.price import shown_price
from crawler.pdp.title import first_image
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawler.pdp.page import Page


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
    return evaluate_pdp_validation_signals(**{name: bool(signals.get(name)) for name in SIGNALS})[0]


logger = logging.getLogger(__name__)
MAX_SNIPPET = 120


@frozen
class Evidence:
    """A selector or a JSON path, and the text that stands there."""

    where: str
    text: str


def evidence(where: str, text: str) -> Evidence:
    """Evidence with its text cut to a snippet on one line."""
    return Evidence(where, " ".join(text[: MAX_SNIPPET * 4].split())[:MAX_SNIPPET])


# ── the four signals ──


@define
class _Findings:
    """What was read from one page under one policy."""

    evidence: dict[str, Evidence] = Factory(dict)
    refusals: list[str] = Factory(list)
    failures: list[str] = Factory(list)


def _read_signals(page: Page, policy: Policy) -> _Findings:
    """Read each signal; a reader that fails is named and leaves the others alone."""
    found = _Findings()
    for name, reader in READERS.items():
        try:
            fired = reader(page, policy)
        except Exception:
            logger.exception("the reader of %s failed on %s", name, redact(page.url))
            found.failures.append(f"unreadable_{name.removeprefix('has_')}")
        else:
            if fired is not None:
                found.evidence[name] = fired
    if policy.refuses_declared:
        found.refusals += _refusals(page)
    return found


def _read_price(page: Page, policy: Policy) -> Evidence | None:
    price = shown_price(page)
    if price is not None:
        return evidence(price.selector, price.text)
    product = page.product_node if policy.offer_is_price else None
    if product is None or not (offer := offer_of(product.value)).amount:
        return None
    return evidence(f"{product.path}.offers", f"{offer.amount} {offer.currency}".strip())


def _read_title_and_image(page: Page, _: Policy) -> Evidence | None:
    title = page.title
    image = first_image(page.outline)
    if title is None or image is None:
        return None
    return evidence(f"{selector_of(title[0].node)}, {selector_of(image.node)}", title[1])


def _read_add_to_cart(page: Page, _: Policy) -> Evidence | None:
    found = (evidence(selector_of(control.element.node), control.label) for control in page.controls)
    return next(found, None)


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
    """Declared kinds that are believed: nothing on the page that speaks for a product outweighs them."""
    node = page.product_node
    is_offered = node is not None and ("offers" in node.value or offer_of(node.value).amount is not None)
    is_bought = bool(page.controls)
    outweighed = {
        BOTH: is_bought and (is_offered or page.product_item is not None),
        CONTROL: is_bought,
        EITHER: is_bought or is_offered,
    }
    return sorted({found.reason for found in declarations(page) if not outweighed[found.yields_to]})


READERS: dict[str, Callable[[Page, Policy], Evidence | None]] = {
    "has_price": _read_price,
    "has_title_and_image": _read_title_and_image,
    "has_add_to_cart": _read_add_to_cart,
    "has_product_schema": _read_product_schema,
}


# ── the verdict ──


class UnknownPolicyError(UsageError):
    """There is no such policy."""

    code = "unknown_policy"


@frozen
class Signals:
    """The four signals of the rule."""

    has_price: bool = False
    has_title_and_image: bool = False
    has_add_to_cart: bool = False
    has_product_schema: bool = False

    def as_dict(self) -> dict[str, bool]:
        """The signals by name, in the order of the rule."""
        return {name: getattr(self, name) for name in SIGNALS}


@frozen
class Verdict:
    """Whether a page is a product page by one policy version."""

    policy: str
    is_pdp: bool
    signals: Signals
    evidence: Mapping[str, Evidence] = Factory(dict)  # of the signals that fired
    reasons: tuple[str, ...] = ()  # stable codes; empty for a product page


def judge(page: Page, policy: str = DEFAULT_POLICY) -> Verdict:
    """Read the four signals and decide by `policy`; the same bytes always give the same verdict."""
    rule = policy_of(policy)
    if page.problem:
        return Verdict(rule.version, is_pdp=False, signals=Signals(), reasons=(page.problem,))
    found = _read_signals(page, rule)
    signals = Signals(**{name: name in found.evidence for name in SIGNALS})
    is_valid, base_met, strong_met = evaluate_pdp_validation_signals(**signals.as_dict())
    reasons = (
        *_missing(signals, base_met=base_met, strong_met=strong_met),
        *found.refusals,
        *found.failures,
    )
    return Verdict(
        rule.version,
        is_pdp=is_valid and not found.refusals,
        signals=signals,
        evidence=found.evidence,
        reasons=reasons if not is_valid or found.refusals else (),
    )


def policy_of(version: str) -> Policy:
    """The policy with that version."""
    try:
        return POLICIES[version]
    except KeyError:
        raise UnknownPolicyError(
            f"there is no policy {version!r}", hint=f"known policies: {', '.join(POLICIES)}"
        ) from None


def _missing(signals: Signals, *, base_met: bool, strong_met: bool) -> list[str]:
    reasons = []
    if not base_met:
        reasons += [
            f"missing_{name.removeprefix('has_')}" for name in SIGNALS[:2] if not getattr(signals, name)
        ]
    if not strong_met:
        reasons.append("missing_strong_signal")
    return reasons
