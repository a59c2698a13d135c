"""A text is stored once, by whoever comes first, beside others, and goes with what was to name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import delete, func, select, table, text

from crawler.archive import texts, word_index
from crawler.archive.texts import text_hash
from crawler.archive.writing import ReadPage, take_turn, write_in_turn
from crawler.db.models import Text, WordForm
from tests.unit.archive.written import SHOP, a_page, content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.engine import Database, Transaction
    from crawler.html.content import Content

RED, BLUE = content("Red", "leather"), content("Blue", "rubber")


def rows(database: Database, name: str) -> int:
    """How many there are."""
    with database.read() as db:
        return db.execute(select(func.count()).select_from(table(name))).scalar_one()


def test_a_text_is_what_counts_of_a_page() -> None:
    """Its title and its lines; neither language nor links."""
    page = content("Red", "leather", links=(SHOP,))
    assert text_hash(page) == text_hash(evolve(page, language="de", links=()))
    others = (content("Blue", "leather"), content("Red", "rubber"), content("Red", "leather", "more"))
    assert len({text_hash(each) for each in (page, *others)}) == 4


def test_a_text_is_stored_once_with_its_words(database: Database) -> None:
    """Within a batch, and in the next one."""
    with database.write() as db:
        assert sorted(texts.store(db, [RED, BLUE, RED]).values()) == ["Blue", "Red"]
    with database.write() as db:
        assert list(texts.store(db, [content("Green"), RED]).values()) == ["Green"]
        assert texts.store(db, []) == {}
        assert texts.ids(db, {text_hash(RED), text_hash(BLUE)}).keys() == {text_hash(RED), text_hash(BLUE)}
    assert (rows(database, "texts"), rows(database, "text_words")) == (3, 3)


def test_words_are_added_in_the_order_of_their_texts_numbers(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any other order SQLite writes its index of words to the file text by text."""
    added: list[int] = []
    add = word_index.add

    def noted(db: Transaction, rows: Sequence[tuple[int, str, str]]) -> None:
        added.extend(key for key, *_ in rows)
        add(db, rows)

    monkeypatch.setattr(word_index, "add", noted)
    with database.write() as db:
        titles = texts.store(db, [content(f"Number {n}") for n in range(20)])
    assert added == sorted(titles)
    with database.read() as db:
        assert titles == {row.id: row.title for row in db.execute(select(Text.id, Text.title))}


def test_texts_are_stored_while_another_batch_has_its_turn(database: Database) -> None:
    """And wait for no more than the same text's end."""
    if database.is_sqlite:
        return  # it has one writer
    with database.write() as busy:
        take_turn(busy)
        texts.store(busy, [RED])
        with database.write() as other:
            other.execute(text("SET LOCAL lock_timeout = '1ms'"))
            assert list(texts.store(other, [BLUE]).values()) == ["Blue"]
    assert rows(database, "text_words") == 2


def test_a_text_that_went_before_the_turn_came_is_stored_again(database: Database) -> None:
    """A purge, or whoever had the turn, deletes what nobody names."""
    tries: list[int] = []

    def pages_of(db: Transaction) -> list[ReadPage]:
        tries.append(len(db.scalars(select(Text)).all()))
        if len(tries) == 1:
            db.execute(delete(Text))
        return [a_page(db, content=RED)]

    [page] = write_in_turn(database, [RED], pages_of)
    assert (page.content, tries) == (RED, [1, 1])
    assert (rows(database, "snapshots"), rows(database, "texts"), rows(database, "text_words")) == (1, 1, 1)


@pytest.mark.parametrize("others", [(), (BLUE,)])
def test_a_text_whose_page_has_gone_meanwhile_goes_too(
    database: Database, others: tuple[Content, ...]
) -> None:
    """With its words: what a purge has removed does not stay behind, without a snapshot."""
    write_in_turn(
        database,
        [RED, *others],
        lambda db: [a_page(db, f"{SHOP}{n}", content=each) for n, each in enumerate(others)],
    )
    with database.read() as db:
        assert list(db.scalars(select(Text.title))) == [each.title for each in others]
        assert db.scalars(select(func.count()).where(WordForm.word == "leather")).one() == 0
    assert rows(database, "text_words") == len(others)
