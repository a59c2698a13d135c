"""The page that says most of what was looked for comes first, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.archive.search import SearchOrder, search
from tests.unit.archive.written import NOON, SHOP, content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

FILLER = "Plates and bowls of stoneware, thrown by hand in a small town in the hills. " * 4


def found(database: Database, query: str, **order: object) -> list[str]:
    """The pages that a search finds, by their names, ten at a time."""
    with database.read() as db:
        pages = [search(db, SearchOrder(query, page=n, page_size=10, **order)) for n in range(1, 6)]  # type: ignore[arg-type]
    return [each.url.rpartition("/")[2] for page in pages for each in page.snapshots]


def write(database: Database, **pages: str) -> None:
    """Index pages, from the oldest to the newest: what comes before the bar is the title."""
    rows = []
    for name, text in pages.items():
        title, _, body = text.rpartition("|")
        rows.append({"url": f"{SHOP}{name}", "content": content(title or "Page", body), "at": NOON})
    index(database, *rows)


@pytest.mark.parametrize("view", ["snapshots", "pages"])
def test_more_mentions_come_first(database: Database, view: str) -> None:
    """Though other pages are newer, mention it in their beginning, and all pages mention it."""
    guide = FILLER * 3 + "The teapot pours, and a teapot that pours well stays. " * 8 + "Teapot."
    pages = {f"page{n}": f"A teapot. {FILLER}" for n in range(40)}
    write(database, guide=guide, few=f"{FILLER} Our teapot is a teapot, teapot, teapot.", **pages)
    first = found(database, "teapot", view=view)
    assert first[:2] == ["guide", "few"]
    assert sorted(first) == sorted(["guide", "few", *pages])


def test_titles_come_before_bodies(database: Database) -> None:
    """A word in the title says what the page is about; how often the text says it comes second."""
    write(
        database, often=f"{FILLER} teapot teapot teapot teapot teapot teapot", title=f"Teapot|{FILLER}",
        both=f"Teapot|{FILLER} A teapot, and another teapot.", newest=f"{FILLER} teapot",
    )  # fmt: skip
    assert found(database, "teapot") == ["both", "title", "often", "newest"]
    assert found(database, "teapot", sort="newest") == ["newest", "both", "title", "often"]


def test_rare_words_and_expressions_are_ranked_too(database: Database) -> None:
    """By what is to be there; what is not to be there has no part in it."""
    write(
        database, much=f"{FILLER} glaze kiln glaze kiln glaze kiln", some=f"{FILLER} glaze kiln",
        other=f"{FILLER} glaze kiln glaze kiln glaze kiln glaze kiln glaze kiln anvil",
    )  # fmt: skip
    assert found(database, "glaze kiln") == found(database, '"glaze kiln"') == ["other", "much", "some"]
    assert found(database, "glaze AND kiln AND NOT anvil") == ["much", "some"]
