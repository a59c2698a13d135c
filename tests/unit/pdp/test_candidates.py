"""Which links are worth judging, and in which order."""

from __future__ import annotations

from crawler.pdp import read_page
from crawler.pdp.candidates import discover, fallback_links

HOME = """
<nav><a href="/c/cups">Cups</a><a href="/about">About</a></nav>
<div class="teaser"><a href="/products/blue-cup">Blue cup</a><a href="https://www.shop.example.com/item/9">Nine</a></div>
<ul class="product-grid">
  <li><a href="/red-cup.html"><img src="r.jpg"></a><a href="/red-cup.html#reviews">Red cup</a></li>
  <li><a href="/p/2?b=2&amp;a=1">Two</a><a href="/p/2?a=1&amp;b=2">Two again</a></li>
  <li><a href="/cart/add/2">Add</a><a href="/account/wishes">Wishes</a><a href="/p/2.jpg">Photo</a></li>
</ul>
<p><a href="https://other.example.org/p/3">Partner</a><a href="mailto:a@shop.example.com">Mail</a></p>
<footer><a href="/imprint">Imprint</a><a href="/login">Login</a></footer>
"""


def test_order_and_borders() -> None:
    """Grids, then product-like addresses, then the rest; own site, no account, none twice (SPEC F153)."""
    found = discover(read_page(HOME.encode(), url="https://shop.example.com/"))
    assert [(candidate.url, candidate.reason) for candidate in found] == [
        ("https://shop.example.com/red-cup.html", "grid"),
        ("https://shop.example.com/p/2?a=1&b=2", "grid"),
        ("https://shop.example.com/products/blue-cup", "path"),
        ("https://www.shop.example.com/item/9", "path"),
        ("https://shop.example.com/about", "link"),
        ("https://shop.example.com/imprint", "link"),
    ]
    assert [candidate.tier for candidate in found] == sorted(candidate.tier for candidate in found)


def test_at_most_twenty() -> None:
    """No more than twenty candidates, the first of their tier."""
    body = "".join(f'<a href="/p/{number}">x</a>' for number in range(50))
    found = discover(read_page(body.encode(), url="https://shop.example.com/"))
    assert [candidate.url for candidate in found] == [
        f"https://shop.example.com/p/{number}" for number in range(20)
    ]


def test_base_href_and_subdomains() -> None:
    """Links are read against the base that the page sets; subdomains belong to the site (eTLD+1)."""
    body = '<base href="https://cdn.shop.co.uk/x/"><a href="p/1">a</a><a href="https://other.co.uk/p/2">b</a>'
    found = discover(read_page(body.encode(), url="https://shop.co.uk/"))
    assert [candidate.url for candidate in found] == ["https://cdn.shop.co.uk/x/p/1"]


def test_fallbacks_lead_to_categories_first() -> None:
    """Where no product is in sight, categories come first, then the navigation, then other pages."""
    body = '<a href="/about">About</a><nav><a href="/sale">Sale</a></nav><a href="/collections/cups">Cups</a>'
    links = fallback_links(read_page(body.encode(), url="https://shop.example.com/"))
    assert links == [
        "https://shop.example.com/collections/cups",
        "https://shop.example.com/sale",
        "https://shop.example.com/about",
    ]
