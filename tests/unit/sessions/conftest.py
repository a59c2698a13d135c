"""Processes that share a database, as far as sessions can tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen

from crawler.config import load_settings
from crawler.db.models import CrawlSession
from crawler.sessions import rows
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder
from crawler.sessions.store import SessionStore
from crawler.sessions.visit_writes import EndWrite, PutBackWrite, StartWrite
from crawler.stores import open_blobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from pathlib import Path
    from uuid import UUID

    from crawler.db.engine import Database
    from crawler.sessions.visit import Visit

ORDER = SessionOrder("https://shop.example/", "shop.example")


@frozen
class Process:
    """What one process does with sessions."""

    store: SessionStore

    def queue(self, batch_id: int | None = None) -> UUID:
        """A session that waits here."""
        order = SessionOrder(ORDER.url, ORDER.domain, batch_id=batch_id)
        [session_id] = self.store.queue([order], {"A": "1"})
        return session_id

    def start(self, session_id: UUID) -> Visit:
        """Begin a session that waits."""
        row = self.load(session_id)
        journal = Journal(str(session_id), ORDER.domain)
        return self.store.writes.post_now(StartWrite(self.store, rows.order_of(row), journal))

    def begin(self, batch_id: int | None = None) -> Visit:
        """A running session."""
        return self.start(self.queue(batch_id))

    def finish(self, visit: Visit) -> None:
        """End it."""
        self.store.writes.post_now(EndWrite(self.store, visit))

    def put_back(self, visit: Visit) -> None:
        """Leave it for the next start of its batch."""
        self.store.writes.post_now(PutBackWrite(visit))

    def load(self, session_id: UUID) -> CrawlSession:
        """A session as it stands."""
        with self.store.database.read() as db:
            return db.get_one(CrawlSession, session_id)

    def let_pass(self, session_id: UUID, time: timedelta) -> None:
        """Let a session's last sign of life be older than it is."""
        with self.store.database.write() as db:
            row: Any = db.get_one(CrawlSession, session_id)
            row.heartbeat_at -= time
            row.alive_until -= time


@pytest.fixture
def process_of(database: Database, tmp_path: Path) -> Callable[..., Process]:
    """Makes a process whose sessions live for so many seconds after each sign of life."""

    def make(ttl_seconds: int = 300, *hooks: Any) -> Process:
        settings = load_settings(
            {"VITRINE_HOME": str(tmp_path), "DOMAIN_LOCK_TTL_SECONDS": str(ttl_seconds), "DATABASE_URL": ""}
        )
        return Process(SessionStore(settings, database, open_blobs(settings), hooks))

    return make
