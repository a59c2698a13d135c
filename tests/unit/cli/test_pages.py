"""`vitrine pdp check`: the rule on saved pages."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine

ARTICLE = b"<html><head><title>News</title></head><body><p>Nothing to buy.</p></body></html>"
PRODUCT = b"""<html><head><title>A chair</title><script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Product", "name": "A chair", "image": "/c.jpg", "sku": "C1",
 "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR"}}</script></head>
<body><main><h1>A chair</h1><img src="/c.jpg" alt="A chair"><p class="price">19.90 EUR</p>
<form action="/cart/add"><button type="submit">Add to cart</button></form></main></body></html>"""


@pytest.fixture
def files(vitrine: Vitrine) -> None:
    """A product page as it is and zipped, a page that is none, and something that is neither."""
    Path("yes.html").write_bytes(PRODUCT)
    Path("yes.html.gz").write_bytes(gzip.compress(PRODUCT))
    Path("no.html").write_bytes(ARTICLE)
    Path("noise").write_bytes(bytes(range(256)) * 8 + b"<p>only $ 5.00")
    Path("torn.html.gz").write_bytes(b"\x1f\x8b" + b"torn" * 9)


def test_a_verdict_comes_with_its_evidence(vitrine: Vitrine, files: None) -> None:
    """In the words of the contract, the same for a page that is zipped."""
    lines = vitrine("pdp", "check", "--jsonl", "yes.html", "yes.html.gz", "no.html").out.splitlines()
    yes, zipped, no = map(json.loads, lines)
    assert yes.keys() == {"file", "url", "policy", "is_pdp", "signals", "evidence", "reasons", "facts"}
    assert (yes["is_pdp"], no["is_pdp"]) == (True, False)
    assert (yes["facts"]["name"], yes["facts"]["price"], yes["facts"]["currency"]) == (
        "A chair", "19.90", "EUR",
    )  # fmt: skip
    assert {**zipped, "file": "yes.html"} == yes
    assert no["reasons"]


@pytest.mark.parametrize(
    ("names", "options", "code"),
    [
        (["no.html"], [], 0),
        (["no.html"], ["--fail-empty"], 4),
        (["no.html", "yes.html"], ["--fail-empty"], 0),
        (["none.html"], [], 1),
        (["torn.html.gz"], [], 1),
        (["noise"], [], 1),
        (["none.html", "yes.html"], [], 3),
        (["yes.html"], ["--policy", "v9"], 2),
    ],
)
def test_the_exit_code_says_what_could_be_read(
    vitrine: Vitrine, files: None, names: list[str], options: list[str], code: int
) -> None:
    """That a page is none is an answer, and no failure."""
    assert vitrine("pdp", "check", *options, *names).code == code


def test_many_are_judged_in_their_order(
    vitrine: Vitrine, files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On several cores as on one."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    names = ["yes.html", "no.html"] * 16
    documents = vitrine("pdp", "check", "--json", *names).document["pages"]
    assert [each["file"] for each in documents] == names
    assert [each["is_pdp"] for each in documents] == [True, False] * 16
