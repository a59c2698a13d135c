"""What was kept is indexed once, keeps its id, and is never lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select, table, text

from crawler.archive.indexing import IndexResult
from crawler.archive.search import SearchOrder, search
from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession, PageGroup, Record, RegisteredSource, Snapshot, Text
from crawler.evidence.folder_store import FolderStore
from crawler.retention.sweep import SESSIONS
from tests.unit.archive.stored import index_pages, keep
from tests.unit.views.rows import THEN, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

PAGE = "<html lang=en><title>Red shoes</title><h1>Red shoes</h1><p>Made of leather, for walking.</p>"


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the files."""
    return FolderStore(tmp_path / "artifacts")


def snapshots(database: Database) -> list[Snapshot]:
    """All of them, the oldest first."""
    with database.read() as db:
        return list(db.scalars(select(Snapshot).order_by(Snapshot.id)))


def found(database: Database, query: str) -> list[str]:
    """The URLs of the hits."""
    with database.read() as db:
        return sorted(each.url for each in search(db, SearchOrder(query)).snapshots)


def test_a_kept_page_is_found_by_a_word_of_its_body(database: Database, blobs: FolderStore) -> None:
    """With title, snippet, language and digest; its domain is registered as its source."""
    keep(database, blobs, PAGE)
    assert index_pages(database, blobs) == IndexResult(indexed=1, total=1)
    [row] = snapshots(database)
    assert (row.title, row.language, row.status_class, row.problem) == ("Red shoes", "en", 2, None)
    assert "leather" in row.snippet
    assert found(database, "leather") == ["https://shop.example/p"]
    with database.read() as db:
        assert db.scalars(select(RegisteredSource.code)).all() == ["shop.example"]


def test_indexing_again_changes_nothing(database: Database, blobs: FolderStore) -> None:
    """A second pass has nothing to do; one by force keeps every id; repeats are found when asked for."""
    now = utc_now()
    for n in [*range(40), 0]:
        keep(database, blobs, PAGE + f"<p>number{n % 3}", f"https://shop.example/{n}", at=now)
    assert index_pages(database, blobs).indexed == 41
    before = [(row.id, row.record_id, row.text_id) for row in snapshots(database)]
    assert index_pages(database, blobs) == IndexResult()
    assert index_pages(database, blobs, again=True).indexed == 41
    assert [(row.id, row.record_id, row.text_id) for row in snapshots(database)] == before
    with database.read() as db:
        assert len(db.scalars(select(Text)).all()) == 3
        assert len(db.scalars(select(PageGroup)).all()) == 40
        twice = SearchOrder("leather", with_repeats=True)
        assert [search(db, each).total for each in (SearchOrder("leather"), twice)] == [40, 41]


def test_a_page_that_says_something_else_has_its_new_text(database: Database, blobs: FolderStore) -> None:
    """Found by what it says now, and not by what it said; a text that nobody has any more goes."""
    key = keep(database, blobs, PAGE)
    index_pages(database, blobs)
    with database.write() as db:
        db.execute(text("UPDATE texts SET text_hash = 'of an older normalisation'"))
    index_pages(database, blobs, again=True)
    with database.read() as db:
        assert [row.text_hash == "of an older normalisation" for row in db.scalars(select(Text))] == [False]
        assert db.execute(text("SELECT count(*) FROM text_words")).scalar_one() == 1
        assert db.get(Artifact, key)
    assert found(database, "leather") == ["https://shop.example/p"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [(b"%PDF-1.4", "not_html"), (b" ", "empty_page"), (b"<div>" * 50_000, "too_deep")],
    ids=["pdf", "empty", "deep"],
)
def test_what_cannot_be_read_is_found_by_its_url(
    database: Database, blobs: FolderStore, body: bytes, problem: str
) -> None:
    """And costs no other page anything."""
    keep(database, blobs, body, "https://shop.example/bad")
    keep(database, blobs, PAGE)
    result = index_pages(database, blobs)
    assert (result.indexed, result.without_text, result.bad) == (2, 1, 0)
    assert {row.problem for row in snapshots(database)} == {problem, None}
    assert found(database, "https://shop.example/bad") == ["https://shop.example/bad"]


