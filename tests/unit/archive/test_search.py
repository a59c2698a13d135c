"""One corpus, one list of expectations, both databases."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.archive.facets import MOST_COUNTED, facets
from crawler.archive.ranking import MAX_SLASHES
from crawler.archive.search import LAST_ROW, SearchOrder, search
from crawler.db.models import Snapshot
from crawler.errors import UsageError
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import SHOP, content, index

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.archive.search import Found
    from crawler.db.engine import Database

LONG = "Leather shoes for long walks over stony hills, sewn by hand in a small town. "
# name: status, day of May, URL, page
CORPUS: dict[str, tuple[int | None, int, str, str]] = {
    "red": (200, 1, "https://shop.example/p?id=1", f"<title>Red shoes</title><p>{LONG * 5}<p>crimsonword"),
    "blue": (200, 2, "https://shop.example/p?id=2",
             "<title>Blue shoes</title><p>Canvas, for the beach 100%."),
    "shoe red": (200, 3, "https://www.shop.example/guide/",
                 "<title>Guide</title><p>shoes that are red, size_42, 12.99 by node.js"),
    "cafe": (None, 4, "https://other.example/cafe", "<title>Café Crème</title><p>Große Straße, l'été."),
    "japan": (200, 5, "https://other.example/jp",
              "<html lang=ja><title>靴</title><p>この赤い靴は東京で作られた。"),
    "gone": (404, 6, "https://shop.example/gone", "<title>Not found</title><p>No such leather."),
    "moved": (301, 7, "https://shop.example/moved", "<title>Moved</title><p>The leather is elsewhere."),
    "thai": (200, 8, "https://other.example/th", "<title>Thai</title><p>รองเท้าหนังสีแดงราคาถูก"),
    "red again": (200, 9, "https://shop.example/p?id=1", "<title>Red shoes, new</title><p>Now of rubber."),
}  # fmt: skip


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
    ("ruber", [], "parts"),  # only words of titles are known with a slip
    ("guide shoes that", ["shoe red"], "words"),
    ('"guide shoes"', [], "parts"),  # no phrase reaches over from the title
]


def test_what_is_expected_is_found(corpus: Database) -> None:
    """By words of the body, phrases, parts, expressions and URLs, in every script, in order."""
    answers = {text: look(corpus, SearchOrder(text)) for text, _, _ in EXPECTED}
    found = [(text, names(answer), answer.how) for text, answer in answers.items()]
    assert [(one, other) for one, other in zip(found, EXPECTED, strict=True) if one != other] == []
    assert all(answer.total == len(answer.snapshots) for answer in answers.values())


def test_a_search_is_narrowed_down(corpus: Database) -> None:
    """By source, in any case, by days, both included, and by the status: 2xx, redirects, unknown, errors."""
    assert names(look(corpus, SearchOrder("leather", with_non_2xx=True))) == ["red", "moved", "gone"]
    assert names(look(corpus, SearchOrder(with_non_2xx=True)))[-3:] == ["moved", "cafe", "gone"]
    assert names(look(corpus, SearchOrder(source="OTHER.example"))) == ["thai", "japan", "cafe"]
    days = SearchOrder(since=date(2026, 5, 2), until=date(2026, 5, 3))
    assert names(look(corpus, days)) == ["shoe red", "blue"]
    assert look(corpus, SearchOrder(since=date.min, until=date.max)).total == 7
    assert look(corpus, SearchOrder(source="'; --")).total == 0
    with pytest.raises(UsageError):
        look(corpus, SearchOrder(since=date(2026, 5, 2), until=date(2026, 5, 1)))


def test_pages_of_hits(corpus: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the end there are none, and the total stays; of very many the newest are ranked."""
    first, second = (look(corpus, SearchOrder(page=n, page_size=4)) for n in (1, 2))
    assert (len(first.snapshots), len(second.snapshots)) == (4, 3)
    for page in (3, LAST_ROW, 10**12):
        past = look(corpus, SearchOrder(page=page, page_size=4))
        assert (past.snapshots, past.total) == ([], 7)
    monkeypatch.setattr("crawler.archive.search.MOST_RANKED", 2)
    pages = [look(corpus, SearchOrder("shoes", page=n, page_size=1)) for n in range(1, 5)]
    assert [names(each) for each in pages] == [["red again"], ["shoe red"], ["blue"], ["red"]]


def test_the_view_of_pages_has_each_once(corpus: Database) -> None:
    """By its newest hit, and counts them so; all of them are the same whichever way they are found."""
    pages = look(corpus, SearchOrder("red shoes", view="pages"))
    assert (names(pages), pages.total) == (["red again", "shoe red"], 2)
    assert names(look(corpus, SearchOrder("crimsonword", view="pages"))) == ["red"]
    for source in (None, "shop.example"):
        fast, slow = (
            look(corpus, SearchOrder(view="pages", source=source, fast_pages=way)) for way in (True, False)
        )
        assert (names(fast), fast.total) == (names(slow), slow.total)


