"""JSON as pages write it: strict first, then with the usual damage repaired."""

from __future__ import annotations

import html
import json
import re
from typing import Any

MAX_CHARS = 4_000_000
MAX_DOCUMENTS = 64
_EDGE = 200

_HEAD = re.compile(r"(?:[\s;]|<!--|//|/\*|\*/|<!\[CDATA\[)++")
_TAIL = re.compile(r"(?:[\s;]|-->|//|/\*|\*/|\]\]>)++\Z")
_STRING = r'"(?:[^"\\]++|\\.)*+"?+'
_SPARE_COMMA = re.compile(rf"({_STRING})|,(?=[\s,]*+[\]}}])", re.DOTALL)
_COMMENT = re.compile(rf"({_STRING})|/\*(?:[^*]++|\*(?!/))*\*/|(?<=[\s,{{\[])//[^\n]*+", re.DOTALL)
_BETWEEN = " \t\r\n;,\ufeff\u00a0"


def _no_number(_: str) -> None:
    return None


# A decimal number stays text: 19.90 is a price, and a float would lose its notation.
_strict = json.JSONDecoder(parse_float=str, parse_constant=_no_number)
_lenient = json.JSONDecoder(parse_float=str, parse_constant=_no_number, strict=False)


def read_json(text: str) -> list[Any]:
    """Return every document that can be read in `text`; none where it is too large or beyond repair."""
    if len(text) > MAX_CHARS:
        return []
    try:
        return [_strict.decode(text)]
    except (ValueError, RecursionError):
        return _read_damaged(text)


def _read_damaged(text: str) -> list[Any]:
    bare = _unwrapped(text)
    return _concatenated(bare) or _concatenated(_repaired(bare))


def _unwrapped(text: str) -> str:
    bare = text.strip(_BETWEEN)
    head = _HEAD.match(bare)
    bare = bare[head.end() :] if head else bare
    return bare[:-_EDGE] + _TAIL.sub("", bare[-_EDGE:])


def _repaired(text: str) -> str:
    if "&quot;" in text or "&#34;" in text:
        text = html.unescape(text)
    text = _COMMENT.sub(_string_only, text)
    return _SPARE_COMMA.sub(_string_only, text)


def _string_only(match: re.Match[str]) -> str:
    return match[1] or ""


def _concatenated(text: str) -> list[Any]:
    """Read document after document; stop at the first place where none begins."""
    found: list[Any] = []
    at = 0
    while at < len(text) and len(found) < MAX_DOCUMENTS:
        try:
            value, at = _lenient.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
        at = _skip(text, at)
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at
