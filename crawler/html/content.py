"""What of a page counts: its title, its main text in sections, a snippet, its language, where it leads."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import accumulate, chain
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from attrs import frozen
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from crawler.html.language import language_of
from crawler.html.parse import parse
from crawler.html.visible import UNSEEN_TAGS, WITHIN_WORDS, hides, is_hidden, last_below
from crawler.storable import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from selectolax.lexbor import LexborNode

NORMALIZATION = "v1"  # of the lines that a text's digest is made of
MAX_TEXT_BYTES = 350_000  # of a page's lines; an index of words holds no more than 1 MB of one text
MAX_TITLE_CHARS = 500
MAX_SNIPPET_CHARS = 280
MAX_LINKS = 200
MAX_URL_CHARS = 2_000
ENOUGH_CHARS = 100  # of a part that calls itself the main one
SENTENCE_CHARS = 40
_FURNITURE = frozenset({"nav", "header", "footer", "aside"})
_CONTROLS = frozenset({"button", "select", "option", "label", "input", "dialog"})
_FURNITURE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "dialog", "alertdialog"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = WITHIN_WORDS | frozenset(
    {
        *(
            "a",
            "abbr",
            "acronym",
            "bdi",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "img",
            "ins",
            "kbd",
            "picture",
        ),
        *(
            "q",
            "rp",
            "rt",
            "ruby",
            "s",
            "samp",
            "source",
            "span",
            "strike",
            "sub",
            "sup",
            "time",
            "tt",
            "var",
        ),
    }
)
# What steers a terminal or turns words around has no place in what is shown, nor has half a character.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_PLAIN_PATH = re.compile(r"/(?:[\w-][\w.-]*/)*(?:[\w-][\w.-]*)?(?:\?[\w=&.-]*)?", re.ASCII)
_MARKS = 'main, [role="main"], article, base[href]'  # what says where the main part is and links lead
_LINE, _HEADING = "\n", "\f"
_NO_ATTRIBUTES: Mapping[str, str | None] = MappingProxyType({})


@frozen
class Ignored:
    """What of a page is no part of its text: elements that selectors name, lines with a text in them."""

    selectors: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


NOTHING_IGNORED = Ignored()


@frozen
class ContentQuestion:
    """A page whose content is wanted."""

    body: bytes
    url: str
    content_type: str = ""
    content_language: str = ""  # as the answer's header has it
    ignored: Ignored = NOTHING_IGNORED


@frozen
class Section:
    """A heading, empty before the first, and the lines below it."""

    heading: str
    lines: tuple[str, ...]


@frozen
class Content:
    """What one pass over a page found; one with a `problem` has no text."""

    problem: str  # a reason code; empty where it could be read
    title: str
    sections: tuple[Section, ...]
    snippet: str
    language: str
    links: tuple[str, ...]  # where its main part leads, in its order, without repetitions
    is_cut: bool  # it says more than is kept

    @property
    def text(self) -> str:
        """The main text, a line for each block."""
        return "\n".join(line for _, line in self._all_lines)

    @property
    def headings(self) -> list[int]:
        """The numbers of the text's lines that are headings."""
        return [number for number, (is_heading, _) in enumerate(self._all_lines) if is_heading]

    @property
    def _all_lines(self) -> Iterator[tuple[bool, str]]:
        for part in self.sections:
            for number, line in enumerate((part.heading, *part.lines)):
                if line:
                    yield number == 0, line


def content_of(question: ContentQuestion) -> Content:
    """Read a page once; any bytes give a content, bad ones one with a problem."""
    document = parse(question.body, content_type=question.content_type)
    body = document.tree.body
    if document.problem or body is None:
        return Content(document.problem or "empty_page", "", (), "", "und", (), is_cut=False)
    _hide(document.tree, question.ignored.selectors)
    marks = document.tree.css(_MARKS)  # once: to look through a tree takes half as long as to parse
    anchors: list[str] = []
    main = _main_part(marks, body)
    sections, is_cut = _bounded(_sections(main, question.ignored.texts, anchors))
    content = Content(
        problem="",
        title=_title(document.tree, sections),
        sections=sections,
        snippet=_snippet(sections),
        language="und",
        links=_links(anchors, _base(marks, question.url)),
        is_cut=is_cut,
    )
    declared = (question.content_language, _lang_attribute(document.tree))
    return _with_language(content, declared)


