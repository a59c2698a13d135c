"""Words are the same for the index and for queries, in every script."""

from __future__ import annotations

import pytest

from crawler.archive.words import MAX_WORD_CHARS, folded, parted, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Red shoes, size-42!", ["red", "shoes", "size", "42"]),
        ("Crème BRÛLÉE", ["creme", "brulee"]),
        ("Straße", ["strasse"]),
        ("赤い靴", ["赤", "い", "靴"]),
        ("\uff21\uff22\uff23\uff11\uff12", ["abc12"]),
        ("รองเท้า", list("รองเท้า")),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Привет мир", ["привет", "мир"]),
        ("한국어 신발", ["한국어", "신발"]),
        ("new新品shoes", ["new", "新", "品", "shoes"]),
        ("snake_case", ["snake", "case"]),
        ("Donau\u00addampf\u00adschiff", ["donaudampfschiff"]),  # parted at a line's end, or joined
        ("wort\u200dteil, word\u2060joiner", ["wortteil", "wordjoiner"]),
        ("\u00ad \u200d", []),
        ("😀 \x00 \u202e", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    """Letters and digits, without case and accents; a character each where no spaces are written."""
    assert words_of(text) == words


@pytest.mark.parametrize("text", ["ÀÉÎ", "İstanbul", "ΑΣΣΟΣ", "ﬁne", "가각", "Ǆ"])
def test_folding_twice_changes_nothing(text: str) -> None:
    """What is stored and what is asked for are folded alike."""
    assert folded(folded(text)) == folded(text)


def test_a_word_is_bounded() -> None:
    """No index takes a word of any length; what is asked for is cut alike."""
    assert words_of("a" * 10_000) == ["a" * MAX_WORD_CHARS]
    assert words_of("é" * 10_000) == ["e" * MAX_WORD_CHARS]


def test_half_a_character_is_no_word() -> None:
    """Nor does it end anything."""
    assert words_of("a\ud800b") == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "Red shoes, size-42!",
        "snake_case\nA",
        "don\u2019t \u2013 stop",
        "x" * 300 + " y",
        "naïve 赤い靴",
        "a\u0903b\u2019c",
        "",
    ],
)
def test_the_words_of_a_text_as_one(text: str) -> None:
    """SQLite's own tokenizer finds the same ones in it, as far as they are ASCII."""
    assert words_of(parted(text)) == words_of(text)
    assert all(len(word) <= MAX_WORD_CHARS for word in parted(text).split())
