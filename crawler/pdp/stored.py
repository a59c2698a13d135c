"""Verdicts and facts as they were stored, read again; what an older version did not write is empty."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from attrs import fields_dict

from crawler.pdp.account import Rating, Variant
from crawler.pdp.facts import Facts
from crawler.pdp.verdict import SIGNALS, Evidence, Signals, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_AMOUNTS = {"price", "list_price"}


def verdict_in(stored: Mapping[str, Any] | None) -> Verdict | None:
    """The verdict in what `verdict_as_dict` made; None where nothing was judged."""
    if not stored:
        return None
    signals, found = stored.get("signals") or {}, stored.get("evidence") or {}
    return Verdict(
        policy=str(stored.get("policy") or ""),
        is_pdp=bool(stored.get("is_pdp")),
        signals=Signals(**{name: bool(signals.get(name)) for name in SIGNALS}),
        evidence={
            name: Evidence(str(one.get("where") or ""), str(one.get("text") or ""))
            for name, one in found.items()
        },
        reasons=tuple(stored.get("reasons") or ()),
    )


def facts_in(stored: Mapping[str, Any] | None) -> Facts:
    """The facts in what `facts_as_dict` made; empty where there are none."""
    said = {name: value for name, value in (stored or {}).items() if value is not None}
    known: dict[str, Any] = {name: said[name] for name in fields_dict(Facts) if name in said}
    known |= {name: Decimal(said[name]) for name in _AMOUNTS & said.keys()}
    if rating := said.get("rating"):
        known["rating"] = Rating(Decimal(rating["value"]), _amount(rating.get("best")), rating.get("count"))
    known["variants"] = tuple(_variants(said.get("variants") or ()))
    known["breadcrumbs"] = tuple(said.get("breadcrumbs") or ())
    return Facts(**known)


def _variants(stored: Iterable[Mapping[str, Any]]) -> Iterable[Variant]:
    for one in stored:
        yield Variant(**{**one, "price": _amount(one.get("price"))})


def _amount(stored: str | None) -> Decimal | None:
    return None if stored is None else Decimal(stored)
