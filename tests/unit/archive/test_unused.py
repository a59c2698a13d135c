"""What was read in a page outlives its rows for nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, text

from crawler.archive import unused
from crawler.db.models import CrawlSession, PageGroup, Snapshot, Text
from crawler.evidence.folder_store import FolderStore
from crawler.retention.sweep import SESSIONS
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

PAGE = "<title>Red shoes</title><p>Made of leather."


def test_texts_go_with_the_last_session_that_had_them(database: Database, tmp_path: Path) -> None:
    """A text that another session's page has stays, with its group; what nobody has goes with its words."""
    blobs = FolderStore(tmp_path / "artifacts")
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
            words = db.execute(text("SELECT count(*) FROM text_words")).scalar_one()
            left.append(
                (*(len(db.scalars(select(each)).all()) for each in (Snapshot, Text, PageGroup)), words)
            )
    assert left == [(2, 1, 1, 1), (1, 1, 1, 1), (0, 0, 0, 0)]


def test_of_any_number(database: Database) -> None:
    """A visit of a run may have had more pages than a statement may have parameters."""
    with database.write() as db:
        unused.delete_unused(db, unused.Named(set(range(1, 100_000)), set(range(1, 100_000))))
