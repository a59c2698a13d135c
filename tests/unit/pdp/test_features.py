"""A page's features as one document (SPEC F158)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from crawler.pdp import (
    Facts,
    Variant,
    facts_as_dict,
    judge,
    read_facts,
    verdict_as_dict,
)
from crawler.pdp.features import features
from tests.unit.pdp.pages import OFFER, page, script

HEAD = (
    '<title> Tall  jug </title><meta name="Description" content="Holds two litres">'
    '<link rel="canonical" href="/p/jug">'
)
BODY = (
    '<nav><a href="/jugs">Jugs</a></nav><h1>Tall jug</h1><img src="/j.png"><p class="price">€48.00</p>'
    '<button>Add to cart</button><input type="hidden" value="x"><footer><a href="/about">About</a></footer>'
)


def document(head: str = HEAD, body: str = BODY) -> dict[str, Any]:
    """The features of a page."""
    read = page(body, head=head)
    return features(read, judge(read), read_facts(read))


def test_what_is_kept_of_a_page() -> None:
    """Its head, headings, controls, navigation, facts and verdict."""
    found = document()
    assert found["meta"] == {
        "title": "Tall jug", "meta_description": "Holds two litres", "canonical_url": "/p/jug",
    }  # fmt: skip
    assert found["headings"] == {"h1": ["Tall jug"], "h2": []}
    assert [each["text"].lower() for each in found["ctas"]] == ["add to cart"]
    assert found["navigation"]["main"] == [{"text": "Jugs", "href": "/jugs"}]
    assert found["navigation"]["footer"] == [{"text": "About", "href": "/about"}]
    assert found["pdp_core"] == {
        "price": "48.00", "currency": "EUR", "availability": None, "add_to_cart_present": True,
    }  # fmt: skip
    assert (found["verdict"]["is_pdp"], found["facts"]["name"]) == (True, "Tall jug")


def test_structured_data_is_told_by_its_fields() -> None:
    """In order, so that the same page gives the same document."""
    head = HEAD + script({"@type": "Product", "name": "Tall jug", "offers": OFFER})
    found = document(head)
    assert found["schema_org"] == {"product_detected": True, "fields": ["@type", "name", "offers"]}
    assert json.dumps(found) == json.dumps(document(head))
    assert document()["schema_org"] == {"product_detected": False, "fields": []}


def test_facts_and_verdicts_are_json() -> None:
    """Amounts are texts, and what is not known is null."""
    variant = Variant("Red", "1", Decimal("48.00"), "EUR", "InStock")
    said = facts_as_dict(Facts(price=Decimal("48.00"), variants=(variant,), breadcrumbs=("a",)))
    assert (said["price"], said["name"], said["breadcrumbs"]) == ("48.00", None, ["a"])
    assert said["variants"][0]["price"] == "48.00"
    told = verdict_as_dict(judge(page(BODY, head=HEAD)))
    assert json.loads(json.dumps([said, told])) == [said, told]
    assert set(told) == {"policy", "is_pdp", "signals", "evidence", "reasons"}
