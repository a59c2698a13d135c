"""The verdict on a page: its signals with their evidence, and the reasons against it."""

from __future__ import annotations

from itertools import product

import pytest

from crawler.pdp import evaluate_pdp_validation_signals, is_valid_pdp_page, judge
from crawler.pdp.verdict import MAX_SNIPPET, UnknownPolicyError, evidence, policy_of
from tests.unit.pdp.pages import OFFER, page, script

JUG = '<h1>Tall jug</h1><img src="/j.png"><p class="price">€48.00</p>'
BUY = "<button>Add to cart</button>"
DATA = script({"@type": "Product", "name": "Tall jug", "offers": OFFER})
ARTICLE = script({"@type": "NewsArticle"})
RDFA = '<div typeof="schema:Product"></div>'


@pytest.mark.parametrize(
    ("head", "body", "policy", "reasons"),
    [
        ("", JUG + BUY, "v1.2", ()),
        (DATA, JUG, "v1.2", ()),
        ("", JUG, "v1.2", ("missing_strong_signal",)),
        ("", BUY, "v1.2", ("missing_price", "missing_title_and_image")),
        ("", "", "v1.2", ("missing_price", "missing_title_and_image", "missing_strong_signal")),
        (DATA, JUG.replace("€48.00", ""), "v1.2", ("missing_price",)),
        (DATA, JUG.replace("€48.00", ""), "v1.3", ()),
        ("", JUG + RDFA, "v1.2", ("missing_strong_signal",)),
        ("", JUG + RDFA, "v1.3", ()),
        ("", JUG + RDFA + RDFA, "v1.3", ("missing_strong_signal",)),
        (ARTICLE, JUG + BUY, "v1.2", ()),
        (ARTICLE, JUG + BUY, "v1.3", ("declared_article",)),
        (ARTICLE + DATA, JUG + BUY, "v1.3", ()),
        ('<meta property="og:type" content="article">', JUG + BUY, "v1.3", ()),
    ],
)
def test_why_a_page_is_refused(head: str, body: str, policy: str, reasons: tuple[str, ...]) -> None:
    """In a stable order; a product page has no reason against it."""
    verdict = judge(page(body, head=head), policy)
    assert (verdict.reasons, verdict.is_pdp, verdict.policy) == (reasons, not reasons, policy)


def test_each_signal_shows_what_fired_it() -> None:
    """Where on the page, and in which words."""
    found = judge(page(JUG + BUY, head=DATA)).evidence
    assert {name: (each.where, each.text) for name, each in found.items()} == {
        "has_price": ("p.price", "€48.00"),
        "has_title_and_image": ("h1, img", "Tall jug"),
        "has_add_to_cart": ("button", "add to cart"),
        "has_product_schema": ("$[0].@graph[0]", "Tall jug"),
    }


def test_evidence_is_a_snippet() -> None:
    """On one line, and cut."""
    assert evidence("p", " a\n b " + "x" * 999).text == f"a b {'x' * 999}"[:MAX_SNIPPET]


def test_a_policy_has_to_be_one() -> None:
    """It is told which there are."""
    with pytest.raises(UnknownPolicyError) as caught:
        policy_of("v9")
    assert "v1.2" in str(caught.value.hint)


NAMES = ("has_price", "has_title_and_image", "has_add_to_cart", "has_product_schema")
VALID = {(True, True, True, False), (True, True, False, True), (True, True, True, True)}


@pytest.mark.parametrize("signals", list(product((False, True), repeat=4)))
def test_truth_table(signals: tuple[bool, bool, bool, bool]) -> None:
    """Of all sixteen combinations, three are product pages: both base signals and at least one strong one."""
    said = dict(zip(NAMES, signals, strict=True))
    is_valid, base_met, strong_met = evaluate_pdp_validation_signals(**said)
    price, title, cart, schema = signals
    assert (is_valid, base_met, strong_met) == (signals in VALID, price and title, cart or schema)
    assert is_valid_pdp_page(said) is is_valid


@pytest.mark.parametrize("missing", NAMES[:2])
def test_missing_keys_are_false(missing: str) -> None:
    """A signal that a mapping does not name did not fire."""
    assert not is_valid_pdp_page({name: True for name in NAMES if name != missing})
    assert not is_valid_pdp_page({})
