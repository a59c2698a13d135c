"""Where an element stands on its page: what is around it, and whether it is one of many alike."""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import Factory, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborNode

MAX_CLIMB = 40
_NEAR = 6
_TILE_CLIMB = 9
_SHAPE_CLIMB = 5
_TILES_FROM = 3
_MAX_NEIGHBOURS = 100
_MAX_TITLE = 300
_WORD = re.compile(r"\w+")

_OUTSIDE_TAGS = frozenset({"header", "footer", "nav", "dialog"})
# Class and id names are cut into words first, so that `relative` is not `related`.
_ASIDE = re.compile(
    r"(?:^|[^a-z])(?:"
    r"related|relat[ei]on\w*|recommend\w*|recs?|similar\w*|up-?sells?|cross-?sell(?:s|ing)?|complementary"
    r"|also-?\w+|recently\w*|last-?seen|best-?sell\w*|you-?may\w*|suggest\w*|accessor\w+|frequently\w*"
    r"|bought-?together|zubehoer|zubehör|podobn\w+|soputstv\w*"
    r"|mini-?cart|cart-?drawer|drawer-?cart|cart-?preview|side-?cart|mini-?basket"
    r"|quick-?(?:view|shop|look|buy)|modal|pop-?up|(?<!product-)dialog|lightbox"
    r"|off-?canvas|mega-?menu|main-?menu|navbar|breadcrumbs?|cookie\w*|newsletter"
    r")(?:[^a-z]|$)"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def ancestors(node: LexborNode, most: int = MAX_CLIMB) -> Iterator[LexborNode]:
    """The elements around `node`, at most so many, nearest first, up to the body."""
    parent = node.parent
    for _ in range(most):
        if parent is None or parent.tag in {"body", "html", "-document"}:
            return
        yield parent
        parent = parent.parent


@frozen(eq=False)
class Surroundings:
    """What is around the page's title and around its prices, by identity of the elements."""

    titled: frozenset[int]  # the title's ancestors: a part of the page that holds the title is not beside it
    priced: frozenset[int]  # the near ancestors of prices
    named: frozenset[str] = frozenset()  # the title's words
    asides: dict[int, bool] = Factory(dict)  # what is known of the blocks that were asked about

    @classmethod
    def of(cls, title: LexborNode | None, prices: Iterable[LexborNode]) -> Surroundings:
        """Collect the ancestors once for all questions about the page."""
        titled = {around.mem_id for around in ancestors(title)} if title is not None else set()
        priced = {around.mem_id for price in prices for around in ancestors(price, _NEAR)}
        named = set(_WORD.findall(title.text()[:_MAX_TITLE].lower())) if title is not None else set()
        return cls(frozenset(titled), frozenset(priced), frozenset(named))

    def is_named_in(self, heading: str) -> bool:
        """Whether a heading in lower case has at least half of the title's words."""
        return bool(self.named) and len(self.named & set(_WORD.findall(heading))) * 2 >= len(self.named)

    def is_aside(self, node: LexborNode) -> bool:
        """Whether `node` stands in a part of the page that is about other things than its subject."""
        climbed: list[int] = []
        verdict = False
        for around in ancestors(node):
            identity = around.mem_id
            known = self.asides.get(identity)
            if known is not None or identity in self.titled:
                verdict = bool(known)
                break
            climbed.append(identity)
            if around.tag in _OUTSIDE_TAGS or _is_named_aside(around):
                verdict = True
                break
        self.asides.update(dict.fromkeys(climbed, verdict))
        return verdict

    def is_in_tile(self, node: LexborNode) -> bool:
        """Whether `node` stands in one of several neighbours alike that each have a picture and a price."""
        for around in ancestors(node, _TILE_CLIMB):
            if around.mem_id in self.titled:
                return False
            if around.mem_id in self.priced and self._priced_neighbours(around) >= _TILES_FROM:
                return around.css_first("img") is not None
        return False

    def _priced_neighbours(self, node: LexborNode) -> int:
        parent = node.parent
        if parent is None:
            return 0
        name = _name(node)
        neighbours = (child for child, _ in zip(parent.iter(), range(_MAX_NEIGHBOURS), strict=False))
        return sum(1 for child in neighbours if child.mem_id in self.priced and _name(child) == name)


def _is_named_aside(node: LexborNode) -> bool:
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:400]
    return len(names) > 1 and _are_of_an_aside(names)


@lru_cache(maxsize=8192)
def _are_of_an_aside(names: str) -> bool:
    """Whether the names of an element speak of other things; the pages of a shop share most of them."""
    return _ASIDE.search(_CAMEL.sub("-", names).lower().replace("_", "-")) is not None


def shape_of(node: LexborNode) -> tuple[str, ...]:
    """The tags and first class names of `node` and what is right around it, alike for tiles of one grid."""
    return tuple(map(_name, (node, *ancestors(node, _SHAPE_CLIMB))))


def _name(node: LexborNode) -> str:
    classes = (node.attributes.get("class") or "").split()
    first = classes[0].rstrip(string.digits) if classes else ""
    return f"{node.tag}.{first}"


def selector_of(node: LexborNode) -> str:
    """A short selector that lets a person find the element."""
    attributes = node.attributes
    identity = attributes.get("id")
    if identity:
        return f"{node.tag}#{identity[:60]}"
    classes = (attributes.get("class") or "").split()[:2]
    return ".".join((node.tag or "", *classes))[:80]
