"""Visits: begun and ended around the gate, and what happens in between, on both gates where it matters."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve, frozen
from sqlalchemy import func, select

from crawler.access.gate import GateUnavailableError, Held
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.crawl import visits as module
from crawler.crawl.visits import Visits, end_own
from crawler.db.models import CrawlLog, CrawlSession, Run
from crawler.errors import RevisionError
from crawler.evidence.blobs import MARK, DiskFullError
from crawler.sessions.batches import open_batch
from crawler.sessions.outcome import Status
from crawler.sessions.page_rows import Hooks
from crawler.sessions.rows import SessionOrder, StaleSessionError
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.sessions.page_rows import KeptPage

ORDER = SessionOrder("https://shop.example/", "shop.example")


def settings_in(folder: Path, redis_url: str = "") -> Settings:
    """Everything in a folder of the test's own, and no wait between sessions."""
    given = {"VITRINE_HOME": str(folder), "DOMAIN_MIN_DELAY_MS": "0", "DATABASE_URL": ""}
    return load_settings({**given, "REDIS_URL": redis_url})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """With the gate of this machine."""
    return settings_in(tmp_path)


@pytest.fixture(params=["redis", "local"])
def any_gate(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """With each gate."""
    redis_url = request.getfixturevalue("redis_database") if request.param == "redis" else ""
    return settings_in(tmp_path, redis_url)


def in_loop(
    work: Callable[..., Awaitable[Any]],
    *settings: Settings,
    hooks: Sequence[Any] = (),
    completed: bool = False,
) -> Any:
    """Do something with as many visits as there are settings; each are a process's as far as rows say."""

    async def main() -> Any:
        all_visits = [Visits(each, hooks) for each in settings]
        try:
            return await work(*all_visits)
        finally:
            for visits in all_visits:
                await visits.close(completed=completed)

    # pytest-twisted's loop runs in this thread
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


def load(settings: Settings, session_id: UUID) -> CrawlSession:
    """The session as it stands, seen by another process."""

    async def look(visits: Visits) -> CrawlSession:
        with (await visits.open()).database.read() as db:
            return db.get_one(CrawlSession, session_id)

    session: CrawlSession = in_loop(look, settings)
    return session


async def queued(visits: Visits, order: SessionOrder = ORDER) -> UUID:
    """A session that waits for its start."""
    [session_id] = (await visits.open()).sessions.queue([order], {})
    return session_id


async def begun(visits: Visits, order: SessionOrder = ORDER) -> Any:
    """A running session's visit."""
    session_id = await queued(visits, order)
    async with visits.slots:
        visit = await visits.begin(session_id, order)
    assert visit is not None
    return visit


def test_closing_ends_what_is_open_as_interrupted(settings: Settings) -> None:
    """The session is stored, its domain is free, and its log is exported."""
    session_id = in_loop(begun, settings).fence.session_id
    row = load(settings, session_id)
    assert (row.status, row.cause) == ("failed", Cause.INTERRUPTED)
    assert in_loop(begun, settings).fence.session_id != session_id


def test_a_batchs_session_waits_for_the_next_start(settings: Settings) -> None:
    """It is queued again, nobody's, with its log so far and no export."""

    async def begin_in_batch(visits: Visits) -> UUID:
        batch = open_batch((await visits.open()).sessions, "/shops.txt")
        visit = await begun(visits, SessionOrder("https://shop.example/", "shop.example", batch_id=batch.id))
        found: UUID = visit.fence.session_id
        return found

    session_id = in_loop(begin_in_batch, settings)
    row = load(settings, session_id)
    assert (row.status, row.owner, row.finished_at) == ("queued", None, None)
    assert not list(settings.artifacts.rglob("*.jsonl"))


def test_a_lock_lost_while_the_session_was_being_started_stops_it(settings: Settings) -> None:
    """A loss is told once; it must not fall between two chairs."""

    async def lose_early(visits: Visits) -> Any:
        session_id = await queued(visits)
        visits.domains._tell_loss(Held("shop.example", str(session_id), "token"), Cause.LOCK_LOST)
        async with visits.slots:
            return await visits.begin(session_id, ORDER)

    visit = in_loop(lose_early, settings)
    assert load(settings, visit.fence.session_id).cause == Cause.LOCK_LOST


def test_a_session_that_was_taken_over_stops_at_the_next_sign_of_life(settings: Settings) -> None:
    """It fetches no more, although its lock may be ours still."""

    async def lose_to_another(visits: Visits) -> Any:
        visit = await begun(visits)
        with visits.stores.database.write() as db:
            db.get_one(CrawlSession, visit.fence.session_id).epoch += 1
        woken = asyncio.Event()
        visit.wake = woken.set
        await asyncio.wait_for(woken.wait(), PATIENCE_SECONDS)
        return visit

    visit = in_loop(lose_to_another, settings.model_copy(update={"domain_lock_ttl_seconds": 1}))
    assert visit.stopped.cause == Cause.LOCK_LOST


@pytest.mark.parametrize("how", ["closed", "interrupted", "woken"])
def test_a_session_that_is_anothers_ends_here_without_a_traceback(
    settings: Settings, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    """Whoever woke up too late has a line about it, lets go of what it has, and changes nothing."""

    async def wake_up_late(visits: Visits) -> Any:
        visit: Any = await visits.begin_if_free(ORDER)
        with visits.stores.database.write() as db:
            db.get_one(CrawlSession, visit.fence.session_id).epoch += 1
        if how == "woken":
            await end_own(visits, visit)
        return visit

    visit = in_loop(wake_up_late, settings, completed=how == "closed")
    assert load(settings, visit.fence.session_id).status == "running"
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    assert "session.taken_over" in {record.getMessage() for record in caplog.records}


def test_what_waits_is_kept_alive(settings: Settings) -> None:
    """Other processes see that it is not forgotten, without any session that runs."""

    async def wait(visits: Visits) -> Any:
        session_id = await queued(visits)
        said: set[datetime | None] = set()
        async with asyncio.timeout(120):
            while len(said) < 3:
                with visits.stores.database.read() as db:
                    said.add(db.get_one(CrawlSession, session_id).alive_until)
                await asyncio.sleep(0.05)

    in_loop(wait, settings.model_copy(update={"domain_lock_ttl_seconds": 1}))


def test_a_lock_that_could_not_be_had_is_a_row_of_its_own_type(settings: Settings) -> None:
    """With the domain, the attempts and the reason (SPEC A27)."""

    async def begin_in_vain(visits: Visits) -> Any:
        session_id = await queued(visits)
        stores = await visits.open()
        stores.gate.acquire("shop.example", "somebody else", "another system")
        async with visits.slots:
            assert await visits.begin(session_id, ORDER) is None
        with stores.database.read() as db:
            return db.scalars(select(CrawlLog).where(CrawlLog.event_type == "timeout")).one()

    row = in_loop(begin_in_vain, settings.model_copy(update={"domain_lock_max_retries": 1}))
    assert (row.level, row.message) == ("error", "lock.acquire.timeout")
    assert {"domain": "shop.example", "attempts": 1, "reason": "locked"}.items() <= row.details.items()


def test_a_session_that_was_taken_over_is_closed_to_its_former_owner(settings: Settings) -> None:
    """Neither a page nor an end nor a line of the log is written any more, and no file is left."""

    async def lose_to_another(visits: Visits) -> Any:
        visit = await begun(visits)
        stores = await visits.open()
        with stores.database.write() as db:
            db.get_one(CrawlSession, visit.fence.session_id).epoch += 1
        capture = PageCapture(visit.id, "homepage", "https://shop.example/", body=b"<h1>", features=b"{}")
        with pytest.raises(StaleSessionError):
            await visits.keep(capture)
        with pytest.raises(StaleSessionError):
            await visits.end(visit)
        return visit

    visit = in_loop(lose_to_another, settings)
    assert load(settings, visit.fence.session_id).status == "running"
    assert not [path for path in settings.artifacts.rglob("*") if path.is_file() and path.name != MARK]


def test_stores_that_cannot_be_opened_say_why_once(settings: Settings) -> None:
    """Closing them is no second failure."""

    async def open_stores(visits: Visits) -> None:
        await visits.open()

    in_loop(open_stores, settings)
    with closing(sqlite3.connect(settings.vitrine_home / "vitrine.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(RevisionError):
        in_loop(open_stores, settings)


@pytest.mark.parametrize(("failures", "status"), [(2, "completed"), (3, "running")])
def test_the_end_of_a_session_is_written_although_the_store_was_away(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, failures: int, status: str
) -> None:
    """It is tried again after each wait; the last failure is raised, and the domain is free all the same."""
    monkeypatch.setattr(module, "END_WAITS", (0.0, 0.0))
    left = [OSError("away")] * failures

    async def work(visits: Visits) -> Any:
        visit: Any = await visits.begin_if_free(await order_of_run(visits))
        post = visits.stores.writes.post

        async def moody(write: Any) -> Any:
            if left:
                raise left.pop()
            return await post(write)

        with monkeypatch.context() as patch:
            patch.setattr(visits.stores.writes, "post", moody)
            with suppress(OSError) if status == "running" else nullcontext():
                await visits.end(visit)
        assert await visits.begin_if_free(ORDER) is not None
        return visit.fence.session_id

    assert load(settings, in_loop(work, settings)).status == status


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (DiskFullError("full"), Cause.DISK_FULL),
        (OSError("gone"), Cause.STORE_FAILED),
        (StaleSessionError("taken over"), None),
    ],
)
def test_a_page_that_cannot_be_stored_ends_its_session(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, error: Exception, cause: Cause | None
) -> None:
    """Unless another process has the session by now: then it is not ours to end."""

    async def refuse(_: Any) -> None:
        await asyncio.sleep(0)
        raise error

    async def keep_one(visits: Visits) -> Cause | None:
        visit = await begun(visits)
        capture = PageCapture(visit.id, "page", ORDER.url)
        with monkeypatch.context() as patch:
            patch.setattr(visits.stores.writes, "post", refuse)
            with pytest.raises(type(error)):
                await visits.keep(capture)
        return visit.stopped.cause if visit.stopped else None

    assert in_loop(keep_one, settings) == cause


async def order_of_run(visits: Visits) -> SessionOrder:
    """What a run asks for."""
    with (await visits.open()).database.write() as db:
        run = Run(source="shop.example", plan={}, created_at=utc_now())
        db.add(run)
        db.flush()
        return evolve(ORDER, run_id=run.id)


async def count(visits: Visits, table: type[Any]) -> int:
    """How many rows a table has."""
    with (await visits.open()).database.read() as db:
        return db.scalar(select(func.count()).select_from(table)) or 0


def test_a_free_domain_is_visited_at_once(any_gate: Settings) -> None:
    """The session is written as running, known to the process, and told of as queued and as started."""

    async def work(visits: Visits) -> None:
        heard: list[str] = []
        visits.listeners.append(lambda event, **_: heard.append(event))
        order = await order_of_run(visits)
        visit = await visits.begin_if_free(order)
        assert visit is not None
        assert visits.running == visits.known == {visit.id: visit}
        assert heard == ["queued", "started"]
        with (await visits.open()).database.read() as db:
            row = db.get_one(CrawlSession, visit.fence.session_id)
        assert (row.status, row.kind, row.run_id, row.epoch) == ("running", "run", order.run_id, 1)
        assert row.config_snapshot["DOMAIN_MIN_DELAY_MS"] == "0"
        outcome = await visits.end(visit)
        assert outcome.status == Status.COMPLETED  # nobody had asked for a product page
        assert await visits.begin_if_free(order) is not None

    in_loop(work, any_gate)


def test_a_busy_domain_costs_nothing(any_gate: Settings) -> None:
    """Whoever has it, here or in another process: no row, no line of a log, nothing told."""

    async def work(one: Visits, two: Visits) -> None:
        visit = await one.begin_if_free(ORDER)
        rows, lines = await count(one, CrawlSession), await count(one, CrawlLog)
        heard: list[str] = []
        for visits in (one, two):
            visits.listeners.append(lambda event, **_: heard.append(event))
            assert await visits.begin_if_free(ORDER) is None
        assert (await count(one, CrawlSession), await count(one, CrawlLog)) == (rows, lines)
        assert heard == []
        assert two.running == {}
        assert visit is not None
        await one.end(visit)
        assert await two.begin_if_free(ORDER) is not None

    in_loop(work, any_gate, any_gate)


def test_of_many_that_ask_at_once_one_is_let_in(any_gate: Settings) -> None:
    """With locks and without them."""

    async def work(visits: Visits) -> None:
        before = await count(visits, CrawlSession)
        begun = await asyncio.gather(*(visits.begin_if_free(ORDER) for _ in range(5)))
        assert len([visit for visit in begun if visit]) == 1
        assert await count(visits, CrawlSession) == before + 1

    in_loop(work, any_gate)
    in_loop(work, any_gate.model_copy(update={"disable_locks": True}))


def test_the_delay_is_waited_out(any_gate: Settings) -> None:
    """Under the lock, before anything is written."""

    async def work(visits: Visits) -> None:
        first = await visits.begin_if_free(ORDER)
        assert first is not None
        await visits.end(first)
        second = await visits.begin_if_free(ORDER)
        assert second is not None
        with (await visits.open()).database.read() as db:
            rows = [db.get_one(CrawlSession, visit.fence.session_id) for visit in (first, second)]
        assert rows[0].finished_at is not None
        assert started(rows[1]) - rows[0].finished_at >= timedelta(milliseconds=400)

    in_loop(work, any_gate.model_copy(update={"domain_min_delay_ms": 400}))


def test_whoever_gives_up_leaves_the_domain_free(any_gate: Settings) -> None:
    """Cancelled in the delay: nothing is written, and the next one is let in."""
    slow = any_gate.model_copy(update={"domain_min_delay_ms": 600_000})
    brisk = any_gate

    async def work(one: Visits, two: Visits) -> None:
        first = await two.begin_if_free(ORDER)
        assert first is not None
        await two.end(first)
        waiting = asyncio.ensure_future(one.begin_if_free(ORDER))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        assert (one.running, await count(one, CrawlSession)) == ({}, 1)
        assert await two.begin_if_free(ORDER) is not None

    in_loop(work, slow, brisk)


def test_a_gate_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    """The caller decides; nothing is written."""
    away = load_settings(
        {"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": "redis://127.0.0.1:1/0"}
    )

    async def work(visits: Visits) -> None:
        with pytest.raises(GateUnavailableError):
            await visits.begin_if_free(ORDER)
        assert await count(visits, CrawlSession) == 0

    in_loop(work, away)


@frozen(eq=False)
class CaptureOfRun(PageCapture):
    """What a run's spider yields."""

    task_id: int = 0


class Witness(Hooks):
    """A hook that looks at what it is given."""

    def __init__(self) -> None:
        self.seen: list[tuple[PageCapture, list[str]]] = []

    def pages_kept(self, _db: Session, kept: Sequence[KeptPage]) -> None:
        """Remember the captures."""
        for each in kept:
            assert each.page.id == each.capture.page_id
            self.seen.append((each.capture, [file.uri for file in each.files]))


def started(row: CrawlSession) -> datetime:
    """When a session began."""
    assert row.started_at is not None
    return row.started_at