def plain(text: str) -> str:
    """`text` on one line, composed, without what nobody sees and what no database takes."""
    if text.isprintable():  # no control, no half of a character, no mark that turns words around
        text = (text if text.isascii() else normal("NFC", text)).strip()
        return " ".join(text.split()) if "  " in text else text
    text = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    return " ".join(_STEERING.sub("", normal("NFC", text)).split())


def snippet_of(text: str) -> str:
    """The beginning of `text`, cut at a word (SPEC 59)."""
    if len(text) <= MAX_SNIPPET_CHARS:
        return text
    head = text[: MAX_SNIPPET_CHARS - 1]
    shorter = head.rpartition(" ")[0]
    return (shorter if len(shorter) > MAX_SNIPPET_CHARS // 2 else head).rstrip(" ,;:") + "…"


def _with_language(content: Content, declared: tuple[str, ...]) -> Content:
    return Content(
        content.problem, content.title, content.sections, content.snippet,
        language_of(content.text, *declared), content.links, content.is_cut,
    )  # fmt: skip


# ── the part that counts ──


def problem_of_selector(selector: str) -> str | None:
    """Why a selector cannot be one; None for one that can."""
    try:
        LexborHTMLParser("<p>").css(selector)
    except (SelectolaxError, ValueError) as error:
        return str(error) or "it cannot be read"
    return None if selector.strip() else "it is empty"


def _hide(tree: LexborHTMLParser, selectors: tuple[str, ...]) -> None:
    """Have what they name count as not shown; one that names nothing this time says nothing of the page."""
    for selector in selectors:
        with suppress(SelectolaxError, ValueError):
            for node in tree.css(selector):
                node.attrs["hidden"] = ""


def _main_part(marks: list[LexborNode], body: LexborNode) -> LexborNode:
    """What calls itself the main part, if it says enough; one article, if it says most of it (SPEC 58)."""
    mains = [node for node in marks if node.tag == "main" or node.attributes.get("role") == "main"]
    for found in (mains, [node for node in marks if node.tag == "article"]):
        if len(found) != 1 or is_hidden(found[0]):
            continue
        enough = ENOUGH_CHARS
        if found[0].tag == "article":
            enough = max(enough, sum(len(piece) for piece in _pieces(body)) // 2)
        if _has_chars(found[0], enough):
            return found[0]
    return body


def _has_chars(root: LexborNode, enough: int) -> bool:
    return any(size >= enough for size in accumulate(len(piece) for piece in _pieces(root)))


def _sections(root: LexborNode, ignored: tuple[str, ...], anchors: list[str]) -> Iterator[Section]:
    """The sections; what leads somewhere on the way is added to `anchors`."""
    heading, lines = "", list[str]()
    for is_heading, line in _lines(root, anchors):
        if any(text in line for text in ignored):
            continue
        if is_heading:
            if heading or lines:
                yield Section(heading, tuple(lines))
            heading, lines = line, []
        else:
            lines.append(line)
    if heading or lines:
        yield Section(heading, tuple(lines))


def _lines(root: LexborNode, anchors: list[str]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is a heading."""
    pieces: list[str] = []
    is_heading = False
    for piece in chain(_pieces(root, anchors), (_LINE,)):
        if piece is not _LINE and piece is not _HEADING:  # no text is one of these: it has neither sign
            pieces.append(piece)
            continue
        if pieces and (line := plain("".join(pieces))):
            yield is_heading, line
        pieces, is_heading = [], piece is _HEADING


def _pieces(root: LexborNode, anchors: list[str] | None = None) -> Iterator[str]:
    """Text and line ends below `root`, without the page's furniture; and what is said to lead somewhere."""
    heading_to: int | None = None  # the last node of a heading, which is one line
    for node, tag, attributes in _kept_nodes(root):
        if (tag == "-text" or tag in _INLINE) and _follows_a_block(node):
            yield _LINE if heading_to is None else " "
        if tag == "-text":
            yield (node.text_content or "").replace(_LINE, " ").replace(_HEADING, " ")
        elif tag in _HEADINGS:
            yield _HEADING
            heading_to = last_below(node)
        elif tag not in WITHIN_WORDS:
            if tag == "a" and anchors is not None:
                anchors.append(attributes.get("href") or "")
            yield " " if tag in _INLINE or heading_to is not None else _LINE
        if heading_to is not None and node.mem_id == heading_to:
            heading_to = None
            yield _LINE


def _kept_nodes(root: LexborNode) -> Iterator[tuple[LexborNode, str, Mapping[str, str | None]]]:
    """The nodes below `root` with tag and attributes, but for what is left out with all that is in it."""
    top = root.mem_id
    skipped_to: int | None = None  # the last node of such a part
    for node in root.traverse(include_text=True):
        if skipped_to is not None:
            if node.mem_id == skipped_to:
                skipped_to = None
            continue
        tag = node.tag or ""
        if tag == "-text":
            yield node, tag, _NO_ATTRIBUTES
            continue
        attributes = node.attributes
        if tag in UNSEEN_TAGS or (_is_left_out(node, tag, attributes) and node.mem_id != top):
            skipped_to = last_below(node)
        else:
            yield node, tag, attributes


def _follows_a_block(node: LexborNode) -> bool:
    """Where a block ends, its line does, and only what follows it tells."""
    before = node.prev
    if before is None:
        return False
    tag = before.tag or "-text"
    return tag[0] != "-" and tag not in _INLINE


def _is_left_out(node: LexborNode, tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Whether an element is not shown, or is there to move about and to fill in."""
    if tag in _CONTROLS or (tag in _FURNITURE and not _stands_in_article(node, tag)):
        return True
    if not attributes or tag == "-comment":
        return tag == "-comment"
    return attributes.get("role") in _FURNITURE_ROLES or hides(attributes)


def _stands_in_article(node: LexborNode, tag: str) -> bool:
    """An article's own header names it; a page's own does not."""
    around = node.parent
    return tag == "header" and around is not None and around.tag in {"article", "main", "section"}


def _bounded(sections: Iterator[Section]) -> tuple[tuple[Section, ...], bool]:
    """The sections up to the size that is kept, and whether there is more."""
    kept: list[Section] = []
    left = MAX_TEXT_BYTES
    for section in sections:
        lines: list[str] = []
        for line in (section.heading, *section.lines):
            left -= len(line.encode()) + 1
            if left < 0:
                cut = line.encode()[:left].decode("utf-8", "ignore")
                lines.append(cut)
                kept.append(Section(lines[0], tuple(filter(None, lines[1:]))))
                return tuple(kept), True
            lines.append(line)
        kept.append(Section(lines[0], tuple(lines[1:])))
    return tuple(kept), False


# ── beside the text ──


def _title(tree: LexborHTMLParser, sections: tuple[Section, ...]) -> str:
    """The `title`, else the first heading (SPEC 57)."""
    for node in _titles(tree):
        if text := plain(node.text() or ""):
            return text[:MAX_TITLE_CHARS]
    for node in tree.css("h1"):
        if text := plain(" ".join((node.text(separator=" ") or "").split())):
            return text[:MAX_TITLE_CHARS]
    return next((part.heading[:MAX_TITLE_CHARS] for part in sections if part.heading), "")


def _titles(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Those of the head, which is soon looked through, before those that a page has in its body."""
    head = tree.head
    if head is not None:
        yield from (node for node in head.iter() if node.tag == "title")
    yield from tree.css("body > title")


def _snippet(sections: tuple[Section, ...]) -> str:
    """From the first line that is a sentence on; from the first line where there is none."""
    lines = [line for part in sections for line in part.lines]
    first = next((n for n, line in enumerate(lines) if len(line) >= SENTENCE_CHARS), 0)
    gathered, size = [], 0
    for line in lines[first:]:
        gathered.append(line)
        size += len(line)
        if size > MAX_SNIPPET_CHARS:
            break
    return snippet_of(" ".join(gathered))


def _links(anchors: list[str], base: str) -> tuple[str, ...]:
    """Where links outside the page's furniture lead."""
    origin = _joined(base, "/").removesuffix("/")
    found: dict[str, None] = {}
    for anchor in anchors:
        href = anchor.strip()
        if not href or len(href) > MAX_URL_CHARS or href.startswith("#"):
            continue
        # Most links are plain paths, and joining takes long.
        target = origin + href if origin and _PLAIN_PATH.fullmatch(href) else _joined(base, href)
        if target:
            found[target] = None
        if len(found) >= MAX_LINKS:
            break
    return tuple(found)


def _base(marks: list[LexborNode], url: str) -> str:
    node = next((each for each in marks if each.tag == "base"), None)
    return _joined(url, (node.attributes.get("href") or "").strip()) or url if node is not None else url


def _joined(base: str, href: str) -> str:
    try:
        target = urljoin(base, href).partition("#")[0]
        parts = urlsplit(target)
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and parts.netloc and len(target) <= MAX_URL_CHARS
    return target.encode("utf-8", "replace").decode() if is_web else ""


def _lang_attribute(tree: LexborHTMLParser) -> str:
    node = tree.css_first("html")
    return "" if node is None else (node.attributes.get("lang") or "")
