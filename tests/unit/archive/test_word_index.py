"""Both databases find a text by the same words, phrases and parts, and by none once it is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.archive import word_index
from crawler.archive.words import words_of
from crawler.db.models import Snapshot, Text
from tests.unit.archive.written import SHOP, content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

TEXTS = {
    "red": ("Red shoes", "Made of leather"),
    "cafe": ("Café Crème", "l'été AT&T a:b \"quoted\" 'x' \\ NEAR(a b) title:red"),
    "long": ("Many", " ".join(f"w{n}" for n in range(20_000)) + " " + "same " * 300 + "end"),
    "kanji": ("長い", "の" * 300 + "富士箱根の縄文" + "東" * 17_000 + "琵琶湖畔"),
}


@pytest.fixture
def texts(database: Database) -> dict[str, int]:
    """The ids of the texts, by name."""
    ids = {}
    with database.write() as db:
        for number, (name, (title, body)) in enumerate(TEXTS.items(), 1):
            db.add(Text(id=number, text_hash=name, title=title, body=body, is_cut=False))
            ids[name] = number
        db.flush()
        word_index.add(db, [(ids[name], *TEXTS[name]) for name in TEXTS])
        word_index.add(db, [])
    return ids


def having(database: Database, *phrases: str) -> set[int]:
    """The ids of the texts that have them."""
    with database.read() as db:
        return {row[0] for row in db.execute(word_index.having(db, [words_of(each) for each in phrases]))}


@pytest.mark.parametrize(
    ("phrases", "found"),
    [
        (("leather",), "red"), (("red shoes",), "red"), (("shoes red",), ""),
        (("made of leather", "red"), "red"),
        (("shoes made",), ""),  # no phrase reaches over from the title
        (("creme",), "cafe"), (("at t",), "cafe"), (("NEAR",), "cafe"), (("title red",), "cafe"),
        (("quoted x",), "cafe"), (("w19999",), "long"), (("end",), "long"), (("w1 w2 w3",), "long"),
        (("w19998 w19999",), "long"), (("same end",), "long"),  # behind what PostgreSQL knows the places of
        (("富士",), "kanji"), (("の縄文",), "kanji"), (("琵琶湖畔",), "kanji"), (("犬富",), ""),
        (("leather", "creme"), ""),
    ],
)  # fmt: skip
def test_words_and_phrases(
    database: Database, texts: dict[str, int], phrases: tuple[str, ...], found: str
) -> None:
    """Words of the databases' own languages are words like others."""
    assert having(database, *phrases) == ({texts[found]} if found else set())


def test_what_is_removed_is_found_by_nothing(database: Database, texts: dict[str, int]) -> None:
    """Others stay."""
    with database.write() as db:
        word_index.remove(db, [texts["red"], 999])
        word_index.remove(db, [])
        word_index.forget_deleted(db)
    assert having(database, "leather") == set()
    assert having(database, "creme") == {texts["cafe"]}


def narrowed(database: Database, part: str) -> set[str] | None:
    """Titles of the snapshots that may have it; None where every one may."""
    with database.read() as db:
        query = word_index.narrowed(db, part, "part")
        if query is None:
            return None
        ids = [row[0] for row in db.execute(query)]
        return set(db.scalars(select(Snapshot.title).where(Snapshot.id.in_(ids))))


def test_parts_of_words(sqlite_database: str) -> None:
    """What has the part is among what is found, whatever is in it; what is too short has no index."""
    from crawler.db.engine import Database as Opened  # ruff: ignore[import-outside-top-level] - see above

    database = Opened(sqlite_database)
    try:
        index(database, {"content": content("Red shoes")}, {"url": f'{SHOP}"b', "content": content("Blue")})
        assert narrowed(database, "hoe") == {"Red shoes"}
        assert narrowed(database, '/"b') == {"Blue"}
        assert narrowed(database, "shop.example") == {"Red shoes", "Blue"}
        assert narrowed(database, "shop.example/" + "nowhere" * 30) == set()
        assert narrowed(database, "ho") is None
        assert narrowed(database, "") is None
    finally:
        database.close()


def test_parts_are_added_once(database: Database) -> None:
    """A second time changes nothing; of no snapshot is nothing to be added."""
    index(database, {"content": content("Red shoes")})
    with database.write() as db:
        [key] = db.scalars(select(Snapshot.id))
        assert word_index.add_parts(db, [key]) == 1
        assert word_index.add_parts(db, []) == 0
    assert narrowed(database, "hoe") in ({"Red shoes"}, None)
