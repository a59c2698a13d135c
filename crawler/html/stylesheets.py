"""The addresses in a stylesheet: others in their place, as a browser finds them; and which they are. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from crawler.urls import MAX_URL_CHARS, SCHEMES

if TYPE_CHECKING:
    from collections.abc import Callable

    Address = Callable[[str], str | None]

NOTHING = "data:,"  # asks nobody
_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z))
    |(?P<string>"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)|'(?:[^'\\\n]|\\.)*+(?:'|(?=\n)|\\?\Z))
    |(?P<name>[@\#]?(?:[-\w\u0080-\U0010ffff]|\\(?:[0-9a-fA-F]{1,6}[ \t\n]?|[^\n0-9a-fA-F]))++)(?P<open>\(?)
    |(?P<mark>[()\[\]{};])
    |(?P<other>[^-\w\u0080-\U0010ffff"'/\\@\#()\[\]{};]++|.)""",
    re.VERBOSE | re.DOTALL,
)
_BARE_ADDRESS = re.compile(
    r"\s*+((?:[^\s\"'()\\\x00-\x08\x0b\x0e-\x1f\x7f]|\\(?:[0-9a-fA-F]{1,6}[ \t\n]?|[^\n0-9a-fA-F]))*+)"
    r"\s*+(?:\)|\Z)"
)
_QUOTE_FOLLOWS = re.compile(r"\s*+[\"']")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|\s)?|(\r\n|\n)|(.))", re.DOTALL)
_TAG_BEGINS = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG_BEGINS_OR_ESCAPE = re.compile(r"\\?<(?=[a-zA-Z/!?])|\\.", re.DOTALL)
_ADDRESS_FUNCTIONS = frozenset({"url", "src", "image-set", "-webkit-image-set", "image"})
_IMPORT = "@import"
_NAMING_RULES = frozenset({"@namespace", "@charset"})  # what they name is no address
_NOT_AS_IT_IS = re.compile(r"[\"\\<\n\r\x00]")
_LAST_BEFORE_HALVES, _FIRST_AFTER_HALVES, _LAST = 0xD7FF, 0xE000, 0x10FFFF  # of all characters


def restyled(text: str, address: Address) -> str:
    """`text` with `address` of each address in it; none for an address means that nothing is asked for.

    Nothing in what comes out looks like a tag, so it may stand in a page.
    """
    return "".join(_Restyling(text.replace("\r\n", "\n").replace("\f", "\n"), address).pieces())


class _Restyling:
    """A pass over a stylesheet."""

    def __init__(self, text: str, address: Address) -> None:
        self._text = text
        self._address = address
        self._open: list[str] = []  # functions and brackets that are not closed yet
        self._rule = ""  # the at-rule whose text is an address, or looks like one

    def pieces(self) -> list[str]:
        """What stands in it, token by token."""
        found: list[str] = []
        at, end = 0, len(self._text)
        while at < end:
            token = _TOKEN.match(self._text, at)
            assert token is not None  # ruff: ignore[assert] - its last part takes any character
            piece, at = self._piece(token)
            found.append(piece)
        return found

    def _piece(self, token: re.Match[str]) -> tuple[str, int]:
        """What becomes of a token, and where the next one begins."""
        whole, end = token[0], token.end()
        match token.lastgroup:
            case "comment":
                return "/**/", end
            case "string":
                return self._string(whole), end
            case "open":
                return self._name(token)
            case "mark":
                self._bracket(whole)
                return whole, end
            case _:
                return _spaced(whole, self._text[end : end + 1]), end

    def _name(self, token: re.Match[str]) -> tuple[str, int]:
        name = unescaped(token["name"]).lower()
        if not token["open"]:
            if not self._open and (name == _IMPORT or name in _NAMING_RULES):
                self._rule = name
            return _without_tags(token[0]), token.end()
        if name == "url" and not _QUOTE_FOLLOWS.match(self._text, token.end()):
            return self._bare(token.end())
        self._open.append(name)
        return _without_tags(token[0]), token.end()

    def _bare(self, start: int) -> tuple[str, int]:
        """An address without quotes; one that is none goes up to where a browser gives it up."""
        found = _BARE_ADDRESS.match(self._text, start)
        if found is None:
            closed = self._text.find(")", start)
            return f'url("{NOTHING}")', len(self._text) if closed < 0 else closed + 1
        return f"url({self._quoted(unescaped(found[1]))})", found.end()

    def _string(self, whole: str) -> str:
        within = unescaped(whole[1:-1] if len(whole) > 1 and whole[-1] == whole[0] else whole[1:])
        if self._open:
            if self._open[-1] in _ADDRESS_FUNCTIONS:
                return self._quoted(within)
        elif self._rule == _IMPORT:
            self._rule = ""
            return self._quoted(within)
        return _without_tags(whole)

    def _quoted(self, given: str) -> str:
        new = given if self._rule in _NAMING_RULES else self._address(given)
        return '"' + _NOT_AS_IT_IS.sub(_as_escape, NOTHING if new is None else new) + '"'

    def _bracket(self, mark: str) -> None:
        if mark in "([{":
            self._open.append("")
            self._rule = self._rule if mark == "(" else ""
        elif self._open and mark != ";":
            self._open.pop()
        elif not self._open:
            self._rule = ""


