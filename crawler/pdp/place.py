"""Where an element stands on its page: what is around it, and whether it is one of many alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

MAX_CLIMB = 40

_OUTSIDE_TAGS = frozenset({"header", "footer", "nav"})
# Class and id names are cut into words first, so that `relative` is not `related`.
_ASIDE = re.compile(
    r"(?:^|[^a-z])(?:related|relat[ei]on\w*|recommend\w*|recommended|recs?|similar\w*|upsells?|up-sells?|cross-?sells?|cross-?selling"
    r"|also-?\w+|alsobought|recently\w*|last-?seen|best-?sell\w*|you-?may\w*|suggest\w*|accessor\w+|mini-?cart|cart-?drawer"
    r"|drawer-?cart|cart-?preview|side-?cart|mini-?basket|off-?canvas|mega-?menu|main-?menu|navbar|breadcrumbs?|frequently\w*"
    r"|bought-?together|complementary|zubehoer|zubehör|podobn\w+|soputstv\w*|cookie\w*|newsletter)(?:[^a-z]|$)"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The elements around `node`, nearest first, up to the body."""
    parent = node.parent
    for _ in range(MAX_CLIMB):
        if parent is None or parent.tag in {"body", "html", "-document"}:
            return
        yield parent
        parent = parent.parent


def is_aside(node: LexborNode) -> bool:
    """Whether `node` stands in a part of the page that is about other things than its subject."""
    for around in ancestors(node):
        if around.tag in _OUTSIDE_TAGS:
            return True
        if _ASIDE.search(_words(around)):
            return True
    return False


def _words(node: LexborNode) -> str:
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:400]
    return _CAMEL.sub("-", names).lower().replace("_", "-")


def shape_of(node: LexborNode, levels: int = 5) -> tuple[str, ...]:
    """The tags and first class names of `node` and what is right around it, alike for tiles of one grid."""
    shape = [_name(node)]
    for around in ancestors(node):
        if len(shape) > levels:
            break
        shape.append(_name(around))
    return tuple(shape)


def _name(node: LexborNode) -> str:
    classes = (node.attributes.get("class") or "").split()
    first = classes[0].rstrip("0123456789") if classes else ""
    return f"{node.tag}.{first}"


def selector_of(node: LexborNode) -> str:
    """A short selector that lets a person find the element."""
    attributes = node.attributes
    identity = attributes.get("id")
    if identity:
        return f"{node.tag}#{identity[:60]}"
    classes = (attributes.get("class") or "").split()[:2]
    return ".".join((node.tag or "", *classes))[:80]
