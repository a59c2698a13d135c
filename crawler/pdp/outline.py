"""The elements that the readers ask for, collected in one pass over the page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate, compress, repeat
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from crawler.pdp.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode


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
            "kupit",
            "warenkorb",
            "korzin",
            "comprar",
            "panier",
            "carrello",
            "carrito",
            "carrinho",
            "koszyk",
            "kosik",
            "winkelwagen",
            "sepet",
            "acheter",
            "acquista",
            "atc-",
            "atcb",
        ),
        re.compile(
            r"add.{0,4}(?:cart|basket|bag|trolley)|(?:cart|basket|bag).{0,2}add|buy|purchase|warenkorb|kauf"
            r"|btn-cart|b(?:tn|utton)[-_]?(?:cart|basket)|(?:cart|order)[-_]?b(?:tn|utton)|ko?upit|korzin"
            r"|comprar|panier|carrello|carrito|carrinho|koszyk|kosik|winkelwagen|sepet|acheter|acquista"
            r"|(?<![a-z])atc-?(?:btn|button|cta)"
        ),
    ),
    "heading": (("title", "headline", "heading", "page_header", "page-header", "product-header"), None),
    "title": (
        ("title", "name", "heading"),
        re.compile(
            r"(?:product|prod|item|goods|article|artikel|pdp|listing|produkt|produit|prodott|producto|"
            r"tovar|towar"
            r"|urun|proizvod|termek|vare)[a-z]{0,9}[-_]{0,2}(?:title|name|heading)"
            r"|(?:title|name)[-_]?(?:product|item|produkt|produit|tovar)"
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


# ── the elements ──


Attributes = dict[str, str | None]

# Attributes that name an element; all but the first two stand in for classes that a machine has made.
_NAMING = (
    "class",
    "id",
    "data-testid",
    "data-test-id",
    "data-test",
    "data-qa",
    "data-hook",
    "data-auto",
    "data-automation-id",
)
# Tags whose names speak for no product, and that are many.
_MUTE_TAGS = frozenset(
    {
        *("br", "hr", "wbr", "option", "optgroup", "tbody", "thead", "tr", "col", "style", "noscript"),
        *("path", "g", "use", "circle", "rect", "polygon", "line", "defs", "symbol", "clippath"),
    }
)
_NEVER_ASKED = _MUTE_TAGS | {"div", "span", "li", "ul", "p", "svg", "td", "i", "b"}
# A part of the page that is called a button is no control, but holds some.
_NEVER_PRESSED = frozenset(
    {
        *("a", "button", "input", "select", "form", "h1", "h2", "h3", "img", "meta", "link", "title", "base"),
        *("script", "html", "body", "main", "article", "nav", "footer", "header"),
    }
)


@define(eq=False)
class Element:
    """One element with its attributes, read once."""

    node: LexborNode
    tag: str
    attributes: Attributes
    order: int  # place in the document

    def get(self, name: str) -> str:
        """The attribute's value, empty where there is none."""
        return self.attributes.get(name) or ""

    def names(self) -> str:
        """Everything that names the element, classes first."""
        return " ".join(filter(None, map(self.attributes.get, _NAMING)))


