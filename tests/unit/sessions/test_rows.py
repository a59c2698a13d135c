"""Sessions in the database, on SQLite and PostgreSQL: the fence, the takeover, the abandoned."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from crawler.capture.failures import Cause, Summary
from crawler.clock import utc_now
from crawler.sessions import batches, rows
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.rows import Fence, Life, SessionOrder, StaleSessionError

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from crawler.db.engine import Database
    from crawler.db.models import CrawlSession

TTL = timedelta(seconds=300)
DONE = Outcome(Status.COMPLETED)


@pytest.fixture
def now() -> datetime:
    """A moment that the whole test shares."""
    return utc_now()


def life(now: datetime, ttl: timedelta = TTL) -> Life:
    """A sign of life that holds for a process's own time."""
    return Life(now, now + ttl)


def queue(database: Database, now: datetime, *, owner: str = "one", batch_id: int | None = None) -> UUID:
    """A queued session."""
    order = SessionOrder("https://shop.example/", "shop.example", batch_id=batch_id)
    session_id = uuid4()
    with database.write() as db:
        rows.create(db, {session_id: order}, owner=owner, snapshot={"A": "1"}, life=life(now))
    return session_id


def run(database: Database, now: datetime, *, owner: str = "one", batch_id: int | None = None) -> Fence:
    """A running session."""
    session_id = queue(database, now, owner=owner, batch_id=batch_id)
    with database.write() as db:
        return rows.start(db, session_id, owner=owner, life=life(now))


def load(database: Database, session_id: UUID) -> CrawlSession:
    """The session as it stands."""
    with database.read() as db:
        return rows.get(db, session_id)


def test_a_session_is_queued_started_and_ended(database: Database, now: datetime) -> None:
    """Each state has its times; the epoch rises with the start."""
    fence = run(database, now)
    with database.write() as db:
        rows.finish(db, fence, DONE, now=now, pdp_url="https://shop.example/p/1")
    row = load(database, fence.session_id)
    assert (row.status, row.epoch, row.owner) == ("completed", 1, "one")
    assert (row.started_at, row.finished_at) == (now, now)
    assert row.config_snapshot == {"A": "1"}
    assert row.pdp_url == "https://shop.example/p/1"


def test_only_its_owner_starts_a_session_and_only_once(database: Database, now: datetime) -> None:
    """Another process, or a second start, is refused."""
    session_id = queue(database, now)
    with database.write() as db, pytest.raises(StaleSessionError):
        rows.start(db, session_id, owner="two", life=life(now))
    with database.write() as db:
        rows.start(db, session_id, owner="one", life=life(now))
    with database.write() as db, pytest.raises(StaleSessionError):
        rows.start(db, session_id, owner="one", life=life(now))


@pytest.mark.parametrize(
    "change", [{"owner": "two"}, {"epoch": 0}, {"epoch": 2}], ids=["owner", "older epoch", "newer epoch"]
)
def test_a_write_without_the_fence_changes_nothing(
    database: Database, now: datetime, change: dict[str, object]
) -> None:
    """Owner and epoch are checked by every write."""
    fence = run(database, now)
    stale = Fence(**{"session_id": fence.session_id, "owner": fence.owner, "epoch": fence.epoch, **change})  # type: ignore[arg-type]
    later = now + timedelta(seconds=5)
    with database.write() as db:
        assert not rows.beat(db, stale, life(later))
        with pytest.raises(StaleSessionError):
            rows.require(db, stale, life(later))
        with pytest.raises(StaleSessionError):
            rows.finish(db, stale, DONE, now=later)
        rows.put_back(db, stale)
    row = load(database, fence.session_id)
    assert (row.status, row.heartbeat_at) == ("running", now)


def test_an_ended_session_takes_no_more_writes(database: Database, now: datetime) -> None:
    """Not even its owner's."""
    fence = run(database, now)
    with database.write() as db:
        rows.finish(db, fence, DONE, now=now)
    with database.write() as db, pytest.raises(StaleSessionError):
        rows.require(db, fence, life(now))


