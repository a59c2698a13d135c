"""What a page says about its product: the sources, who is believed, and who disagrees (SPEC F158)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.pdp import read_facts
from tests.unit.pdp.pages import OFFER, page, script

SHOWN = '<h1>Tall jug</h1><p class="price">€50.00</p>'
META = (
    '<meta property="product:price:amount" content="47">'
    '<meta property="product:price:currency" content="EUR">'
)
ITEM = (
    '<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Jug, tall</b>'
    '<i itemprop="offers" itemscope><u itemprop="price">49.00</u></i></div>'
)
JUG: dict[str, Any] = {"@type": "Product", "name": "Tall jug", "offers": OFFER}


@pytest.mark.parametrize(
    ("head", "body", "price", "source"),
    [
        (script(JUG) + META, ITEM + SHOWN, "48.00", "json-ld"),
        (META, ITEM + SHOWN, "49.00", "microdata"),
        (META, SHOWN, "47", "meta"),
        ("", SHOWN, "50.00", "dom"),
    ],
)
def test_the_first_source_that_answers_is_believed(head: str, body: str, price: str, source: str) -> None:
    """JSON-LD, then microdata, then the head, then what is seen."""
    facts = read_facts(page(body, head=head))
    assert (facts.price, facts.sources["price"]) == (Decimal(price), source)


def test_what_others_say_is_kept_beside_it() -> None:
    """Where it differs; another wording of a name does not."""
    facts = read_facts(page(ITEM + SHOWN, head=script(JUG) + META))
    assert facts.disagreements["price"] == {"microdata": "49.00", "meta": "47", "dom": "50.00"}
    assert "currency" not in facts.disagreements


def test_a_page_may_say_nothing() -> None:
    """Then every fact is empty."""
    facts = read_facts(page())
    assert (facts.name, facts.price, facts.sources, facts.disagreements) == ("", None, {}, {})


def test_an_image_is_absolute() -> None:
    """Against the page's address; what cannot be joined stays as it is."""
    for image, whole in (("/j.png", "https://shop.example/j.png"), ("http://[x", "http://[x")):
        assert read_facts(page(head=script({**JUG, "image": image}))).image == whole
