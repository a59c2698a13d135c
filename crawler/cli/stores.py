"""The stores that commands look into."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.catalogue.hooks import CatalogueHooks
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.revisions import require_current
from crawler.evidence.bodies import open_blobs
from crawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.config import Settings


@contextmanager
def open_book(settings: Settings | None = None) -> Generator[SessionStore]:
    """The book of sessions, after those whose process died were marked."""
    settings = settings or load_settings()
    database = Database(settings.database)
    try:
        require_current(database)
        book = SessionStore(settings, database, open_blobs(settings), (CatalogueHooks(),))
        book.abandon_stale()
        yield book
    finally:
        database.close()
