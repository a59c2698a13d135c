"""What of a text was looked for, marked; and the passage of a long one in which it stands. Pure.

A text is cut into pieces first, each is escaped by itself, and the marks are put around them then: nothing
in a captured page, or in a query, becomes markup.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.archive.words import spans_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.archive.query import Term

MAX_PASSAGE_CHARS = 280
BEFORE_CHARS = 80  # of a passage, in front of what was found
LOOKED_AT_CHARS = 50_000  # of a body
_ENOUGH_CHARS = 40  # of a word's part, which is looked for in the middle of a text
Piece = tuple[str, bool]


def marked(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """The text in pieces, with whether each was looked for."""
    pieces: list[Piece] = []
    at = 0
    for begin, end in _joined(text, sorted(_found(text, terms))):
        if begin > at:
            pieces.append((text[at:begin], False))
        pieces.append((text[begin:end], True))
        at = end
    if at < len(text):
        pieces.append((text[at:], False))
    return tuple(pieces)


def is_marked(pieces: Sequence[Piece]) -> bool:
    """Whether anything in it was looked for."""
    return any(is_hit for _, is_hit in pieces)


def as_html(pieces: Sequence[Piece]) -> str:
    """Pieces as HTML that holds nothing but text and marks."""
    return "".join(f"<mark>{escape(text)}</mark>" if is_hit else escape(text) for text, is_hit in pieces)


def passage(body: str, terms: Sequence[Term]) -> str:
    """The part of a body around the first place of what was looked for; empty where there is none."""
    looked_at = body[:LOOKED_AT_CHARS]
    first = next(iter(_found(looked_at, terms)), None)
    if first is None:
        return ""
    begin = max(first[0] - BEFORE_CHARS, 0)
    if begin:
        begin = looked_at.find(" ", begin, first[0]) + 1 or begin
    text = looked_at[begin : begin + MAX_PASSAGE_CHARS]
    end = len(text) if begin + len(text) >= len(body) else text.rfind(" ", MAX_PASSAGE_CHARS // 2)
    cut = " ".join(text[: end if end > 0 else len(text)].split())
    return ("… " if begin else "") + cut + (" …" if begin + len(text) < len(body) else "")


def _found(text: str, terms: Sequence[Term]) -> Iterator[tuple[int, int]]:
    """Where words and phrases stand, the first ones first; else the words that have such a part."""
    phrases = [term.words for term in terms if term.words]
    firsts = {words[0] for words in phrases}
    parts = [term.text for term in terms if 0 < len(term.text) <= _ENOUGH_CHARS]
    tokens = [
        (word, begin, end) for begin, end in spans_of(text) for word in words_of(text[begin:end]) or [""]
    ]
    for at, (word, begin, _) in enumerate(tokens):
        if word in firsts:
            for words in phrases:
                those = tokens[at : at + len(words)]
                if tuple(each for each, _, _ in those) == words:
                    yield begin, those[-1][2]
        elif any(part in word for part in parts):
            yield begin, tokens[at][2]


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Places that touch or overlap, or have but a blank between them, as one."""
    last: tuple[int, int] | None = None
    for begin, end in spans:
        if last is not None and not text[last[1] : begin].strip() and begin - last[1] <= 1:
            last = (last[0], max(last[1], end))
            continue
        if last is not None:
            yield last
        last = (begin, end)
    if last is not None:
        yield last
