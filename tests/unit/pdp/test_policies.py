"""The rule itself, without pages."""

from __future__ import annotations

from itertools import product

import pytest

from crawler.pdp import (
    POLICIES,
    UnknownPolicyError,
    evaluate_pdp_validation_signals,
    is_valid_pdp_page,
    judge,
    read_page,
)

NAMES = ("has_price", "has_title_and_image", "has_add_to_cart", "has_product_schema")
VALID = {(True, True, True, False), (True, True, False, True), (True, True, True, True)}


@pytest.mark.parametrize("signals", list(product((False, True), repeat=4)))
def test_truth_table(signals: tuple[bool, bool, bool, bool]) -> None:
    """Of all sixteen combinations, three are product pages: both base signals and at least one strong one."""
    is_valid, base_met, strong_met = evaluate_pdp_validation_signals(**dict(zip(NAMES, signals, strict=True)))
    price, title, cart, schema = signals
    assert (is_valid, base_met, strong_met) == (signals in VALID, price and title, cart or schema)


@pytest.mark.parametrize("signals", list(product((False, True), repeat=4)))
def test_mapping_gets_the_same_answer(signals: tuple[bool, bool, bool, bool]) -> None:
    """A mapping of the signals is judged as the signals are."""
    assert is_valid_pdp_page(dict(zip(NAMES, signals, strict=True))) is (signals in VALID)


@pytest.mark.parametrize("missing", NAMES[:2])
def test_missing_keys_are_false(missing: str) -> None:
    """A signal that a mapping does not name did not fire."""
    assert not is_valid_pdp_page({name: True for name in NAMES if name != missing})
    assert not is_valid_pdp_page({})


def test_unknown_policy_names_the_known_ones() -> None:
    """Who asks for a policy that does not exist is told which ones do."""
    with pytest.raises(UnknownPolicyError) as error:
        judge(read_page(b"<p>x</p>", url="https://shop.example/"), "v9")
    assert all(version in error.value.hint for version in POLICIES)
