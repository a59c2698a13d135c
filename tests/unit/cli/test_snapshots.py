"""`vitrine search` and `vitrine snapshots`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Done, Vitrine

    Command = Callable[..., Done]

PAGE = "<html lang=en><title>Red [b]shoes[/b]</title><p>Made of leather, for walking on long ways."


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the files."""
    return FolderStore(tmp_path / "kept")


@pytest.fixture
def command(vitrine: Vitrine, database: Database, database_url: str, blobs: FolderStore) -> Command:
    """Runs `vitrine` where one page is indexed."""
    keep(database, blobs, PAGE)
    index_pages(database, blobs)
    return lambda *given: vitrine(*given, DATABASE_URL=database_url, ARTIFACTS_DIR="kept")


def test_a_search(command: Command) -> None:
    """For people, with nothing of a page taken for markup, and for programs."""
    assert "Red [b]shoes[/b]" in command("search", "leather").out
    found = command("search", "leather", "--json").document
    assert {name: found[name] for name in ("total", "page", "page_size")} == {
        "total": 1, "page": 1, "page_size": 20,
    }  # fmt: skip
    [hit] = found["results"]
    assert (hit["original_url"], hit["source_code"], hit["language"]) == (
        "https://shop.example/p", "shop.example", "en",
    )  # fmt: skip
    assert command("search", "nowhere", "--fail-empty").code == 4


ADDRESSES = [
    "https://e.example/p/12?v=1", "https://e.example/p/12", "https://e.example/p/12?v=2&utm_source=z",
    "http://www.e.example/list?b=2&a=1", f"https://e.example/list?a=1&long={'x' * 600}",
    "https://e.example/list?a=1&b=2&fbclid=abc", 'https://e.example/list?size=27"',
]  # fmt: skip


@pytest.mark.parametrize("by", ["path", "query"])
def test_the_address_of_a_result_finds_it(
    vitrine: Vitrine, database: Database, database_url: str, by: str
) -> None:
    """With its query and its tracking parameters, whether or not its source tells pages apart by queries."""
    index(database, *({"url": url, "group_by": by} for url in ADDRESSES))

    def found(query: str) -> list[str]:
        answer = vitrine("search", query, "--page-size", "100", "--json", DATABASE_URL=database_url).document
        return [hit["original_url"] for hit in answer["results"]]

    assert [url for url in ADDRESSES if url not in found(url)] == []
    assert found("https://e.example/p/12?v=9") == found("https://e.example/p/1") == []
    assert (ADDRESSES[0] in found("https://e.example/p/12")) is (by == "path")


def test_tracking_parameters_make_no_other_page(
    vitrine: Vitrine, database: Database, database_url: str
) -> None:
    """The view of pages has a page once, and a search for any of its addresses finds every capture."""
    page = "https://e.example/p?a=1"
    clicked = "https://e.example/p?gclid=7&a=1&UTM_Campaign=x"
    urls = [page, f"{page}&utm_source=z", clicked, f"{page}&fbclid=q"]
    index(database, *({"url": url} for url in urls), {"url": f"{page}&color=utm_red"})
    found = vitrine("search", "--view", "pages", "--json", DATABASE_URL=database_url).document
    assert found["total"] == 2
    for url in urls:
        assert vitrine("search", url, "--json", DATABASE_URL=database_url).document["total"] == len(urls)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("(red OR leather", "a bracket is not closed"),
        ("red) leather", "a bracket is closed that was not"),
        ('title:"red', "a quote is not closed"),
        ('27" screen', "a quote is not closed"),
    ],
)
def test_what_is_not_closed_is_an_error(command: Command, query: str, problem: str) -> None:
    """Words were looked for instead, and nobody was told; brackets and quotes within quotes are text."""
    done = command("search", query)
    assert (done.code, done.out) == (2, "")
    assert problem in done.err
    assert len(done.err.splitlines()) == 2
    assert command("search", '"made (of" "leather, \\"for"').code == 0
    assert command("search", "https://shop.example/p?a=(b").code == 0


def test_a_snapshot(command: Command) -> None:
    """What it is, and its body, byte by byte."""
    document = command("snapshots", "show", "1", "--json").document
    assert (document["container"], document["body"], document["title"]) == (
        "artifact", "there", "Red [b]shoes[/b]",
    )  # fmt: skip
    assert command("snapshots", "cat", "1").out == PAGE
    assert "leather" in command("snapshots", "show", "1").out


def test_a_static_copy(command: Command, tmp_path: Path) -> None:
    """It is written whole, its path stands with the snapshot, and nothing is written over."""
    assert command("snapshots", "show", "1", "--json").document["raw_snapshot_path"] is None
    assert command("snapshots", "export", "1", "page.html").code == 0
    copy = tmp_path / "page.html"
    assert copy.read_text(encoding="utf-8") == PAGE
    assert command("snapshots", "show", "1", "--json").document["raw_snapshot_path"] == str(copy)
    again = command("snapshots", "export", "1", "page.html")
    assert (again.code, "cannot be written: File exists" in again.err) == (2, True)
    assert command("snapshots", "export", "2", "other.html").code == 1
    assert command("snapshots", "export", "1", "none/page.html").code == 2


def test_indexing(
    vitrine: Vitrine, database: Database, database_url: str, blobs: FolderStore, tmp_path: Path
) -> None:
    """What it came to is told, and a file that is not there is no success."""
    keep(database, blobs, PAGE)

    def index() -> tuple[int, dict[str, int]]:
        done = vitrine("snapshots", "index", "--json", DATABASE_URL=database_url, ARTIFACTS_DIR="kept")
        return done.code, done.document

    assert index() == (0, {"indexed": 1, "without_text": 0, "bad": 0, "total": 1})
    keep(database, blobs, PAGE)
    for file in (tmp_path / "kept").rglob("*.gz"):
        file.unlink()
    assert index() == (1, {"indexed": 0, "without_text": 0, "bad": 1, "total": 1})
