"""Whether a page has a title and an image, as a product has (SPEC C61)."""

from __future__ import annotations

import pytest

from crawler.pdp import read_page
from crawler.pdp.title import first_image

URL = "https://shop.example/p/jug"
OG = '<meta property="og:type" content="{}"><meta property="og:title" content="Tall jug">'


def title_of(html: str) -> str | None:
    """The likeliest heading of a page."""
    found = read_page(f"<!doctype html>{html}".encode(), url=URL).title
    return found[1] if found else None


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<h1>Tall jug</h1>", "Tall jug"),
        ('<div class="product-title">Tall jug</div>', "Tall jug"),
        ("<title>Tall jug | Kiln</title><h1>Kiln</h1><h1>Tall jug</h1>", "Tall jug"),
        ("<title>Tall jug | Kiln</title><h2>News</h2><h2>Tall jug</h2>", "Tall jug"),
        ("<title>Tall jug | Kiln</title><h1 hidden>Tall jug</h1>", "Tall jug"),
        ('<b itemprop="name">Tall jug</b>', "Tall jug"),
        (OG.format("product"), "Tall jug"),
        (OG.format("article"), None),
        ("<title>Tall jug</title><h2>News</h2>", None),
        ("<h1>Your cart</h1>", None),
        ('<h1 class="logo">Kiln</h1>', None),
        ('<h1 class="logo">Kiln</h1><p class="tovarfullname">Tall jug</p>', "Tall jug"),
        ('<h1><a href="https://kiln.example/">Kiln</a></h1><h1>Tall jug</h1>', "Tall jug"),
        ('<h1><a href="/p/jug">Tall jug</a></h1>', "Tall jug"),
        ("<h1><style>.a{color:red}</style>Tall <b>jug</b></h1>", "Tall jug"),
        ("<title>Kiln: Customer reviews: Tall jug</title><h1>Tall jug: Customer reviews</h1>", None),
        ("<title>Tall jug - Customer reviews | Kiln</title><h1>Tall jug</h1>", "Tall jug"),
        ("<h1 hidden>Added to your cart today</h1>", None),
    ],
)
def test_what_names_the_product(html: str, title: str | None) -> None:
    """An h1 or a product title; else a heading that the document's title repeats, or Open Graph's."""
    assert title_of(html) == title


@pytest.mark.parametrize(
    ("html", "is_image"),
    [
        ('<img src="/jug.jpg">', True),
        ('<img srcset="/jug.jpg 2x">', True),
        ('<img data-srcset="/jug.jpg 2x" loading="lazy">', True),
        ('<picture><source srcset="/jug.avif"><img></picture>', True),
        ('<img alt="A jug">', False),
        ('<img src="/seen.gif" width="1" height="1">', False),
        ('<picture><source srcset="/seen.gif"><img width="1"></picture>', False),
        ("<p>no image</p>", False),
    ],
)
def test_what_is_an_image(html: str, *, is_image: bool) -> None:
    """Also one that a script fills in later, or whose sources stand in a picture around it."""
    page = read_page(f"<!doctype html>{html}".encode(), url=URL)
    assert (first_image(page.outline) is not None) is is_image
