"""One corpus, one list of expectations, both databases."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from crawler.archive.search import LAST_ROW, SearchOrder, search
from crawler.errors import UsageError
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.archive.search import Found
    from crawler.db.engine import Database

LONG = "Leather shoes for long walks over stony hills, sewn by hand in a small town. "
# name: status, day of May, URL, page
CORPUS: dict[str, tuple[int | None, int, str, str]] = {
    "red": (200, 1, "https://shop.example/p?id=1", f"<title>Red shoes</title><p>{LONG * 5}<p>crimsonword"),
    "blue": (
        200,
        2,
        "https://shop.example/p?id=2",
        "<title>Blue shoes</title><p>Canvas, for the beach 100%.",
    ),
    "shoe red": (
        200,
        3,
        "https://www.shop.example/guide/",
        "<title>Guide</title><p>shoes that are red, size_42, 12.99 by node.js",
    ),
    "cafe": (None, 4, "https://other.example/cafe", "<title>Café Crème</title><p>Große Straße, l'été."),
    "japan": (
        200,
        5,
        "https://other.example/jp",
        "<html lang=ja><title>靴</title><p>この赤い靴は東京で作られた。",
    ),
    "gone": (404, 6, "https://shop.example/gone", "<title>Not found</title><p>No such leather."),
    "moved": (301, 7, "https://shop.example/moved", "<title>Moved</title><p>The leather is elsewhere."),
    "thai": (200, 8, "https://other.example/th", "<title>Thai</title><p>รองเท้าหนังสีแดงราคาถูก"),
    "red again": (200, 9, "https://shop.example/p?id=1", "<title>Red shoes, new</title><p>Now of rubber."),
}


@pytest.fixture
def corpus(database: Database, tmp_path: Path) -> Database:
    """A database with the corpus in it, indexed."""
    blobs = FolderStore(tmp_path / "artifacts")
    for status, day, url, html in CORPUS.values():
        domain = "shop.example" if "shop" in url else "other.example"
        at = datetime(2026, 5, day, 12, tzinfo=UTC)
        keep(database, blobs, html, url, status=status, at=at, domain=domain)
    assert index_pages(database, blobs).indexed == len(CORPUS)
    return database


def look(database: Database, order: SearchOrder) -> Found:
    """The answer."""
    with database.read() as db:
        return search(db, order)


def names(answer: Found) -> list[str]:
    """Which pages of the corpus were found, in their order."""
    by = {(datetime(2026, 5, day, 12, tzinfo=UTC)): name for name, (_, day, _, _) in CORPUS.items()}
    return [by[each.captured_at] for each in answer.snapshots]


EXPECTED: list[tuple[str, list[str], str]] = [
    ("", ["red again", "thai", "japan", "shoe red", "blue", "red", "cafe"], "all"),
    ("crimsonword", ["red"], "words"),
    ("red shoes", ["red again", "red", "shoe red"], "words"),
    ('"red shoes"', ["red again", "red"], "words"),
    ('"shoes that are"', ["shoe red"], "words"),
    ("RED -rubber", ["red", "shoe red"], "boolean"),
    ("crim", [], "parts"),
    ("anva", ["blue"], "parts"),
    ("canvas OR crimsonword", ["blue", "red"], "boolean"),
    ("shoes AND NOT (red OR canvas)", [], "boolean"),
    ("title:shoes", ["red again", "blue", "red"], "boolean"),
    ("title:hoe snippet:rubber", ["red again"], "boolean"),
    ("url:guide", ["shoe red"], "boolean"),
    ("-title:shoes red", ["shoe red"], "boolean"),
    ("creme", ["cafe"], "words"),
    ("STRASSE", ["cafe"], "words"),
    ("ÉTÉ", ["cafe"], "words"),
    ("赤い", ["japan"], "words"),
    ("い靴", ["japan"], "words"),
    ("靴赤", [], "parts"),
    ("หนังสี", ["thai"], "words"),
    ("100%", ["blue"], "words"),
    ("%", ["blue"], "parts"),
    ("e_4", ["shoe red"], "parts"),
    ("shop.example/p?id=1", ["red again", "red"], "url"),
    ("http://shop.example/guide", ["shoe red"], "url"),
    ("https://nowhere.example/", [], "url"),
    ("12.99", ["shoe red"], "words"),
    ("Node.js", ["shoe red"], "words"),
    ("99.12", [], "parts"),
    ("url:12.99", [], "boolean"),
    ("leather", ["red"], "words"),
    ("leathr", [], "parts"),
    ("shose", ["red again", "blue", "red", "shoe red"], "similar"),
    ("blau shoos", [], "parts"),
    ("bleu shoes", ["blue"], "similar"),
    ("bule shoes", ["blue"], "similar"),
    ("ruber", [], "parts"),
]


def test_what_is_expected_is_found(corpus: Database) -> None:
    """By words of the body, phrases, parts, expressions and URLs, in every script, in order."""
    answers = {text: look(corpus, SearchOrder(text)) for text, _, _ in EXPECTED}
    found = [(text, names(answer), answer.how) for text, answer in answers.items()]
    assert [(one, other) for one, other in zip(found, EXPECTED, strict=True) if one != other] == []
    assert all(answer.total == len(answer.snapshots) for answer in answers.values())


def test_other_answers_come_after(corpus: Database) -> None:
    """When they are asked for: redirects, then unknown ones, then errors."""
    every = look(corpus, SearchOrder("leather", with_non_2xx=True))
    assert names(every) == ["red", "moved", "gone"]
    assert names(look(corpus, SearchOrder(with_non_2xx=True)))[-3:] == ["moved", "cafe", "gone"]


def test_filters(corpus: Database) -> None:
    """By source, in any case, and by days, both included."""
    assert names(look(corpus, SearchOrder(source="OTHER.example"))) == ["thai", "japan", "cafe"]
    days = SearchOrder(since=date(2026, 5, 2), until=date(2026, 5, 3))
    assert names(look(corpus, days)) == ["shoe red", "blue"]
    assert look(corpus, SearchOrder(since=date.min, until=date.max)).total == 7
    assert look(corpus, SearchOrder(source="'; --")).total == 0
    with pytest.raises(UsageError):
        look(corpus, SearchOrder(since=date(2026, 5, 2), until=date(2026, 5, 1)))


def test_of_a_page_the_newest_hit(corpus: Database) -> None:
    """The view of pages has each once, and counts them so."""
    pages = look(corpus, SearchOrder("red shoes", view="pages"))
    assert (names(pages), pages.total) == (["red again", "shoe red"], 2)
    assert names(look(corpus, SearchOrder("crimsonword", view="pages"))) == ["red"]


def test_newest_first(corpus: Database) -> None:
    """When that is asked for."""
    assert names(look(corpus, SearchOrder("red shoes", sort="newest"))) == ["red again", "shoe red", "red"]


def test_pages_of_hits(corpus: Database) -> None:
    """Past the end there are none, and the total stays."""
    first, second = (look(corpus, SearchOrder(page=n, page_size=4)) for n in (1, 2))
    assert (len(first.snapshots), len(second.snapshots)) == (4, 3)
    for page in (3, LAST_ROW, 10**12):
        past = look(corpus, SearchOrder(page=page, page_size=4))
        assert (past.snapshots, past.total) == ([], 7)


ODD = [
    "(" * 256,
    '"' * 256,
    "-" * 256,
    "NOT NOT",
    "NOT " * 64,
    "title:",
    "%%__",
    "\\" * 99,
    "'; DROP TABLE texts; --",
    "a NEAR(b c, 5)",
    "a* ^b {c d}: e + f",
    '"a" "b',
    "words:x",
    "\ud800 AND x",
    "\x00",
    "a:b:c",
    ":x",
    "@@",
    "x'y",
    "OR " * 80,
    "(a OR " * 30 + "a" + ")" * 30,
    "-a " * 60,
    '"' + "a b " * 60 + '"',
    "<->",
    "a <-> b",
    "!a & b",
    "$1 %s",
    ":words",
    "赤" * 256,
    "\u202e",
    "url:%",
    "snippet:\\",
    "http://[::1",
    "a" * 256,
]


def test_what_many_pages_lead_to_comes_first(database: Database, tmp_path: Path) -> None:
    """Of hits that are alike otherwise; and the newest page is not found because of its age alone."""
    blobs = FolderStore(tmp_path / "artifacts")
    at = datetime(2026, 5, 1, tzinfo=UTC)
    for name in ("plain", "known"):
        html = f"<title>Shoes</title><main><p>{LONG * 3}{name}"
        keep(database, blobs, html, f"https://shop.example/{name}", at=at)
    for n in range(6):
        html = (
            f'<title>{n}</title><main><p>{"x" * 200} <a href="http://www.shop.example/known#part">known</a>'
        )
        keep(database, blobs, html, f"https://shop.example/from/{n}", at=at)
    index_pages(database, blobs)
    found = look(database, SearchOrder("leather"))
    assert [each.url.rpartition("/")[2] for each in found.snapshots] == ["known", "plain"]
    with database.read() as db:
        explained = search(db, SearchOrder("leather"), explain=True)
    assert [each["led_to"] for each in explained.scores] == [20, 0]
    assert [each["words"] for each in explained.scores] == [400, 400]


def test_all_pages_either_way(corpus: Database) -> None:
    """From what is known of groups, and from the snapshots, they are the same, in the same order."""
    for source in (None, "shop.example"):
        fast, slow = (
            look(corpus, SearchOrder(view="pages", source=source, fast_pages=way)) for way in (True, False)
        )
        assert (names(fast), fast.total) == (names(slow), slow.total)


def test_of_very_many_hits_the_newest_are_ranked(corpus: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is shown once, on whichever page."""
    monkeypatch.setattr("crawler.archive.search.MOST_RANKED", 2)
    pages = [look(corpus, SearchOrder("shoes", page=n, page_size=1)) for n in range(1, 5)]
    assert [names(each) for each in pages] == [["red again"], ["shoe red"], ["blue"], ["red"]]


def test_no_query_is_an_error(corpus: Database) -> None:
    """Whatever it is made of."""
    for text in ODD:
        assert look(corpus, SearchOrder(text)).total >= 0
        assert look(corpus, SearchOrder(text, view="pages", with_non_2xx=True)).total >= 0
