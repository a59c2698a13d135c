"""The book: what one process writes, as another one reads it, on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crawler.config import load_settings
from crawler.db.models import CrawlSession
from crawler.errors import LockedError
from crawler.evidence.bodies import open_blobs
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.sessions.visit import Visit

ORDER = SessionOrder("https://shop.example/", "shop.example")
SHORT, LONG = 30, 3000


@pytest.fixture
def book_of(database: Database, tmp_path: Path) -> Callable[[int], SessionStore]:
    """Makes the book of a process whose sessions live for so many seconds after each sign of life."""

    def make(ttl_seconds: int = LONG) -> SessionStore:
        settings = load_settings(
            {"VITRINE_HOME": str(tmp_path), "DOMAIN_LOCK_TTL_SECONDS": str(ttl_seconds), "DATABASE_URL": ""}
        )
        return SessionStore(settings, database, open_blobs(settings))

    return make


def begin(book: SessionStore, order: SessionOrder = ORDER) -> Visit:
    """A running session."""
    [session_id] = book.queue([order], {})
    return book.post(book.start(session_id, order, Journal(str(session_id), order.domain)))


def grow_silent(database: Database, visit: Visit, seconds: int) -> None:
    """Let a session's last sign of life be so many seconds older than it is."""
    with database.write() as db:
        row: Any = db.get_one(CrawlSession, visit.fence.session_id)
        row.heartbeat_at -= timedelta(seconds=seconds)
        row.alive_until -= timedelta(seconds=seconds)


@pytest.mark.parametrize(("ttl", "is_dead"), [(SHORT, True), (LONG, False)])
def test_a_sessions_own_process_says_how_long_it_lives(
    database: Database, book_of: Callable[[int], SessionStore], ttl: int, *, is_dead: bool
) -> None:
    """Processes with other settings judge alike, whether theirs are shorter or longer."""
    visit = begin(book_of(ttl))
    grow_silent(database, visit, 2 * SHORT)
    for reader_ttl in (SHORT, LONG):
        if not is_dead:
            assert book_of(reader_ttl).abandon_stale() == []
            with pytest.raises(StaleSessionError):
                book_of(reader_ttl).requeue(visit.id)
    if is_dead:
        assert book_of(LONG).requeue(visit.id)[0] == visit.fence.session_id


def test_each_write_renews_the_sign_of_life(
    database: Database, book_of: Callable[[int], SessionStore]
) -> None:
    """A session that a beat reached in time is alive for the whole time again."""
    book = book_of(SHORT)
    visit = begin(book)
    grow_silent(database, visit, 2 * SHORT)
    assert book.beat(visit)
    assert book_of(LONG).abandon_stale() == []
    grow_silent(database, visit, 2 * SHORT)
    assert book_of(LONG).abandon_stale() == [visit.fence.session_id]


def test_whoever_finds_a_file_taken_hears_when_it_is_free(
    database: Database, book_of: Callable[[int], SessionStore]
) -> None:
    """The time is that of the process which works through it."""
    first = book_of(SHORT)
    batch = first.open_batch("/shops.txt")
    first.queue([SessionOrder("https://shop.example/", "shop.example", batch_id=batch.id)], {})
    with pytest.raises(LockedError, match="another process is working through") as refused:
        book_of(LONG).open_batch("/shops.txt")
    assert refused.value.hint in {f"if that process has died, its file is free in {s} s" for s in (29, 30)}


def test_a_session_that_was_put_back_is_nobodys(
    database: Database, book_of: Callable[[int], SessionStore]
) -> None:
    """It may be taken at once."""
    first = book_of(LONG)
    batch = first.open_batch("/shops.txt")
    visit = begin(first, SessionOrder("https://shop.example/", "shop.example", batch_id=batch.id))
    first.post(first.put_back(visit))
    assert book_of(SHORT).requeue(visit.id)[0] == visit.fence.session_id
