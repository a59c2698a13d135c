"""What a word is, for the index and for queries alike, on every database. Pure.

Both databases would cut text into words by rules of their own, and take a whole Japanese sentence for one
word. So words are made here, and the databases are given nothing but words.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from crawler.storable import normal

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_WORD_CHARS = 100
# Scripts without spaces between words: there a word is a character, and what is looked for a phrase.
_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Vowels and points that belong to the letter before them, and are no letters themselves.
_MARKS = (
    "\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
)
_WORD = re.compile(f"[{_SPACELESS}]|(?:(?![{_SPACELESS}])(?:[^\\W_]|[{_MARKS}]))+")
# Where a word may be parted at a line's end, how letters are joined: nobody sees them, and nobody types them.
_UNSEEN = "\u00ad\u200d\u2060\ufe00-\ufe0f"
# Accents that are characters of their own belong to their letter.
_WRITTEN = re.compile(
    f"[{_SPACELESS}][{_MARKS}\u0300-\u036f{_UNSEEN}]*"
    f"|(?:(?![{_SPACELESS}])[^\\W_]|[{_MARKS}\u0300-\u036f])"
    f"(?:(?![{_SPACELESS}])[^\\W_]|[{_MARKS}\u0300-\u036f{_UNSEEN}])*"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Most texts have neither of both kinds, and then a word is soon found.
_SPECIAL = re.compile(f"[{_SPACELESS}{_MARKS}]")
_SPACED_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile(f"[\u0300-\u036f{_UNSEEN}]")


def folded(text: str) -> str:
    """`text` as it is compared: without case, accents and the difference between full and half width."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", normal("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).casefold()


def words_of(text: str) -> list[str]:
    """The words of a text in their order, as they are compared."""
    bare = folded(text)
    pattern = _ASCII_WORD if bare.isascii() else _WORD if _SPECIAL.search(bare) else _SPACED_WORD
    return [word[:MAX_WORD_CHARS] for word in pattern.findall(bare)]


def parted(text: str) -> str:
    """The same as one text, for an index that finds ASCII words by itself, whatever their case."""
    if text.isascii() and len(max(text.split(), key=len, default="")) <= MAX_WORD_CHARS:
        return text
    return " ".join(words_of(text))


def spans_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of a text begin and end in it as it is written."""
    return (match.span() for match in _WRITTEN.finditer(text))
