"""Which labels put the thing that they stand beside into a cart."""

# ruff: file-ignore[ambiguous-unicode-character-string] - labels come with all kinds of dashes and arrows

from __future__ import annotations

import re
import unicodedata

from crawler.pdp.buy_words import ADD, BUY, NOT_BUYING, STEMS

MAX_LABEL_CHARS = 80
_EDGES = " \t\r\n.!:+»›>→*•|-–—()[]{}¡¿\u200e\u200f\u00a0"


def fold(text: str) -> str:
    """One spelling for labels: no case, no accents, single spaces."""
    if text.isascii():
        return " ".join(text.lower().split())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(plain.casefold().replace("ı", "i").split())


def _folded_pattern(pattern: str) -> str:
    r"""Fold a pattern as labels are folded; its escapes are kept, as `\S` is not `\s`."""
    parts = re.split(r"(\\.)", pattern)
    return "".join(part if part.startswith("\\") else _fold_characters(part) for part in parts)


def _fold_characters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold().replace("ı", "i")


_ADD = re.compile(
    "|".join(
        rf"(?<!\w)(?:{_folded_pattern(p)})(?!\w)" if n not in {"ja", "zh", "ko", "th"} else _folded_pattern(p)
        for n, p in ADD.items()
    )
)
_BUY = re.compile("|".join(_folded_pattern(p) for p in BUY.values()))
_NOT = re.compile(_folded_pattern(NOT_BUYING))


# What stands in every label of a buy control, with accents and without: a first, fast look.
BUY_STEMS = tuple(sorted({form for stem in STEMS.split() for form in (stem, fold(stem))}))


def kind_of(label: str) -> str:
    """What a folded label says: `add` to a cart, `buy`, or neither."""
    bare = label.strip(_EDGES)
    if not bare or len(bare) > MAX_LABEL_CHARS:
        return ""
    if _ADD.search(bare):
        return "" if _NOT.search(bare) else "add"
    return "buy" if _BUY.fullmatch(bare) else ""


def is_about_something_else(label: str) -> bool:
    """Whether a folded label names a cart, a checkout or a list, and nothing that is put there."""
    return bool(_NOT.search(label))