class Elements:
    """Every element of a page, in columns: most of them are never asked for."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.nodes: list[LexborNode] = tree.css("*")
        self.tags = [node.tag for node in self.nodes]
        self.attributes: list[Attributes] = [node.attributes for node in self.nodes]
        self.attribute_names: set[str] = set().union(*self.attributes)

    def at(self, places: Iterable[int]) -> list[Element]:
        """The elements at some places of the document."""
        nodes, tags, attributes = self.nodes, self.tags, self.attributes
        return [Element(nodes[place], tags[place] or "", attributes[place], place) for place in places]

    def having(self, name: str) -> list[int]:
        """The places of the elements with an attribute, in order."""
        if name not in self.attribute_names:
            return []
        return [place for place, attributes in enumerate(self.attributes) if name in attributes]

    def column(self, name: str) -> list[str | None]:
        """An attribute of every element."""
        return list(map(dict.get, self.attributes, repeat(name)))


class ByTag:
    """Elements by tag, put together when the first reader asks for a tag."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._asked: dict[str, list[Element]] = {}
        self._places: defaultdict[str | None, list[int]] = defaultdict(list)
        for place, tag in enumerate(elements.tags):
            if tag not in _NEVER_ASKED:
                self._places[tag].append(place)

    def places(self, *tags: str) -> list[int]:
        """Where in the document elements with one of the tags are, tag by tag."""
        return [place for tag in tags for place in self._places.get(tag, ())]

    def __getitem__(self, tag: str) -> list[Element]:
        if tag not in self._asked:
            self._asked[tag] = self._elements.at(self._places.get(tag, ()))
        return self._asked[tag]


def _hints_of(names: list[str]) -> dict[str, list[str]]:
    """The names that give hints, with these."""
    hints: dict[str, list[str]] = {}
    for hint, number in hinted(names):
        hints.setdefault(names[number], []).append(hint)
    return hints


_HINTS_OF_NAMES = Memo(_hints_of)


class ByHint:
    """Elements by what a class, an id or a test id speaks of, put together as those of `ByTag`."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._asked: dict[str, list[Element]] = {}
        self._places: defaultdict[str, set[int]] = defaultdict(set)
        for name in _NAMING:
            if name in elements.attribute_names:
                self._read(_HINTS_OF_NAMES.each(elements.column(name)))

    def _read(self, answers: list[list[str] | None]) -> None:
        tags = self._elements.tags
        for place in compress(range(len(answers)), answers):
            if tags[place] not in _MUTE_TAGS:
                for hint in answers[place] or ():
                    self._places[hint].add(place)

    def __getitem__(self, hint: str) -> list[Element]:
        if hint not in self._asked:
            self._asked[hint] = self._elements.at(sorted(self._places.get(hint, ())))
        return self._asked[hint]


@define(eq=False)
class Outline:
    """A page's elements by what they can be evidence of, each list in document order."""

    elements: Elements
    by_tag: ByTag
    by_hint: ByHint
    scopes: list[Element] = Factory(list)  # itemscope
    properties: list[Element] = Factory(list)  # itemprop
    typed: list[Element] = Factory(list)  # RDFa's typeof
    pressed: list[Element] = Factory(list)  # role=button on something that is neither button nor link
    priced: list[Element] = Factory(list)  # data-price

    def all(self, *tags: str) -> Iterator[Element]:
        """Every element with one of the tags, tag by tag."""
        for tag in tags:
            yield from self.by_tag[tag]

    def hinted(self, hint: str) -> list[Element]:
        """Elements whose names speak of a `price`, a purchase (`buy`), a product `title` or any `heading`."""
        return self.by_hint[hint]


# Attributes that put an element on a list of its own.
_MARKING: dict[str, Callable[[Outline], list[Element]]] = {
    "itemprop": attrgetter("properties"),
    "itemscope": attrgetter("scopes"),
    "typeof": attrgetter("typed"),
    "role": attrgetter("pressed"),
    "data-price": attrgetter("priced"),
}


def read_outline(tree: LexborHTMLParser) -> Outline:
    """Look at every element once and keep what any reader may ask for."""
    elements = Elements(tree)
    outline = Outline(elements, ByTag(elements), ByHint(elements))
    for attribute, marked in _MARKING.items():
        places = elements.having(attribute)
        marked(outline).extend(
            elements.at(place for place in places if _is_marked(elements, place, attribute))
        )
    return outline


def _is_marked(elements: Elements, place: int, attribute: str) -> bool:
    tag = elements.tags[place]
    if attribute == "role" and (elements.attributes[place]["role"] != "button" or tag in _NEVER_PRESSED):
        return False
    return tag not in _MUTE_TAGS
