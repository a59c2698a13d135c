"""The sessions of one process, as another one finds them, on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.capture.failures import Cause, Summary
from crawler.capture.items import PageCapture
from crawler.db.models import CrawlLog, CrawlSession
from crawler.sessions.batches import open_batch
from crawler.sessions.journal import Journal
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.page_rows import Hooks
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.store import is_stale
from crawler.sessions.visit import ProductPage
from crawler.sessions.visit_writes import StartWrite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.unit.sessions.conftest import Process

    ProcessOf = Callable[..., Process]

SHORT, LONG = 30, 3000
TTL = timedelta(seconds=300)


class Endings(Hooks):
    """A hook that hears of ends."""

    def __init__(self) -> None:
        self.heard: list[UUID] = []

    def sessions_ended(self, _db: Any, session_ids: Sequence[UUID], now: datetime) -> None:
        """Remember them."""
        assert now.tzinfo
        self.heard += session_ids


def test_a_session_is_queued_started_and_ended(process_of: ProcessOf) -> None:
    """Each state has its times; the epoch rises with the start, and whoever hears of ends hears of this."""
    endings = Endings()
    process = process_of(300, endings)
    session_id = process.queue()
    queued = process.load(session_id)
    assert (queued.status, queued.epoch, queued.owner) == ("queued", 0, process.store.owner)
    assert queued.config_snapshot == {"A": "1"}
    visit = process.start(session_id)
    started = process.load(session_id)
    assert (started.status, started.epoch) == ("running", 1)
    assert started.started_at == started.heartbeat_at
    visit.pdp = ProductPage("https://shop.example/p/1", missing=None)
    doubt = ("missing_h1",)
    page = PageCapture(visit.id, "pdp", "https://shop.example/p/1", low_confidence_reasons=doubt)
    process.store.writes.post_now(process.store.writes.page(visit, page))
    process.finish(visit)
    ended = process.load(session_id)
    assert (ended.status, ended.pdp_url, ended.low_confidence) == ("completed", visit.pdp.url, True)
    assert ended.finished_at == ended.heartbeat_at
    assert endings.heard == [session_id]


def test_only_its_owner_starts_a_session_and_only_once(process_of: ProcessOf) -> None:
    """Another process, or a second start, is refused."""
    one, two = process_of(), process_of()
    session_id = one.queue()
    with pytest.raises(StaleSessionError):
        two.start(session_id)
    one.start(session_id)
    with pytest.raises(StaleSessionError):
        one.start(session_id)


def test_a_session_may_be_written_as_it_begins(process_of: ProcessOf) -> None:
    """With the settings that it runs under; a run's looks for no product page."""
    process = process_of()
    order, key = SessionOrder("https://shop.example/", "shop.example"), "a" * 32
    start = StartWrite(process.store, order, Journal(key, order.domain), {"B": "2"})
    visit = process.store.writes.post_now(start)
    row = process.load(visit.fence.session_id)
    assert (row.status, row.epoch, row.config_snapshot) == ("running", 1, {"B": "2"})
    assert visit.pdp.missing == Cause.NO_CANDIDATES


def test_an_end_that_is_no_longer_ours_changes_nothing(process_of: ProcessOf) -> None:
    """Nor does putting back; nobody hears of an end."""
    endings = Endings()
    process = process_of(300, endings)
    visit = process.begin()
    with process.store.database.write() as db:
        db.get_one(CrawlSession, visit.fence.session_id).epoch += 1
    for end in (process.finish, process.put_back):
        with pytest.raises(StaleSessionError):
            end(visit)
    assert process.store.beat([visit]) == []
    assert process.load(visit.fence.session_id).status == "running"
    assert endings.heard == []


def test_only_a_silent_session_is_abandoned(process_of: ProcessOf) -> None:
    """By what its own process said of its life."""
    endings = Endings()
    process = process_of(300, endings)
    alive, silent = process.begin(), process.begin()
    process.let_pass(silent.fence.session_id, TTL + timedelta(seconds=1))
    assert process_of(300, endings).store.abandon_stale() == [silent.fence.session_id]
    row = process.load(silent.fence.session_id)
    assert (row.status, row.error_summary, row.cause) == ("failed", Summary.CRAWL_FAILED, Cause.ABANDONED)
    assert process.load(alive.fence.session_id).status == "running"
    assert endings.heard == [silent.fence.session_id]


def test_a_sign_of_life_holds_to_its_very_end(process_of: ProcessOf) -> None:
    """A heartbeat exactly as old as the lock's time still counts as life."""
    process = process_of()
    visit = process.begin()
    until = process.load(visit.fence.session_id).alive_until
    assert until is not None
    with process.store.database.read() as db:
        for moment, found in ((until, []), (until + timedelta(microseconds=1), [visit.fence.session_id])):
            assert list(db.scalars(select(CrawlSession.id).where(is_stale(moment)))) == found


