"""What comes from outside, made fit to be stored and compared: texts, JSON, amounts of money. Pure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Literal

from attrs import define

from crawler.urls import without_passwords

MAX_NUMBER = 2**63
MAX_CHARS = 2000
FEW_MARKS = 48  # on one letter; whoever writes has less, and Python orders as many fast
_SAMPLE = 16  # every so many characters tell whether there may be more: to look at each takes long
_BEYOND_MARKS = 0x20000  # no character from there on is an accent
_rank = unicodedata.combining  # of an accent among those of a letter; 0 of what is none
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def as_text(value: object, limit: int = MAX_CHARS) -> str:
    """A text as every database takes it: without NUL, half surrogate pairs and passwords; never raises."""
    if type(value) is str and len(value) <= limit and _is_harmless(value):
        return value
    try:
        text = str(value)
    except Exception:  # ruff: ignore[blind-except] - a stranger's object may not know what it is
        text = type(value).__name__
    # Twice as much is looked at, so that no password loses its end, and with it its mark, to the cut.
    text = text[: limit * 2].replace("\x00", "\ufffd")
    return without_passwords(text if text.isascii() else text.encode("utf-8", "replace").decode())[:limit]


def _is_harmless(text: str) -> bool:
    """Whether nothing in a text needs a closer look, as in most of them; see `without_passwords`."""
    is_odd = "\x00" in text or "@" in text or "=" in text or "AWS_" in text
    return text.isascii() and not is_odd


def normal(form: Literal["NFC", "NFKD"], text: str) -> str:
    """A text in one of Unicode's forms, in a time that grows with its length.

    Python alone moves each accent past those before it, one by one; many on a letter are ordered here first.
    """
    if not text.isascii() and len(text) >= FEW_MARKS:
        sampled, many = _marks(form)
        if sampled.search(text[::_SAMPLE]):
            text = many.sub(lambda marks: _in_order(form, marks[0]), text)
    return unicodedata.normalize(form, text)


@cache
def _marks(form: Literal["NFC", "NFKD"]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What consists of nothing but accents, taken apart as the form takes it apart; some, and many."""
    marks = [mark for mark in map(chr, range(0x300, _BEYOND_MARKS)) if all(map(_rank, _parts(form, mark)))]
    one = f"[{''.join(marks)}]"
    return re.compile(f"{one}{{{FEW_MARKS // _SAMPLE}}}"), re.compile(f"{one}{{{FEW_MARKS},}}")


def _in_order(form: Literal["NFC", "NFKD"], marks: str) -> str:
    return "".join(sorted((part for mark in marks for part in _parts(form, mark)), key=_rank))


def _parts(form: Literal["NFC", "NFKD"], mark: str) -> str:
    return unicodedata.normalize("NFKD" if form == "NFKD" else "NFD", mark)


def plain(text: str) -> str:
    """A text without what would steer a terminal, or turn its words around."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)


def as_leaf(value: object, limit: int = MAX_CHARS) -> bool | float | str | None:
    """A value of a row's JSON: as it is where every database takes it, else as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < MAX_NUMBER:  # NaN is not
        return value
    return as_text(value, limit)


def as_json(
    value: object, limit: int = MAX_CHARS, *, values: float = math.inf, depth: float = math.inf
) -> Any:
    """A copy of `value` as a row's JSON; what is too much is left out, what is no JSON is written as text."""
    return _Copy(limit, values, depth).of(value, 0)


@define
class _Copy:
    """One copy being made, and how many values still have a place in it."""

    limit: int
    left: float
    depth: float

    def of(self, value: object, depth: int) -> Any:
        self.left -= 1
        if isinstance(value, str):  # most are, and telling what is a mapping takes long
            return as_text(value, self.limit)
        if depth < self.depth:
            if type(value) is dict or isinstance(value, Mapping):
                return {
                    as_text(name, self.limit): self.of(inner, depth + 1)
                    for name, inner in value.items()
                    if self.left > 0
                }
            if isinstance(value, list | tuple | set | frozenset):
                return [self.of(inner, depth + 1) for inner in value if self.left > 0]
        return as_leaf(value, self.limit)


def plain_amount(amount: Decimal) -> Decimal:
    """An amount with two decimals, or with as many more as it needs."""
    short = amount.quantize(Decimal("0.01"))
    return short if short == amount else amount.normalize()
