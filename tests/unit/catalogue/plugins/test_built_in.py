"""What the built-in plugins make of pages."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from crawler.catalogue.plugins import PluginRegistry, run_plugins
from tests.unit.catalogue.plugins.made_up import URL, page

if TYPE_CHECKING:
    from crawler.catalogue.plugins import AssetRecord, PluginPage

FACTS = {
    "name": "A  chair", "price": "19.9", "currency": "EUR", "list_price": None, "availability": "InStock",
    "sku": "C-1", "gtin": "4006381333931", "brand": "Oak", "image": "https://shop.example/c.png", "mpn": None,
    "sources": {"name": "json-ld"}, "variants": None,
}  # fmt: skip
PDP = {"is_pdp": True, "policy": "v1.2", "reasons": []}


def found(page: PluginPage) -> dict[str, AssetRecord]:
    """What all of them find, by plugin; none may fail."""
    registry = PluginRegistry()
    records, failures = run_plugins(registry.pick(registry.names), page)
    assert failures == []
    assert len({name for name, _ in records}) == len(records)
    return dict(records)


def test_every_html_page_is_an_asset() -> None:
    """Known by its own URL; title and text decide its version."""
    one = found(page(title="A chair", visible_text="A chair\n for  you", url=f"{URL}?b=2&a=1#top"))
    assert set(one) == {"page"}
    kept = one["page"]
    assert (kept.kind, kept.key, kept.title) == ("page", f"{URL}?a=1&b=2", "A chair")
    digest = hashlib.sha256(b"A chair for you").hexdigest()
    assert kept.content == {"title": "A chair", "text_sha256": digest}
    assert kept.details == {"canonical_url": URL, "text_chars": 15}
    same = found(page(title="A chair", visible_text="A chair for\tyou", body=b"<!-- other -->"))["page"]
    other = found(page(title="A chair", visible_text="A chair for me"))["page"]
    assert same.checksum == kept.checksum != other.checksum


def test_a_product_page_is_a_product_too() -> None:
    """With the facts that say what is sold at what price."""
    product = found(page(verdict=PDP, facts=FACTS))["product"]
    assert (product.key, product.url, product.title) == (URL, URL, "A chair")
    assert product.content == {
        "name": "A chair", "brand": "Oak", "sku": "C-1", "gtin": "4006381333931", "mpn": None,
        "price": "19.90", "list_price": None, "currency": "EUR", "availability": "InStock",
    }  # fmt: skip
    assert product.details == {"image": "https://shop.example/c.png", "policy": "v1.2"}


@pytest.mark.parametrize(
    ("changed", "is_new"),
    [
        ({"price": "19.90"}, False),
        ({"price": "19.900"}, False),
        ({"image": "https://cdn.example/x.png"}, False),
        ({"sources": {"name": "dom"}}, False),
        ({"price": "18.00"}, True),
        ({"price": "19.905"}, True),
        ({"price": None}, True),
        ({"currency": "USD"}, True),
        ({"availability": "OutOfStock"}, True),
    ],
)
def test_what_a_customer_would_notice_is_a_new_version(changed: dict[str, Any], *, is_new: bool) -> None:
    """How a price is spelled, or where its picture lies, is not."""
    before = found(page(verdict=PDP, facts=FACTS))["product"]
    after = found(page(verdict=PDP, facts={**FACTS, **changed}))["product"]
    assert (before.checksum != after.checksum) is is_new
    assert before.key == after.key


def test_a_product_is_known_by_what_its_listing_is_known_by() -> None:
    """Whatever its SKU is, and by whichever address it was found."""
    red, blue = (
        found(page(url=f"{URL}?colour={sku}", verdict=PDP, facts={**FACTS, "sku": sku}))["product"]
        for sku in ("red", "blue")
    )
    assert red.key == blue.key == URL
    assert red.checksum != blue.checksum


def test_a_page_may_say_anything_of_its_product() -> None:
    """A hostile page costs no asset."""
    facts = {
        "name": "a\x00b\ud800", "price": "1e999999", "currency": ["EUR"], "sku": "x" * 10_000, "gtin": 5,
        "image": "x" * 100_000,
    }  # fmt: skip
    product = found(page(verdict=PDP, facts=facts))["product"]
    assert (product.title, product.content["price"], product.content["currency"]) == ("a b", None, None)
    assert product.content["sku"] == "x" * 100


@pytest.mark.parametrize(
    ("content_type", "is_media"),
    [
        ("image/png", True),
        ("Image/SVG+xml; charset=utf-8", True),
        ("application/pdf", True),
        ("video/mp4", True),
        ("audio/mpeg", True),
        ("application/json", False),
        ("text/plain", False),
        ("", False),
    ],
)
def test_files_are_assets_by_their_type(content_type: str, *, is_media: bool) -> None:
    """With the digest of their bytes."""
    assets = found(page(content_type=content_type, body=b"%PDF"))
    assert set(assets) == ({"media"} if is_media else set())
    if is_media:
        content = assets["media"].content
        assert (content["sha256"], content["bytes"]) == (hashlib.sha256(b"%PDF").hexdigest(), 4)
        assert content["type"] == content_type.lower().partition(";")[0]
