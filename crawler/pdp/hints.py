"""What the names in classes and ids speak of: a price, a purchase, a product's title."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_NAME_CHARS = 400

# Words that are looked for first, then the pattern that must hold where it is given.
# Names are English in most themes, whatever language the shop speaks.
_HINTS: dict[str, tuple[tuple[str, ...], re.Pattern[str] | None]] = {
    "price": (("price", "preis", "prix", "prezzo", "precio", "preco", "cena", "cijena", "tsena"), None),
    "buy": (
        ("cart", "buy", "basket", "bag", "order", "purchase", "kauf", "koupit", "warenkorb", "korzin"),
        re.compile(
            r"add.{0,4}(?:cart|basket|bag|trolley)|(?:cart|basket|bag).{0,2}add|buy|purchase|warenkorb|kauf"
            r"|btn-cart|(?:cart|order)-?b(?:tn|utton)|koupit|korzin"
        ),
    ),
    "title": (
        ("title", "name", "heading"),
        re.compile(
            r"(?:product|prod|item|goods|article|artikel|pdp|listing)[a-z]{0,9}[-_]{0,2}(?:title|name|heading)"
            r"|(?:title|name)[-_]?(?:product|item)"
        ),
    ),
}


def hinted(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a hint and a name that gives it, each pair once.

    All names are searched as one text: on a page with a thousand of them that is ten times faster.
    """
    known = list(names)
    lowered = [name[:MAX_NAME_CHARS].lower() for name in known]
    joined = "\n".join(lowered)
    starts = list(accumulate((len(name) + 1 for name in lowered), initial=0))
    for hint, (words, pattern) in _HINTS.items():
        for place in _places(joined, words, starts):
            if pattern is None or pattern.search(lowered[place]):
                yield hint, known[place]


def _places(joined: str, words: Sequence[str], starts: list[int]) -> list[int]:
    """The numbers of the names in which one of the words stands, in order."""
    places = set()
    for word in words:
        at = joined.find(word)
        while at >= 0:
            place = bisect_right(starts, at) - 1
            places.add(place)
            at = joined.find(word, starts[place + 1])
    return sorted(places)
