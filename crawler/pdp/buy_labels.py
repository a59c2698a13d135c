"""Which labels put the thing that they stand beside into a cart."""

# ruff: file-ignore[ambiguous-unicode-character-string] - labels come with all kinds of dashes and arrows

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from crawler.pdp.buy_words import ADD, BUY, NOT_BUYING, STEMS, WAITING
from crawler.pdp.memo import Memo
from crawler.pdp.outline import BETWEEN, Haystack
from crawler.storable import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_LABEL_CHARS = 80
_BEGINNING = 2
_UNSPACED_LETTER = re.compile(r"[\u0900-\U0010ffff]")
_EDGES = " \t\r\n.!:+»›>→*•|-–—()[]{}¡¿\u200e\u200f\u00a0"


def fold(text: str) -> str:
    """One spelling for labels: no case, no accents, single spaces."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(_bare_letters(text).split())


def _bare_letters(text: str) -> str:
    """Letters without accents and case; syllables that fell apart on the way are put together again."""
    parts = normal("NFKD", text)
    plain = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", plain.casefold().replace("ı", "i"))


def _folded_pattern(pattern: str) -> str:
    r"""Fold a pattern as labels are folded; its escapes are kept, as `\S` is not `\s`."""
    parts = re.split(r"(\\.)", pattern)
    return "".join(part if part.startswith("\\") else _bare_letters(part) for part in parts)


# Languages that do not part words, or whose vowel signs part them for a pattern.
_NO_SPACES = {"ja", "zh", "ko", "th", "hi", "bn", "ta"}


def _anywhere(language: str) -> re.Pattern[str]:
    pattern = _folded_pattern(ADD.get(language, "(?!)"))
    return re.compile(pattern if language in _NO_SPACES else rf"(?<!\w)(?:{pattern})(?!\w)")


_ADD = {language: _anywhere(language) for language in STEMS}
_BUY = {language: re.compile(_folded_pattern(BUY.get(language, "(?!)"))) for language in STEMS}
_WAITING = {language: re.compile(_folded_pattern(pattern)) for language, pattern in WAITING.items()}
_NOT = re.compile(_folded_pattern(NOT_BUYING))


def _languages_by_beginning() -> dict[str, list[tuple[str, str]]]:
    """By the first letters of a word: the stems, with accents and without, and their languages."""
    index: dict[str, list[tuple[str, str]]] = {}
    for language in STEMS.keys() - _NO_SPACES:
        for stem in STEMS[language].split():
            for form in {stem, fold(stem)}:
                index.setdefault(form[:_BEGINNING], []).append((form, language))
    return index


_BY_BEGINNING = _languages_by_beginning()
_UNSPACED = {language: [fold(stem) for stem in STEMS[language].split()] for language in sorted(_NO_SPACES)}


# The same stems alone, as `startswith` takes them.
_STEMS = {beginning: tuple({stem for stem, _ in pairs}) for beginning, pairs in _BY_BEGINNING.items()}


def languages_of(text: str) -> set[str]:
    """The languages in which a text may be a buy label: a fast look at how its words begin."""
    lowered = text.lower().strip(_EDGES)
    found = {
        language
        for word in lowered.split()
        for stem, language in _BY_BEGINNING.get(word[:_BEGINNING], ())
        if word.startswith(stem)
    }
    if _is_unspaced(lowered):
        folded = fold(text)
        found.update(name for name, stems in _UNSPACED.items() if any(stem in folded for stem in stems))
    return found


def _is_unspaced(text: str) -> bool:
    """Whether some of a text is in a script that does not part words."""
    return not text.isascii() and _UNSPACED_LETTER.search(text) is not None


def speaking(labels: Sequence[str]) -> list[int]:
    """The numbers of the labels that may be a buy label: a faster look, at all labels of a page at once."""
    different = list(dict.fromkeys(labels))
    haystack = Haystack.of(different)
    words = haystack.joined.replace(BETWEEN, " ").split()
    found = {different[place] for place in haystack.places(_BEGINNING_WORDS.among(words))}
    if not haystack.joined.isascii():
        found.update(label for label in different if _is_unspaced(label))
    return [number for number, label in enumerate(labels) if label in found]


def _that_begin(words: list[str]) -> dict[str, bool]:
    """The words that begin as one of a label does."""
    bare = ((word, word.lstrip(_EDGES)) for word in words)
    return {word: True for word, rest in bare if rest.startswith(_STEMS.get(rest[:_BEGINNING], ()))}


_BEGINNING_WORDS = Memo(_that_begin)


def kind_of(label: str, languages: Iterable[str] = STEMS) -> str:
    """What a folded label says in one of the languages: `add` to a cart, `buy`, `waiting`, or nothing."""
    bare = label.strip(_EDGES)
    if not bare or len(bare) > MAX_LABEL_CHARS:
        return ""
    if any(_ADD[language].search(bare) for language in languages):
        return "" if _NOT.search(bare) else "add"
    if any(_BUY[language].fullmatch(bare) for language in languages):
        return "buy"
    waiting = (_WAITING[language] for language in languages if language in _WAITING)
    return "waiting" if any(pattern.fullmatch(bare) for pattern in waiting) else ""


@lru_cache(maxsize=8192)
def read_label(label: str) -> tuple[str, str]:
    """What a label says, and its folded form. The pages of a shop share most of their labels."""
    languages = languages_of(label)
    folded = fold(label) if languages else ""
    return (kind_of(folded, languages) if languages else "", folded)


def one_line(text: str) -> str:
    """A text as a label; nothing where it is too long for one."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_LABEL_CHARS else ""


def _read(texts: list[str]) -> dict[str, tuple[str, str]]:
    """What controls say that say something: `add`, `buy` or `waiting`, and the folded label."""
    lines = [one_line(text) for text in texts]
    said = {texts[number]: read_label(lines[number]) for number in speaking(lines)}
    return {text: found for text, found in said.items() if found[0]}


# As they stand in pages, with all their spaces.
READ = Memo(_read)


def is_about_something_else(label: str) -> bool:
    """Whether a folded label names a cart, a checkout or a list, and nothing that is put there."""
    return bool(_NOT.search(label))
