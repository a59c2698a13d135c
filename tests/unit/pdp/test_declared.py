"""What a page declares itself to be, where that is no product."""

from __future__ import annotations

import pytest

from crawler.pdp.declared import declarations
from tests.unit.pdp.pages import page, script


@pytest.mark.parametrize(
    ("head", "reasons"),
    [
        (script({"@type": "NewsArticle"}), [("declared_article", True)]),
        (script({"@type": ["WebPage", "CollectionPage"]}), [("declared_collection", True)]),
        (script({"@type": "RealEstateListing"}), [("declared_property", True)]),
        (script({"@type": "WebPage", "mainEntity": {"@type": "Recipe"}}), [("declared_article", True)]),
        (script({"@type": "ItemList"}), [("declared_collection", False)]),
        ('<meta property="og:type" content="Article">', [("declared_article", False)]),
        ('<meta property="og:type" content="product.group">', [("declared_collection", False)]),
        (script({"@type": "WebPage", "isPartOf": {"@type": "Blog"}}), []),
        (script({"@type": "Product"}), []),
        ('<meta property="og:type" content="product">', []),
        ('<meta property="og:title" content="article">', []),
    ],
)
def test_what_is_declared(head: str, reasons: list[tuple[str, bool]]) -> None:
    """At the top of the data or in the head; a list and Open Graph are believed less."""
    assert [(found.reason, found.is_firm) for found in declarations(page(head=head))] == reasons
