"""Padded pages are as large as asked, plausible, and still the same page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import serve
from crawler.demo.filler import padded
from crawler.demo.wording import WORDS
from tests.unit.demo.asking import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.demo import DemoServer

SIZE = 100_000


@pytest.fixture(scope="module")
def padded_demo() -> Iterator[DemoServer]:
    """A demo whose pages are all padded."""
    with serve(page_bytes=SIZE) as server:
        yield server


@pytest.mark.parametrize(
    ("shop", "path"),
    [
        ("plain", "/"),
        ("plain", "/products/fogbound-tumbler"),
        ("german", "/p/morgenkanne"),
        ("japanese", "/items/asagiri-gurasu"),
        ("hub", "/"),
    ],
)
def test_a_page_is_as_large_as_asked(padded_demo: DemoServer, shop: str, path: str) -> None:
    """Within two percent, in every language, and not as one long line."""
    html = read(padded_demo.url(shop, path))
    assert abs(len(html.encode()) - SIZE) < 0.02 * SIZE
    assert max(map(len, html.splitlines())) < 2500


def test_padding_adds_neither_price_nor_button(padded_demo: DemoServer, demo: DemoServer) -> None:
    """What decides about a product page is the same with and without padding."""
    path = "/products/fogbound-tumbler"
    slim, wide = (LexborHTMLParser(read(each.url("plain", path))) for each in (demo, padded_demo))
    for selector in (".price", ".buy-button", "h1", "img", "a"):
        assert len(slim.css(selector)) == len(wide.css(selector))


def test_padding_is_the_same_for_a_key_and_differs_between_keys() -> None:
    """Pages are reproducible, and yet no two are padded alike."""
    html = "<main>\n</main>"
    one, again, other = (padded(html, 9000, WORDS["en"], key) for key in ("a", "a", "b"))
    assert one == again != other


def test_a_page_that_is_large_enough_stays_as_it_is() -> None:
    """Padding never cuts."""
    html = "<main>\n</main>"
    assert padded(html, 5, WORDS["en"], "a") == html