def test_what_waits_in_a_living_process_is_not_abandoned(process_of: ProcessOf) -> None:
    """Queued sessions have a heartbeat too; those of a batch wait for its next start."""
    alive, dead = process_of(), process_of()
    batch = open_batch(dead.store, "/shops.txt")
    waiting, lost, in_batch = alive.queue(), dead.queue(), dead.queue(batch.id)
    for session_id in (waiting, lost, in_batch):
        alive.let_pass(session_id, 2 * TTL)
    assert alive.store.beat([]) == []
    assert alive.store.abandon_stale() == [lost]
    assert alive.load(waiting).status == alive.load(in_batch).status == "queued"


@pytest.mark.parametrize(("ttl", "is_dead"), [(SHORT, True), (LONG, False)])
def test_a_sessions_own_process_says_how_long_it_lives(
    process_of: ProcessOf, ttl: int, *, is_dead: bool
) -> None:
    """Processes with other settings judge alike, whether theirs are shorter or longer."""
    process = process_of(ttl)
    visit = process.begin()
    process.let_pass(visit.fence.session_id, timedelta(seconds=2 * SHORT))
    for reader_ttl in (SHORT, LONG):
        if not is_dead:
            assert process_of(reader_ttl).store.abandon_stale() == []
            with pytest.raises(StaleSessionError):
                process_of(reader_ttl).store.requeue(visit.id)
    if is_dead:
        assert process_of(LONG).store.requeue(visit.id)[0] == visit.fence.session_id


def test_a_living_session_cannot_be_queued_again(process_of: ProcessOf) -> None:
    """`retry` waits until its heartbeat is old; then the former owner is shut out."""
    one, two = process_of(), process_of()
    visit = one.begin()
    with pytest.raises(StaleSessionError, match="at work in another process"):
        two.store.requeue(visit.id)
    one.let_pass(visit.fence.session_id, 2 * TTL)
    assert two.store.requeue(visit.id[:13]) == (visit.fence.session_id, visit.order)
    again = two.start(visit.fence.session_id)
    assert again.fence.epoch == visit.fence.epoch + 1
    assert one.store.beat([visit]) == []
    assert two.store.beat([again]) == [again]


def test_what_is_queued_again_has_not_ended(process_of: ProcessOf) -> None:
    """Nothing of how it ended is left."""
    process = process_of()
    visit = process.begin()
    visit.stop(Cause.CRASHED)
    process.finish(visit)
    process.store.requeue(visit.id)
    row = process.load(visit.fence.session_id)
    assert (row.status, row.error_summary, row.cause, row.finished_at) == ("queued", None, None, None)


def test_each_write_renews_the_sign_of_life(process_of: ProcessOf) -> None:
    """A session that a beat reached in time is alive for the whole time again."""
    process = process_of(SHORT)
    visit = process.begin()
    process.let_pass(visit.fence.session_id, timedelta(seconds=2 * SHORT))
    assert process.store.beat([visit]) == [visit]
    assert process_of(LONG).store.abandon_stale() == []
    process.let_pass(visit.fence.session_id, timedelta(seconds=2 * SHORT))
    assert process_of(LONG).store.abandon_stale() == [visit.fence.session_id]


def test_leaving_lets_go_of_what_waits(process_of: ProcessOf) -> None:
    """A batch's sessions wait for its next start, others end as interrupted; other processes' stay."""
    endings = Endings()
    process, other = process_of(300, endings), process_of()
    batch = open_batch(process.store, "/shops.txt")
    alone, in_batch, others = process.queue(), process.queue(batch.id), other.queue()
    process.store.release_queued()
    assert (process.load(alone).status, process.load(alone).cause) == ("failed", Cause.INTERRUPTED)
    assert (process.load(in_batch).status, process.load(in_batch).owner) == ("queued", None)
    assert process.load(others).owner == other.store.owner
    assert endings.heard == [alone]


def test_a_session_that_was_put_back_is_nobodys(process_of: ProcessOf) -> None:
    """It may be taken at once."""
    first = process_of(LONG)
    visit = first.begin(open_batch(first.store, "/shops.txt").id)
    first.put_back(visit)
    assert process_of(SHORT).store.requeue(visit.id)[0] == visit.fence.session_id


def test_a_session_that_cannot_be_begun_ends_with_its_log(process_of: ProcessOf) -> None:
    """Of one that somebody else has meanwhile only the lines are written."""
    endings = Endings()
    process = process_of(300, endings)
    outcome = Outcome(Status.FAILED, Summary.LOCK_TIMEOUT, Cause.DOMAIN_HELD)
    mine, others = process.queue(), process_of().queue()
    for session_id in (mine, others):
        journal = Journal(str(session_id), "shop.example")
        journal.error("error", "session.refused")
        process.store.refuse(session_id, outcome, journal)
    row = process.load(mine)
    assert (row.status, row.error_summary, row.cause) == ("failed", "Domain lock timeout", "domain_held")
    assert process.load(others).status == "queued"
    assert endings.heard == [mine]
    with process.store.database.read() as db:
        assert set(db.scalars(select(CrawlLog.session_id))) == {mine, others}
    assert [entry.uri for entry in process.store.writes.blobs.entries()] == [
        f"shop.example__{mine}/session_logs.jsonl"
    ]
