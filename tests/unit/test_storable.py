"""What comes from outside is stored in one way."""

from __future__ import annotations

import json
import time
import unicodedata
from random import Random
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.storable import FEW_MARKS, as_json, as_text, normal, plain

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=50)
@given(ANYTHING, st.integers(1, 50))
def test_anything_becomes_json_that_databases_take(value: object, limit: int) -> None:
    """No NaN, no NUL, no half of a surrogate pair, no endless text or number."""
    kept = as_json(value, limit)
    written = json.dumps(kept, allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in written
    assert written.encode()
    assert as_json(kept, limit) == kept


@given(st.text() | st.floats() | st.integers() | st.binary(), st.integers(1, 50))
def test_any_text_is_short(value: object, limit: int) -> None:
    """Whatever is shown as text."""
    assert len(as_text(value, limit)) <= limit


def test_a_password_does_not_lose_its_mark_to_the_cut() -> None:
    """It is looked for beyond what is kept."""
    url = "https://me:secret@shop.example/"
    for limit in range(1, len(url)):
        assert "secret"[:3] not in as_text(url, limit)


# Accents of several ranks, some that fall apart into others, and letters that are accents to one form alone.
MARKS = "\u0301\u0316\u0323\u0344\u0345\u0f73\u0f71\u3099\uff9e\u05b0\u1dce\U0001d165"


@pytest.mark.parametrize("form", ["NFC", "NFKD"])
def test_accents_are_ordered_as_unicode_says(form: Literal["NFC", "NFKD"]) -> None:
    """However many stand on a letter, and whatever stands around them."""
    dice = Random(5)
    for _ in range(300):
        runs = ["".join(dice.choices(MARKS, k=dice.choice((0, 2, FEW_MARKS, 150)))) for _ in range(3)]
        text = "".join(dice.choice(("a", "é", "ự", "각", "か", " ")) + run for run in runs)
        assert normal(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", ["NFC", "NFKD"])
def test_accents_take_no_time(form: Literal["NFC", "NFKD"]) -> None:
    """Python's own way takes the square of their number."""
    began = time.process_time()
    for second in MARKS[:3]:
        normal(form, "a" + "\u0301" * 60_000 + second * 60_000)
    assert time.process_time() - began < 20


def test_a_log_steers_nothing() -> None:
    """No terminal, and no direction of text; tabs and words of any script stay."""
    shown = plain("\x1b[31mred\x07 \u202eabc\u2066 \x9b")
    assert shown == "\ufffd[31mred\ufffd \ufffdabc\ufffd \ufffd"
    assert plain("a\tb שלום 東京") == "a\tb שלום 東京"
