"""The text that a reader of the page sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

UNSEEN_TAGS = frozenset(
    {
        *("script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object"),
        *("textarea", "datalist", "noframes", "audio", "video", "canvas", "-comment"),
    }
)
# Text on both sides of these is one word; anything else parts words, as its style mostly does.
WITHIN_WORDS = frozenset({"b", "i", "em", "strong", "u", "font", "mark", "wbr", "small", "bdi", "bdo"})
# A text that begins so belongs to the word before it, whatever has ended between them.
_GOES_ON = frozenset(",.;:!?%)]}'’”»")  # ruff: ignore[ambiguous-unicode-character-string] - as pages have them
_TOP = frozenset({"body", "html", "-document"})
MAX_CLIMB = 40
BLOCK_CHARS = 3_000
OVERLAP_CHARS = 40
# What nodes are: texts, elements that part words, those that may stand in one, and those that nobody sees.
_TEXT, _PARTS, _WITHIN, _UNSEEN = range(4)
_MAY_HIDE = "[hidden],[aria-hidden],[style]"
_HIDDEN_STYLE = re.compile(r"(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.IGNORECASE)


def visible_text(tree: LexborHTMLParser) -> str:
    """A page's text without hidden parts, white space collapsed (SPEC F158)."""
    root = tree.root
    return "" if root is None else _joined(_pieces(root, hidden=_hidden_in(tree)))


def text_of(root: LexborNode, *, limit: int = 10_000_000, without: frozenset[str] = frozenset()) -> str:
    """The visible text below `root` up to about `limit` characters, `without` the elements of some tags."""
    pieces: list[str] = []
    size = 0
    for piece in _pieces(root, without):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            break
    return _joined(pieces)


def blocks_of(tree: LexborHTMLParser) -> Iterator[str]:
    """A page's visible text in blocks, each of which begins with the end of the one before."""
    root = tree.root
    pieces: list[str] = []
    size = 0
    for piece in () if root is None else _pieces(root, hidden=_hidden_in(tree)):
        pieces.append(piece)
        size += len(piece)
        if size > BLOCK_CHARS:
            text = _joined(pieces)
            yield text
            pieces = [text[-OVERLAP_CHARS:]]
            size = 0
    if root is not None:
        yield _joined(pieces)


def _joined(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def _hidden_in(tree: LexborHTMLParser) -> frozenset[int]:
    """Which elements of a page say that they are not shown: few, where each would have to be asked."""
    return frozenset(node.mem_id for node in tree.css(_MAY_HIDE) if is_hidden(node))


def _pieces(
    root: LexborNode, without: frozenset[str] = frozenset(), hidden: Collection[int] | None = None
) -> Iterator[str]:
    """Texts, and spaces where words part; without `hidden`, each element is asked whether it is."""
    kinds: dict[int | None, int] = {}  # by number, which takes half the time of a name
    skipped_to: int | None = None  # the last node of a hidden part
    is_parted = True
    for node in root.traverse(include_text=True):
        if skipped_to is not None:
            if node.mem_id == skipped_to:
                skipped_to = None
            continue
        number = node.tag_id
        kind = kinds.get(number)
        if kind is None:
            kind = kinds[number] = _kind_of(node.tag or "", without)
        if kind == _TEXT:
            text = node.text_content or " "
            yield text if is_parted or not _begins_word(text, node) else f" {text}"
            is_parted = text[-1].isspace()
        elif kind == _UNSEEN or (is_hidden(node) if hidden is None else hidden and node.mem_id in hidden):
            skipped_to = last_below(node)
        elif kind == _PARTS:
            yield " "
            is_parted = True


def _kind_of(tag: str, without: frozenset[str]) -> int:
    if tag == "-text":
        return _TEXT
    if tag in UNSEEN_TAGS or tag in without:
        return _UNSEEN
    return _WITHIN if tag in WITHIN_WORDS else _PARTS


def _begins_word(text: str, node: LexborNode) -> bool:
    """Whether a text begins another word than the text before it ended with."""
    return not text[0].isspace() and text[0] not in _GOES_ON and _follows(node)


def _follows(text: LexborNode) -> bool:
    """Whether an element that parts words has ended right before a text."""
    node: LexborNode | None = text
    for _ in range(MAX_CLIMB):
        if node is None:
            return False
        before = _seen_before(node)
        if before is not None:
            return _ends_parted(before)
        node = node.parent
        if node is None or node.tag not in WITHIN_WORDS:
            return False  # one that parts words has done so where it began
    return False


def _seen_before(node: LexborNode) -> LexborNode | None:
    """What stands before a node beside it, but for what nobody sees."""
    before = node.prev
    while before is not None and (before.tag in UNSEEN_TAGS or is_hidden(before)):
        before = before.prev
    return before


def _ends_parted(node: LexborNode) -> bool:
    """Whether the end of a node parts words: its own, or that of the last one in it."""
    last: LexborNode | None = node
    while last is not None and last.tag in WITHIN_WORDS:
        last = last.last_child
    return last is not None and last.tag != "-text"


def is_out_of_sight(node: LexborNode) -> bool:
    """Whether an element, or something around it, says that it is not shown."""
    around: LexborNode | None = node
    for _ in range(MAX_CLIMB):
        if around is None or around.tag in _TOP:
            return False
        if is_hidden(around):
            return True
        around = around.parent
    return False


def is_hidden(node: LexborNode) -> bool:
    """Whether the element itself says that it is not shown."""
    return hides(node.attributes)


def hides(attributes: Mapping[str, str | None]) -> bool:
    """Whether an element with these attributes is not shown."""
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    return bool(style) and bool(_HIDDEN_STYLE.search(style or ""))


def last_below(node: LexborNode) -> int | None:
    """The identity of the last node below `node`; None where there is nothing below it."""
    last = None
    child = node.last_child
    while child is not None:
        last = child
        child = child.last_child
    return None if last is None else last.mem_id
