"""What the names in classes and ids speak of: many short texts, searched as one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# No attribute of a parsed page holds it: the parser replaces it.
BETWEEN = "\0"


@frozen
class Haystack:
    """Many short texts in lower case as one, which is many times faster to search."""

    joined: str
    starts: list[int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Haystack:
        """Join texts that hold no NUL."""
        joined = BETWEEN.join(texts).lower()
        lengths = map(len, joined.split(BETWEEN))
        return cls(joined, list(accumulate((length + 1 for length in lengths), initial=0)))

    def places(self, words: Iterable[str]) -> list[int]:
        """The numbers of the texts in which one of the words stands, in order."""
        found: set[int] = set()
        for word in words:
            at = self.joined.find(word)
            while at >= 0:
                place = bisect_right(self.starts, at) - 1
                found.add(place)
                at = self.joined.find(word, self.starts[place + 1])
        return sorted(found)

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
        """What matches and the number of the text where it does, in order."""
        for match in pattern.finditer(self.joined):
            yield match[0], bisect_right(self.starts, match.start()) - 1


# ── what the names in classes and ids speak of ──


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


_HINTS_OF: defaultdict[str, list[str]] = defaultdict(list)
for _hint, (_words, _) in _HINTS.items():
    for _word in _words:
        _HINTS_OF[_word].append(_hint)


def _any_of(words: set[str]) -> str:
    """A pattern for any of some words, of which none begins another, that tries each beginning once."""
    if words == {""}:
        return ""
    by_first: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        by_first[word[0]].add(word[1:])
    branches = (re.escape(first) + _any_of(rest) for first, rest in sorted(by_first.items()))
    return f"(?:{'|'.join(branches)})"


# One search for all words takes less time than one for each.
_ANY_WORD = re.compile(_any_of(set(_HINTS_OF)))


def hinted(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Pairs of a hint and the number of a name that gives it, each pair once."""
    known = [name[:MAX_NAME_CHARS] for name in names]
    found: set[tuple[str, int]] = set()
    haystack = Haystack.of(known)
    for word, place in haystack.matches(_ANY_WORD):
        found.update((hint, place) for hint in _HINTS_OF[word])
    for hint, place in sorted(found):
        pattern = _HINTS[hint][1]
        if pattern is None or pattern.search(known[place].lower().replace("\n", " ")):
            yield hint, place
