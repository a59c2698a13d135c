"""The text that a reader of the page sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from crawler.pdp.page import Page

_UNSEEN_TAGS = frozenset(
    {
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "title",
        "svg",
        "iframe",
        "object",
        "textarea",
        "datalist",
        "-comment",
        "-doctype",
        "noframes",
        "audio",
        "video",
        "canvas",
        "math",
    }
)
_HIDDEN_STYLE = re.compile(r"(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.IGNORECASE)


def visible_text(page: Page) -> str:
    """The page's text without hidden parts, white space collapsed (SPEC F158)."""
    root = page.tree.root
    return "" if root is None else " ".join(text_of(root).split())


def text_of(root: LexborNode, *, limit: int = 10_000_000) -> str:
    """The visible text below `root`, a space between the pieces; the walk is flat, however deep the tree."""
    pieces: list[str] = []
    size = 0
    node: LexborNode | None = root
    while node is not None and size < limit:
        tag = node.tag
        if tag == "-text":
            piece = node.text_content or ""
            pieces.append(piece)
            size += len(piece)
            node = _after(node, root)
        elif tag in _UNSEEN_TAGS or (tag != "-document" and is_hidden(node)):
            node = _after(node, root)
        else:
            node = node.first_child or _after(node, root)
    return " ".join(pieces)


def is_hidden(node: LexborNode) -> bool:
    """Whether the element itself says that it is not shown."""
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    return bool(style) and bool(_HIDDEN_STYLE.search(style or ""))


def _after(node: LexborNode, root: LexborNode) -> LexborNode | None:
    """The next node in document order that is not below `node`, within `root`."""
    current: LexborNode | None = node
    while current is not None and current != root:
        following = current.next
        if following is not None:
            return following
        current = current.parent
    return None
