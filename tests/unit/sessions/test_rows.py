"""What a session's row says and the fence in front of it, on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import update

from crawler.db.models import Batch, CrawlSession
from crawler.sessions import rows
from crawler.sessions.rows import Fence, SessionOrder

if TYPE_CHECKING:
    from uuid import UUID

    from crawler.db.engine import Database

TTL = timedelta(seconds=300)
ORDER = SessionOrder("https://shop.example/", "shop.example")


def queue(database: Database, order: SessionOrder = ORDER, owner: str | None = "one") -> UUID:
    """A queued session."""
    session_id = uuid4()
    with database.write() as db:
        rows.create(db, {session_id: order}, owner=owner, snapshot={"A": "1"}, ttl=TTL)
    return session_id


def run(database: Database) -> Fence:
    """A running session."""
    session_id = queue(database)
    with database.write() as db:
        db.execute(
            update(CrawlSession).where(CrawlSession.id == session_id).values(status="running", epoch=1)
        )
    return Fence(session_id, "one", 1)


def load(database: Database, session_id: UUID) -> CrawlSession:
    """The session as it stands."""
    with database.read() as db:
        return db.get_one(CrawlSession, session_id)


def test_an_order_is_read_back_as_it_was_given(database: Database) -> None:
    """Whatever it asks for, and with the settings that it is to run under."""
    with database.write() as db:
        batch = Batch(source="/shops.txt", created_at=db.now)
        db.add(batch)
        db.flush()
    order = SessionOrder(
        "https://shop.example/", "shop.example", mode="debug", retention_policy="short", render="auto",
        crawl_policy_version="v1.3", warc=True, wanted_pdp_url="https://shop.example/p/1",
        batch_id=batch.id, entry_id="1-0",
    )  # fmt: skip
    row = load(database, queue(database, order))
    assert rows.order_of(row) == order
    assert (row.status, row.kind, row.epoch, row.config_snapshot) == ("queued", "page", 0, {"A": "1"})


def test_a_session_for_anybody_has_no_life_yet(database: Database) -> None:
    """Nobody has to give a sign of it; an owner's lives for the owner's own time."""
    free, owned = load(database, queue(database, owner=None)), load(database, queue(database))
    assert (free.owner, free.heartbeat_at, free.alive_until) == (None, None, None)
    assert (owned.owner, owned.heartbeat_at) == ("one", owned.created_at)
    assert owned.alive_until == owned.created_at + TTL


@pytest.mark.parametrize(
    "change", [{"owner": "two"}, {"epoch": 0}, {"epoch": 2}], ids=["owner", "older epoch", "newer epoch"]
)
def test_a_write_without_the_fence_changes_nothing(database: Database, change: dict[str, object]) -> None:
    """Owner and epoch are checked by every write."""
    fence = run(database)
    before = load(database, fence.session_id)
    stale = Fence(**{"session_id": fence.session_id, "owner": fence.owner, "epoch": fence.epoch, **change})  # type: ignore[arg-type]
    with database.write() as db:
        assert not rows.beat(db, stale, TTL)
        assert not rows.change(db, stale, status="completed")
    row = load(database, fence.session_id)
    assert (row.status, row.heartbeat_at) == ("running", before.heartbeat_at)


def test_an_ended_session_takes_no_more_writes(database: Database) -> None:
    """Not even its owner's."""
    fence = run(database)
    with database.write() as db:
        assert rows.change(db, fence, status="completed")
    with database.write() as db:
        assert not rows.beat(db, fence, TTL)
