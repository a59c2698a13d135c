"""Which labels put the thing that they stand beside into a cart."""

from __future__ import annotations

import re
import unicodedata

from crawler.pdp.buy_words import ADD, BUY, NOT_BUYING

MAX_LABEL_CHARS = 80
_EDGES = " \t\r\n.!:+»›>→*•|-–—()[]{}¡¿\u200e\u200f\u00a0"


def fold(text: str) -> str:
    """One spelling for labels: no case, no accents, single spaces."""
    if text.isascii():
        return " ".join(text.lower().split())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(plain.casefold().replace("ı", "i").split())


def _folded_pattern(pattern: str) -> str:
    """Fold a pattern as labels are folded; its escapes are kept, as `\\S` is not `\\s`."""
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


def is_buy_label(label: str) -> bool:
    """Whether a folded label is that of a buy control."""
    bare = label.strip(_EDGES)
    if not bare or len(bare) > MAX_LABEL_CHARS:
        return False
    if _BUY.fullmatch(bare):
        return True
    return bool(_ADD.search(bare)) and not _NOT.search(bare)