def test_only_a_silent_session_is_abandoned(database: Database, now: datetime) -> None:
    """A heartbeat exactly as old as the lock's time still counts as life."""
    alive, silent = run(database, now), run(database, now - TTL - timedelta(seconds=1))
    edge = run(database, now - TTL)
    with database.write() as db:
        ended = rows.abandon_stale(db, now)
    assert [row.id for row in ended] == [silent.session_id]
    row = load(database, silent.session_id)
    assert (row.status, row.error_summary, row.cause) == ("failed", Summary.CRAWL_FAILED, Cause.ABANDONED)
    assert load(database, alive.session_id).status == load(database, edge.session_id).status == "running"


def test_what_waits_in_a_living_process_is_not_abandoned(database: Database, now: datetime) -> None:
    """Queued sessions have a heartbeat too; those of a batch wait for its next start."""
    old = now - 2 * TTL
    waiting, dead = queue(database, old, owner="alive"), queue(database, old, owner="dead")
    with database.write() as db:
        batch = batches.begin_batch(db, "/shops.txt", old)
    in_batch = queue(database, old, owner="dead", batch_id=batch.id)
    with database.write() as db:
        rows.beat_queued(db, "alive", life(now))
        ended = rows.abandon_stale(db, now)
    assert [row.id for row in ended] == [dead]
    assert load(database, waiting).status == load(database, in_batch).status == "queued"


def test_a_living_session_cannot_be_queued_again(database: Database, now: datetime) -> None:
    """`retry` waits until its heartbeat is old; then the former owner is shut out."""
    fence = run(database, now)
    with database.write() as db, pytest.raises(StaleSessionError):
        rows.requeue(db, fence.session_id, owner="two", life=life(now))
    later = now + 2 * TTL
    with database.write() as db:
        rows.requeue(db, fence.session_id, owner="two", life=life(later))
        again = rows.start(db, fence.session_id, owner="two", life=life(later))
    assert again.epoch == fence.epoch + 1
    with database.write() as db:
        assert not rows.beat(db, fence, life(later))
        assert rows.beat(db, again, life(later))


def test_leaving_lets_go_of_what_waits(database: Database, now: datetime) -> None:
    """A batch's sessions wait for its next start, others end as interrupted; other processes' stay."""
    with database.write() as db:
        batch = batches.begin_batch(db, "/shops.txt", now)
    alone, in_batch = queue(database, now), queue(database, now, batch_id=batch.id)
    others = queue(database, now, owner="two")
    with database.write() as db:
        assert rows.release_queued(db, "one", now) == [alone]
    assert (load(database, alone).status, load(database, alone).cause) == ("failed", Cause.INTERRUPTED)
    assert (load(database, in_batch).status, load(database, in_batch).owner) == ("queued", None)
    assert load(database, others).owner == "two"


def test_a_batch_is_gone_on_with_until_nothing_is_left(database: Database, now: datetime) -> None:
    """Taken up is what was put back, cut short or left by the dead; finished sessions stay as they are."""
    with database.write() as db:
        batch = batches.begin_batch(db, "/shops.txt", now)
    done, back, dead = (run(database, now - 2 * TTL, batch_id=batch.id) for _ in range(3))
    never = queue(database, now - 2 * TTL, batch_id=batch.id)
    with database.write() as db:
        rows.finish(db, done, DONE, now=now)
        rows.put_back(db, back)
        rows.abandon_stale(db, now)
        assert not batches.close_finished(db, batch.id, now)
        taken = batches.take_up(db, batch, owner="two", life=life(now))
    assert {row.id for row in taken} == {back.session_id, dead.session_id, never}
    with database.write() as db:
        assert not batches.take_up(db, batch, owner="three", life=life(now))
        for row in taken:
            fence = rows.start(db, row.id, owner="two", life=life(now))
            rows.finish(db, fence, DONE, now=now)
        assert batches.close_finished(db, batch.id, now)
        assert batches.open_batch(db, "/shops.txt") is None
