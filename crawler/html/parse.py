"""Bytes of any kind as a tree, unless that would cost more than any page is worth."""

from __future__ import annotations

import re
from collections import Counter

from attrs import field, frozen
from selectolax.lexbor import LexborHTMLParser

from crawler.html import charset as charsets

DEFAULT_MAX_BYTES = 16 * 1024 * 1024
_NO_HTML_SIGNATURES = (b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF")
_HTML_TYPES = ("html", "xml", "text/plain", "octet-stream")


@frozen(eq=False)
class Document:
    """A parsed page; one with a `problem` has an empty tree."""

    charset: str
    problem: str  # a reason code; empty where it could be read
    tree: LexborHTMLParser = field(repr=False)


def parse(body: bytes, *, content_type: str = "", max_bytes: int = DEFAULT_MAX_BYTES) -> Document:
    """Decide the charset of `body` and parse it; any bytes give a document, bad ones one with a problem."""
    problem = _problem(body, content_type, max_bytes)
    if problem:
        return Document("", problem, LexborHTMLParser(b""))
    charset = charsets.decide(body, content_type)
    source = charsets.as_utf8(body, charset)
    problem = _nesting_problem(source)
    return Document(charset, problem, LexborHTMLParser(b"" if problem else source))


def _problem(body: bytes, content_type: str, max_bytes: int) -> str:
    if not body.strip(b" \t\r\n\0"):
        return "empty_page"
    if len(body) > max_bytes:
        return "too_large"
    declared = content_type.partition(";")[0].strip().lower()
    if declared and not any(name in declared for name in _HTML_TYPES):
        return "not_html"
    return "not_html" if body.startswith(_NO_HTML_SIGNATURES) else ""


# ── pages that a standard parser takes quadratic time or memory for ──


MAX_TAGS = 400_000
MAX_DEPTH = 6_000
MAX_COPIES = 3_000_000  # open formatting elements times tags: what a parser may copy
# Below these numbers of tags the worst case is still cheap, and the closer look would cost every page.
DEPTH_MATTERS_FROM = 12_000
FORMATTING_MATTERS_FROM = 1_600

# Elements whose end tag may be left out, or that have none: they do not nest by themselves.
_SHALLOW = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li td th tr tbody thead tfoot dt dd option optgroup html head body a".split()
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30})")
# An open formatting element is copied into every later block, unless three of its kind already are.
# Both cases are spelt out: a pattern that ignores case cannot jump from `<` to `<`.
_FORMATTING = re.compile(
    rb"<[bBcCeEfFiInNsStTuU](?:|[iI][gG]|[oO][dD][eE]|[mM]|[oO][nN][tT]|[oO][bB][rR]|[mM][aA][lL][lL]"
    rb"|[tT][rR][iI][kK][eE]|[tT][rR][oO][nN][gG]|[tT])[\s/]"
)
_FORMATTING_NAMES = frozenset(b"b big code em font i nobr s small strike strong tt u".split())


def _nesting_problem(body: bytes) -> str:
    """The reason code for which `body` is not to be parsed; empty where it may be."""
    tags = body.count(b"<")
    if not tags:
        return "not_html"
    if tags > MAX_TAGS:
        return "too_large"
    return "too_deep" if _is_too_deep(body, tags) else ""


def _is_too_deep(body: bytes, tags: int) -> bool:
    """Whether elements nest deeper, or more formatting is left open, than a page has reason to."""
    if tags > FORMATTING_MATTERS_FROM and len(_FORMATTING.findall(body)) * tags > MAX_COPIES:
        return _deepest(body, _FORMATTING_NAMES) * tags > MAX_COPIES
    return tags > DEPTH_MATTERS_FROM and _depth(body) > MAX_DEPTH


def _deepest(body: bytes, names: frozenset[bytes]) -> int:
    """How often elements of some names stand open at once, each name at its most."""
    return sum(deepest for name, deepest in _standing(body).items() if name in names)


def _depth(body: bytes) -> int:
    """How often elements of one name stand open at once, at most."""
    return max((deepest for name, deepest in _standing(body).items() if name not in _SHALLOW), default=0)


def _standing(body: bytes) -> Counter[bytes]:
    """By name: how often elements of that name stand open at once, at most."""
    standing: Counter[bytes] = Counter()
    deepest: Counter[bytes] = Counter()
    for match in _TAG.finditer(body):
        name = match[2].lower()
        if not match[1]:
            standing[name] += 1
            deepest[name] = max(deepest[name], standing[name])
        elif standing[name]:
            standing[name] -= 1
    return deepest
