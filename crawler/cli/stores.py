"""What commands open: to look, to tend what is kept, or to work on sessions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.catalogue.products import CatalogueHooks
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.revisions import require_current
from crawler.evidence.bodies import open_blobs
from crawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.evidence.blobs import BlobStore


@contextmanager
def opened(settings: Settings | None = None) -> Generator[Database]:
    """The database at the revision that this program speaks."""
    database = Database((settings or load_settings()).database)
    try:
        require_current(database)
        yield database
    finally:
        database.close()


@contextmanager
def reading(settings: Settings | None = None) -> Generator[tuple[Session, datetime]]:
    """A look into the database, and its time; nothing is changed."""
    with opened(settings) as database, database.read() as db:
        yield db, database.now(db)


@contextmanager
def evidence(settings: Settings | None = None) -> Generator[tuple[Database, BlobStore]]:
    """The database and the store of the files."""
    settings = settings or load_settings()
    with opened(settings) as database:
        yield database, open_blobs(settings)


@contextmanager
def sessions_at_work(settings: Settings | None = None, *, look_only: bool = False) -> Generator[SessionStore]:
    """The store of sessions, after those whose process died were ended."""
    settings = settings or load_settings()
    with evidence(settings) as (database, blobs):
        store = SessionStore(settings, database, blobs, (CatalogueHooks(),))
        if not look_only:
            store.abandon_stale()
        yield store