ODD = [
    "(" * 256, '"' * 256, "-" * 256, "NOT NOT", "title:", "%%__", "\\" * 99, "'; DROP TABLE texts; --",
    "a NEAR(b c, 5)", "a* ^b {c d}: e + f", '"a" "b', "words:x", "\ud800 AND x", "\x00", "a:b:c", ":x", "@@",
    "x'y", "OR " * 80, "(a OR " * 30 + "a" + ")" * 30, "-a " * 60, '"' + "a b " * 60 + '"',
    "a <-> b", "!a & b", "$1 %s", ":words", "赤" * 256, "url:%", "snippet:\\", "http://[::1", "a" * 256,
]  # fmt: skip


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
    assert found(database, "leather") == ["known", "plain"]
    with database.read() as db:
        explained = search(db, SearchOrder("leather"), explain=True)
    assert [each["led_to"] for each in explained.scores] == [20, 0]
    assert [each["words"] for each in explained.scores] == [400, 400]


def test_no_query_is_an_error(corpus: Database) -> None:
    """Whatever it is made of."""
    for text in ODD:
        assert look(corpus, SearchOrder(text)).total >= 0
        assert look(corpus, SearchOrder(text, view="pages", with_non_2xx=True)).total >= 0


FILLER = "Plates and bowls of stoneware, thrown by hand in a small town in the hills. " * 4


def found(database: Database, query: str, **order: Any) -> list[str]:
    """The names of the pages that a search finds, ten at a time."""
    pages = [look(database, SearchOrder(query, page=n, page_size=10, **order)) for n in range(1, 6)]
    return [each.url.rpartition("/")[2] for page in pages for each in page.snapshots]


def write(database: Database, **pages: str) -> None:
    """Index pages, from the oldest to the newest: what comes before the bar is the title."""
    parts = {name: text.rpartition("|") for name, text in pages.items()}
    pages_of = {name: content(title or "Page", body) for name, (title, _, body) in parts.items()}
    index(database, *({"url": f"{SHOP}{name}", "content": each} for name, each in pages_of.items()))


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


def test_expressions_are_ranked_by_what_is_to_be_there(database: Database) -> None:
    """Words after NOT count for nothing."""
    write(
        database, much=f"{FILLER} glaze kiln glaze kiln glaze kiln", some=f"{FILLER} glaze kiln",
        other=f"{FILLER} glaze kiln glaze kiln glaze kiln glaze kiln glaze kiln anvil",
    )  # fmt: skip
    assert found(database, "glaze kiln") == found(database, '"glaze kiln"') == ["other", "much", "some"]
    assert found(database, "glaze AND kiln AND NOT anvil") == ["much", "some"]


@pytest.mark.parametrize(
    ("path", "words", "points"),
    [
        ("red", "shoes", {"title": 300, "url": 0, "phrase": 200, "query": 0, "tracking": 0, "depth": -3}),
        ("red", "red shoes", {"title": 600, "url": 50, "phrase": 200}),
        ("red", "shoes red", {"title": 600, "url": 50, "phrase": 0}),
        ("red", "100%", {"title": 0, "url": 0, "phrase": 0}),  # no pattern of the database's
        ("red?a=1", "shoes", {"query": -10, "tracking": 0}),
        ("red?UTM_source=x", "shoes", {"query": -10, "tracking": -10}),
        ("red/utmost", "shoes", {"query": 0, "tracking": 0, "depth": -4}),
        ("red" + "/x" * 100, "shoes", {"depth": -MAX_SLASHES}),
    ],
)  # fmt: skip
def test_points_of_a_hit(database: Database, path: str, words: str, points: dict[str, int]) -> None:
    """Words in the title count most; a query, what follows visitors, and depth count against a page."""
    index(database, {"url": SHOP + path, "content": content("Red Shoes, 100 of them", "Shoes of leather")})
    with database.read() as db:
        [score] = search(db, SearchOrder(words), explain=True).scores
    assert {name: score[name] for name in points} == points


def test_long_texts_are_found_to_their_end(database: Database) -> None:
    """Behind the places that PostgreSQL knows of a text, too, in scripts with and without spaces."""
    many = " ".join(f"w{n}" for n in range(20_000)) + " same" * 300 + " end"
    write(database, many=many, kanji="長い|" + "の" * 300 + "富士箱根の縄文" + "東" * 17_000 + "琵琶湖畔")
    for query in ("w19999", "end", '"w1 w2 w3"', '"w19998 w19999"', '"same end"'):
        assert found(database, query) == ["many"]
    for query in ("富士", "の縄文", "琵琶湖畔"):
        assert found(database, query) == ["kanji"]
    assert found(database, '"w2 w1"') == found(database, "犬富") == []


def test_hits_are_counted_by_site_and_year(database: Database) -> None:
    """Most hits first, then by name; the latest year first, in UTC; what is too much is not counted."""
    old, new = datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    index(
        database, {"url": f"{SHOP}1", "at": new}, {"url": f"{SHOP}2", "at": old},
        {"url": "https://b.example/", "at": new, "source": "b.example"},
        {"url": "https://a.example/", "at": new, "source": "a.example"},
    )  # fmt: skip
    with database.read() as db:
        hits = select(Snapshot).order_by(Snapshot.captured_at)
        counted = facets(db, hits, 4)
        assert facets(db, hits, MOST_COUNTED + 1) is facets(db, hits, 0) is facets(db, None, 3) is None
    assert counted is not None
    assert [(each.value, each.count) for each in counted.sources] == [
        ("shop.example", 2), ("a.example", 1), ("b.example", 1),
    ]  # fmt: skip
    assert [(each.value, each.count) for each in counted.years] == [("2026", 3), ("2025", 1)]
