"""The words behind a benchmark's name."""

from __future__ import annotations

import pytest

from bench.words import parser_of


@pytest.mark.parametrize(("words", "parts"), [([], ["one", "two"]), (["two"], ["two"])])
def test_all_parts_or_those_that_are_named(words: list[str], parts: list[str]) -> None:
    """In the order of the command."""
    assert parser_of("any", ["one", "two"]).parse_args(words).parts == parts


@pytest.mark.parametrize(("words", "code"), [(["three"], 2), (["--fast"], 2), (["--help"], 0)])
def test_nothing_is_measured_by_mistake(words: list[str], code: int) -> None:
    """A benchmark takes minutes: an unknown word is no wish for all of them."""
    with pytest.raises(SystemExit) as ended:
        parser_of("any", ["one", "two"]).parse_args(words)
    assert ended.value.code == code
