"""What the names in classes and ids speak of: a price, a purchase, a product's title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.pdp.needles import Haystack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_NAME_CHARS = 400

# Words that are looked for first, then the pattern that must hold where it is given.
# Names are English in most themes, whatever language the shop speaks.
_HINTS: dict[str, tuple[tuple[str, ...], re.Pattern[str] | None]] = {
    "price": (("price", "preis", "prix", "prezzo", "precio", "preco", "cena", "cijena", "tsena"), None),
    "buy": (
        (
            "cart",
            "buy",
            "basket",
            "bag",
            "orderb",
            "order-b",
            "order_b",
            "purchase",
            "kauf",
            "koupit",
            "warenkorb",
            "korzin",
        ),
        re.compile(
            r"add.{0,4}(?:cart|basket|bag|trolley)|(?:cart|basket|bag).{0,2}add|buy|purchase|warenkorb|kauf"
            r"|btn-cart|b(?:tn|utton)[-_]?(?:cart|basket)|(?:cart|order)[-_]?b(?:tn|utton)|koupit|korzin"
        ),
    ),
    "heading": (("title", "headline", "heading", "page_header", "page-header", "product-header"), None),
    "title": (
        ("title", "name", "heading"),
        re.compile(
            r"(?:product|prod|item|goods|article|artikel|pdp|listing)[a-z]{0,9}[-_]{0,2}(?:title|name|heading)"
            r"|(?:title|name)[-_]?(?:product|item)"
        ),
    ),
}


def hinted(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a hint and a name that gives it, each pair once."""
    known = list(names)
    lowered = [name[:MAX_NAME_CHARS].lower().replace("\n", " ") for name in known]
    haystack = Haystack.of(lowered)
    for hint, (words, pattern) in _HINTS.items():
        for place in haystack.places(words):
            if pattern is None or pattern.search(lowered[place]):
                yield hint, known[place]
