"""Words that are nearly what was meant are those with one slip; what no text has is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from crawler.archive import similar
from crawler.db.models import WordForm
from tests.unit.archive.written import SHOP, content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

WORDS = st.text("abc", max_size=7)
TITLE = "Leather shoes, Schuhe and 靴; ab 12345 " + "x" * 25


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("shoe", ["shoes"]), ("shoess", ["shoes"]), ("shies", ["shoes"]), ("hsoes", ["shoes"]),
        ("shose", ["shoes"]), ("shoes", []), ("soe", []), ("sheos", ["shoes"]), ("lether", ["leather"]),
        ("latehr", []), ("", []), ("ab", []), ("1234", []), ("x" * 24, []), ("%", []), ("靴", []),
    ],
)  # fmt: skip
def test_one_slip(database: Database, word: str, near: list[str]) -> None:
    """A letter too many, too few, wrong, or two swapped; two slips are another word."""
    with database.write() as db:
        similar.add(db, [TITLE])
        similar.add(db, [TITLE, "shoes again"])
    with database.read() as db:
        assert similar.like(db, word) == near


def test_the_closest_few(database: Database) -> None:
    """In one order, on every database."""
    with database.write() as db:
        similar.add(db, ["boat coat goat moat loaf oats oath"])
        similar.add(db, [])
    with database.read() as db:
        assert similar.like(db, "oat") == []  # too short to be told from others
        assert similar.like(db, "doat") == ["boat", "coat", "goat", "moat"]


def test_what_no_text_has_is_forgotten(database: Database) -> None:
    """What another text still has, in its title or its body, stays."""
    index(database, {"content": content("Leather boots", "with shoes in it")})
    with database.write() as db:
        similar.add(db, ["Shoes, canvas"])
        similar.forget_unused(db, ["Shoes, canvas, leather", ""])
    with database.read() as db:
        assert set(db.scalars(select(WordForm.word))) == {"leather", "boots", "shoes"}


@given(WORDS, WORDS)
def test_words_with_one_slip_have_a_spelling_in_common(one: str, other: str) -> None:
    """Else the index would not find them."""
    distance = similar._distance(one, other)
    assert distance == similar._distance(other, one)
    if distance <= 1:
        assert similar._forms(one) & similar._forms(other)
    assert (distance == 0) is (one == other)


def test_words_of_titles_alone_are_learnt(database: Database) -> None:
    """With the pages; a text has too many of them."""
    index(database, {"url": f"{SHOP}a", "content": content("Sandals", "leather")})
    with database.read() as db:
        assert similar.like(db, "sandal") == ["sandals"]
        assert similar.like(db, "lether") == []
