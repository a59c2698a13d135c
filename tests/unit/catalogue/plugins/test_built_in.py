"""What the built-in plugins make of pages."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from crawler.catalogue.plugins import PluginRegistry, run_plugins
from crawler.pdp import Signals, Verdict
from tests.unit.catalogue.plugins.made_up import URL, page

if TYPE_CHECKING:
    from crawler.catalogue.plugins import AssetRecord, PluginPage

PDP = Verdict("v1.2", is_pdp=True, signals=Signals())


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
    """Known by what its listing is known by; what is said of it is filled in with the listing."""
    product = found(page(url=f"{URL}?colour=red", verdict=PDP))["product"]
    assert (product.kind, product.key, product.url) == ("product", URL, f"{URL}?colour=red")
    assert (product.title, product.content, product.details) == (None, {}, {})
    assert "product" not in found(page(verdict=Verdict("v1.2", is_pdp=False, signals=Signals())))


@pytest.mark.parametrize(
    ("content_type", "is_media"),
    [
        ("image/png", True),
        ("Image/SVG+xml; charset=utf-8", True),
        ("application/pdf", True),
        ("application/json", False),
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
