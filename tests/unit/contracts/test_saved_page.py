"""The saved-page contract: what it accepts and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from scrapy.exceptions import ContractFail

from crawler.capture.items import PageVerdict
from crawler.contracts.saved_page import SavedPage
from crawler.spiders.saved_pages import SavedPagesSpider

if TYPE_CHECKING:
    from pathlib import Path


def verdict(*, is_pdp: bool) -> PageVerdict:
    """A verdict by v1.2."""
    return PageVerdict("https://shop.example/", "v1.2", is_pdp, {"has_price": True}, [], {}, [])


@pytest.fixture
def contract(tmp_path: Path) -> SavedPage:
    """A case that expects a product page."""
    expected = {"url": "https://shop.example/p/1", "verdicts": {"v1.2": {"is_pdp": True, "reasons": []}}}
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    return SavedPage(SavedPagesSpider().parse, str(tmp_path))


def test_it_accepts_the_verdict_that_was_written_down(contract: SavedPage) -> None:
    """No complaint."""
    contract.post_process([verdict(is_pdp=True)])


@pytest.mark.parametrize(
    "output", [[], [verdict(is_pdp=False)], [verdict(is_pdp=True), verdict(is_pdp=True)]]
)
def test_it_refuses_anything_else(contract: SavedPage, output: list[PageVerdict]) -> None:
    """No verdict, another one, or several."""
    with pytest.raises(ContractFail):
        contract.post_process(output)


def test_it_asks_for_the_file(contract: SavedPage, tmp_path: Path) -> None:
    """The request carries the page's own URL, and is answered from the folder."""
    asked = contract.adjust_request_args({"url": "", "meta": None})
    assert asked["url"] == "https://shop.example/p/1"
    assert asked["meta"] == {"saved_page": str(tmp_path / "page.html")}
