"""`vitrine pages list`: of nothing there is nothing, and a state that is none is a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine


def test_no_pages(vitrine: Vitrine, made: None) -> None:
    """The list says what fetches some; a program gets an empty one, and 4 where it wants to know."""
    assert "vitrine crawl pdp" in vitrine("pages", "list").err
    assert vitrine("pages", "list", "--json").document["pages"] == []
    assert vitrine("pages", "list", "--fail-empty").code == 4


@pytest.mark.parametrize(
    "words", [("--status", "odd"), ("--session", "zz"), ("--limit", "0"), ("--cause", "odd")]
)
def test_what_cannot_be_asked_for(vitrine: Vitrine, made: None, words: tuple[str, ...]) -> None:
    """Is told, and nothing is listed."""
    done = vitrine("pages", "list", *words)
    assert done.code != 0
    assert done.err.startswith("error[")