def _spaced(whole: str, after: str) -> str:
    """What is no text and no name, with a space where it would look like the beginning of a tag."""
    return _TAG_BEGINS.sub("< ", whole + after)[: None if not after else -1]


def _without_tags(whole: str) -> str:
    """A text or a name that says the same without the beginning of a tag."""
    return _TAG_BEGINS_OR_ESCAPE.sub(lambda found: "\\3c " if "<" in found[0] else found[0], whole)


def unescaped(text: str) -> str:
    """What a text with a stylesheet's escapes in it says."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    if found[1]:
        code = int(found[1], 16)
        is_character = 0 < code <= _LAST_BEFORE_HALVES or _FIRST_AFTER_HALVES <= code <= _LAST
        return chr(code) if is_character else "\ufffd"
    return found[3] or ""


def _as_escape(found: re.Match[str]) -> str:
    return f"\\{ord(found[0]):x} "


# ── which other files a stylesheet names: stylesheets, pictures, fonts ──


_FONT_FACE = re.compile(r"@font-face\s*\{([^{}]{0,100000})\}", re.IGNORECASE)
MAX_STYLE_CHARS = 1_000_000
MAX_REFERENCES = 500
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# Each alternative ends at the first character that it cannot take: nasty sheets cost what long ones do.
_REFERENCE = re.compile(
    r"""url\(\s*(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})'|([^\s"'()]{1,8192}))\s*\)"""
    r"""|@import\s+(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})')""",
    re.IGNORECASE,
)


def style_references(text: str, base: str) -> tuple[str, ...]:
    """The addresses that a stylesheet names, in its order, each once, without fragment."""
    found: dict[str, None] = {}
    for match in _REFERENCE.finditer(_COMMENT.sub(" ", text[:MAX_STYLE_CHARS])):
        reference = next(part for part in match.groups() if part)
        try:
            url = urldefrag(urljoin(base, reference.strip())).url
        except ValueError:
            continue
        if url.partition(":")[0].lower() in SCHEMES and len(url) <= MAX_URL_CHARS:
            found[url] = None
        if len(found) == MAX_REFERENCES:
            break
    return tuple(found)


def font_sources(text: str, base: str) -> list[tuple[str, ...]]:
    """Return the addresses of each font, of which a browser needs one."""
    bodies = _FONT_FACE.findall(_COMMENT.sub(" ", text[:MAX_STYLE_CHARS])) if "@" in text else []
    return [found for body in bodies[:MAX_REFERENCES] if (found := style_references(body, base))]
