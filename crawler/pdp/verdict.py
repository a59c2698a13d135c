"""The verdict on a page: which signals fired on what, and why it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory, asdict, frozen

from crawler.errors import UsageError
from crawler.pdp.policies import DEFAULT_POLICY, POLICIES, SIGNALS, Policy, evaluate_pdp_validation_signals
from crawler.pdp.signals import read_signals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.pdp.evidence import Evidence
    from crawler.pdp.page import Page


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
        return asdict(self)


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
    reading = read_signals(page, rule)
    signals = Signals(**{name: name in reading.evidence for name in SIGNALS})
    is_valid, base_met, strong_met = evaluate_pdp_validation_signals(**signals.as_dict())
    reasons = (
        *_missing(signals, base_met=base_met, strong_met=strong_met),
        *reading.refusals,
        *reading.failures,
    )
    return Verdict(
        rule.version,
        is_pdp=is_valid and not reading.refusals,
        signals=signals,
        evidence=reading.evidence,
        reasons=reasons if not is_valid or reading.refusals else (),
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
