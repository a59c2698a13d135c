"""A language is what is declared, unless the text is plainly another."""

from __future__ import annotations

import pytest

from crawler.html.language import language_of


@pytest.mark.parametrize(
    ("text", "declared", "code"),
    [
        ("", (), "und"),
        ("", ("fr-CA",), "fr"),
        ("short", ("", "EN"), "en"),
        ("Это предложение написано кириллицей", ("en", "ru"), "ru"),
        ("한국어로 쓰인 문장입니다 여기에 있습니다 그리고 더 있습니다", ("en",), "ko"),
        ("x" * 300, ("javascript:alert(1)", "a" * 10_000), "und"),
    ],
)
def test_a_language(text: str, declared: tuple[str, ...], code: str) -> None:
    """The first declaration that fits the script; what is no code is none."""
    assert language_of(text, *declared) == code