def test_a_file_that_is_not_there_is_tried_again(database: Database, blobs: FolderStore) -> None:
    """It is counted, and nothing is written of it until it can be read."""
    key = keep(database, blobs, PAGE)
    keep(database, blobs, PAGE, "https://shop.example/q")
    with database.read() as db:
        uri = db.get_one(Artifact, key).storage_uri
    body = b"".join(blobs.stream(uri))
    blobs.delete(uri)
    assert index_pages(database, blobs) == IndexResult(indexed=1, bad=1, total=2)
    blobs.publish(uri, body)
    assert index_pages(database, blobs) == IndexResult(indexed=1, total=1)


def test_what_nobody_may_read_is_not_indexed(database: Database, blobs: FolderStore) -> None:
    """Deleted by policy; what was indexed before stays findable."""
    keep(database, blobs, PAGE)
    index_pages(database, blobs)
    keep(database, blobs, PAGE + "<p>later", "https://shop.example/later")
    with database.write() as db:
        for artifact in db.scalars(select(Artifact)):
            artifact.deleted_at = utc_now()
    assert index_pages(database, blobs) == IndexResult()
    assert found(database, "leather") == ["https://shop.example/p"]


def test_texts_go_with_the_last_session_that_had_them(database: Database, blobs: FolderStore) -> None:
    """A text that another session's page has stays, with its group; what nobody has goes with its words."""
    for html in (PAGE, PAGE, PAGE + "<p>canary"):
        keep(database, blobs, html)
    index_pages(database, blobs)
    with database.read() as db:
        sessions = list(db.scalars(select(CrawlSession.id).order_by(CrawlSession.created_at)))
    left = []
    for session in reversed(sessions):
        with database.write() as db:
            assert SESSIONS.remove(db, [session]) == 1
        with database.read() as db:
            tables = ("snapshots", "texts", "page_groups", "text_words")
            counts = (select(func.count()).select_from(table(each)) for each in tables)
            left.append([db.execute(each).scalar_one() for each in counts])
    assert left == [[2, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]]


def test_a_picture_in_a_file_of_its_own_has_a_record(database: Database, blobs: FolderStore) -> None:
    """Once, by which replay shows it; a page, a file of no page and what was deleted have none."""
    with database.write() as db:
        session = a_session()
        page = a_page(session.id, url="https://shop.example/chair.png", page_type="media", http_status=200)
        media: dict[str, Any] = {"type": "media", "content_type": "image/png", "retention_until": None}
        pictures = [
            an_artifact(session.id, page_id=each, **media, **columns)
            for each, columns in ((page.id, {}), (None, {}), (page.id, {"deleted_at": utc_now()}))
        ]
        for row in (session, page, *pictures):
            db.add(row)
            db.flush()
    for _ in range(2):
        index_pages(database, blobs)
    with database.read() as db:
        [record] = db.scalars(select(Record))
    assert (record.url, record.url_key) == ("https://shop.example/chair.png", "example,shop)/chair.png")
    assert (record.captured_at, record.status_code, record.mime_type) == (THEN, 200, "image/png")
    assert record.payload_digest == f"sha256:{'d' * 64}"


def test_text_that_no_database_would_take(database: Database, blobs: FolderStore) -> None:
    """NUL, half characters, quotes, backslashes, a word of any length, more words than are counted."""
    odd = "<title>a\x00'b\\ \"c\" &#xD800;</title><p>it's \\'quoted\\' 'a':1A & | ! &#0; " + "x" * 300_000
    many = "<p>" + " ".join(f"w{n}" for n in range(60_000))
    same = "<p>" + "same " * 60_000
    for n, html in enumerate((odd, many, same)):
        keep(database, blobs, html, f"https://shop.example/{n}")
    assert index_pages(database, blobs) == IndexResult(indexed=3, total=3)
    assert found(database, "quoted") == ["https://shop.example/0"]
    assert found(database, "w12345 w1") == ["https://shop.example/1"]
    assert found(database, "same") == ["https://shop.example/2"]
