"""The sessions of a fleet, as several workers write them, on SQLite and PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.config import load_settings
from crawler.db.models import CrawlLog, CrawlSession
from crawler.fleet.store import FleetStore
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.store import SessionStore
from crawler.sessions.visit_writes import EndWrite, PutBackWrite, StartWrite
from crawler.stores import open_blobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.sessions.visit import Visit

    Join = Callable[[], FleetStore]

MOST_DEATHS = 3


@pytest.fixture
def join(database: Database, tmp_path: Path) -> Join:
    """Has a worker join the fleet."""
    settings = load_settings({"VITRINE_HOME": str(tmp_path), "FLEET_MAX_DEATHS": MOST_DEATHS})

    def open_store() -> FleetStore:
        return FleetStore(SessionStore(settings, database, open_blobs(settings)))

    return open_store


def order(entry_id: str, domain: str = "shop.example", **more: Any) -> SessionOrder:
    """What an entry asks for."""
    return SessionOrder(f"https://{domain}/", domain, entry_id=entry_id, **more)


def begin(store: FleetStore, entry_id: str = "1") -> Visit:
    """Begin the session of an entry."""
    waiting = store.waiting(200, (), suspects=100)
    [found] = [each for each in waiting if each.order.entry_id == entry_id]
    journal = Journal(str(found.session_id), found.order.domain)
    return store.sessions.writes.post_now(StartWrite(store.sessions, found.order, journal))


def row_of(database: Database, entry_id: str = "1") -> CrawlSession:
    """The session of an entry, as it is stored."""
    with database.read() as db:
        return db.scalars(select(CrawlSession).where(CrawlSession.entry_id == entry_id)).one()


def let_die(database: Database, owner: str) -> None:
    """Have a worker be silent for longer than it said."""
    with database.write() as db:
        for row in db.scalars(select(CrawlSession).where(CrawlSession.owner == owner)):
            assert row.alive_until is not None
            row.alive_until -= timedelta(days=1)


def test_an_entry_has_one_session_however_often_it_is_written(join: Join, database: Database) -> None:
    """A worker that died after the row, before it let go of the entry: the next one writes nothing."""
    assert join().add([order("1"), order("2")], {"A": "1"}) == 2
    assert join().add([order("2"), order("3")], {}) == 1
    assert join().add([], {}) == 0
    row = row_of(database)
    assert (row.status, row.owner, row.epoch, row.alive_until) == ("queued", None, 0, None)
    assert row.config_snapshot == {"A": "1"}


def test_a_domain_s_line_stands_in_nobody_s_way(join: Join) -> None:
    """A hundred entries of one domain, and two of others behind them: of each domain the oldest is next."""
    store = join()
    for number in range(100):
        store.add([order(f"busy-{number}", "busy.example")], {})
    store.add([order("quiet", "quiet.example")], {})
    store.add([order("silent", "silent.example")], {})

    def next_ones(*busy: str, room: int = 9) -> list[str | None]:
        return [each.order.entry_id for each in store.waiting(room, busy)]

    assert next_ones() == ["busy-0", "quiet", "silent"]
    assert next_ones(room=2) == ["busy-0", "quiet"]
    assert next_ones("busy.example") == ["quiet", "silent"]
    visit = begin(store, "busy-0")
    assert next_ones() == ["quiet", "silent"]  # its domain is at work, whoever works there
    store.sessions.writes.post_now(EndWrite(store.sessions, visit))
    assert next_ones(room=1) == ["busy-1"]
    assert (store.count_waiting(50), store.count_waiting(1000)) == (50, 101)


def test_one_of_many_begins_a_session(join: Join) -> None:
    """The others are told that they were too late, and may write nothing."""
    join().add([order("1")], {})

    def try_to_begin(store: FleetStore) -> Visit | None:
        try:
            return begin(store)
        except (StaleSessionError, ValueError):  # begun by now; or not even seen any more
            return None

    with ThreadPoolExecutor(4) as pool:
        visits = list(pool.map(try_to_begin, [join() for _ in range(4)]))
    assert sum(visit is not None for visit in visits) == 1


def test_the_dead_ones_session_waits_again(join: Join, database: Database) -> None:
    """Under its own name and with a new epoch; what the dead one would still write is refused."""
    one, two = join(), join()
    one.add([order("1")], {})
    before = begin(one)
    assert two.recover() == []  # it lives
    let_die(database, one.sessions.owner)
    assert two.recover() == [before.fence.session_id]
    assert two.recover() == []
    row = row_of(database)
    assert (row.status, row.owner, row.deaths) == ("queued", None, 1)
    with pytest.raises(StaleSessionError):
        one.sessions.writes.post_now(EndWrite(one.sessions, before))
    after = begin(two)
    assert (after.fence.session_id, after.fence.epoch) == (before.fence.session_id, 2)
    assert one.sessions.beat([before]) == []
    two.sessions.writes.post_now(EndWrite(two.sessions, after))
    with database.read() as db:
        lines = list(db.scalars(select(CrawlLog.message).order_by(CrawlLog.id)))
    assert "session.worker_died" in lines


def test_a_page_that_kills_its_workers_is_given_up(join: Join, database: Database) -> None:
    """After as many deaths as are allowed; the session says so, and its log is exported."""
    join().add([order("1")], {})
    for deaths in range(1, MOST_DEATHS + 1):
        worker, other = join(), join()
        begin(worker)
        let_die(database, worker.sessions.owner)
        assert len(other.recover()) == 1
        assert row_of(database).deaths == deaths
    row = row_of(database)
    assert (row.status, row.error_summary, row.cause) == ("failed", "Crawl failed", "abandoned")
    assert row.finished_at is not None
    assert join().recover() == []
    assert not join().any_open()


def test_a_death_counts_once(join: Join, database: Database) -> None:
    """However many workers see to it at the same time."""
    one = join()
    one.add([order(str(number), f"shop-{number}.example") for number in range(8)], {})
    for number in range(8):
        begin(one, str(number))
    let_die(database, one.sessions.owner)
    with ThreadPoolExecutor(4) as pool:
        recovered = list(pool.map(FleetStore.recover, [join() for _ in range(4)]))
    assert sum(map(len, recovered)) == 8
    assert {row_of(database, str(number)).deaths for number in range(8)} == {1}


def test_a_stop_in_order_is_no_death(join: Join, database: Database) -> None:
    """What runs goes back to the fleet, and keeps what it has stored under its epoch."""
    one, two = join(), join()
    one.add([order("1")], {})
    one.sessions.writes.post_now(PutBackWrite(begin(one)))
    row = row_of(database)
    assert (row.status, row.owner, row.deaths) == ("queued", None, 0)
    assert begin(two).fence.epoch == 2


def test_others_leave_a_fleets_sessions_alone(join: Join, database: Database) -> None:
    """A crawl outside of the fleet, which marks what dead processes left, does not end what goes on."""
    one = join()
    one.add([order("1"), order("2", "other.example")], {})
    visit = begin(one)
    let_die(database, one.sessions.owner)
    bystander = SessionStore(one.sessions.settings, database, one.sessions.writes.blobs)
    assert bystander.abandon_stale() == []
    assert row_of(database).status == "running"
    session_id, again = bystander.requeue(visit.id)  # an operator may take one out by hand
    assert again.entry_id == "1"
    assert [each.order.entry_id for each in one.waiting(9, ())] == ["2"]
    bystander.release_queued()
    assert row_of(database).status == "queued"
    assert {each.session_id for each in one.waiting(9, ())} >= {session_id}
