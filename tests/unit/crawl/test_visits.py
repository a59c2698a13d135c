"""The visits: sessions begun and ended around the gate, and what happens in between."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from crawler.access.gate import Held
from crawler.access.keeper import Lost
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.config import load_settings
from crawler.crawl.visits import Visits
from crawler.db.models import CrawlSession
from crawler.errors import RevisionError
from crawler.sessions import rows
from crawler.sessions.batches import open_batch
from crawler.sessions.rows import SessionOrder, StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path
    from uuid import UUID

    from crawler.config import Settings

ORDER = SessionOrder("https://shop.example/", "shop.example")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Everything in a folder of the test's own, and no wait between sessions."""
    return load_settings({"VITRINE_HOME": str(tmp_path), "DOMAIN_MIN_DELAY_MS": "0", "DATABASE_URL": ""})


def at_a_desk(
    settings: Settings, work: Callable[[Visits], Awaitable[Any]], *, completed: bool = False
) -> Any:
    """Do something at a visits, and close it."""

    async def main() -> Any:
        visits = Visits(settings)
        try:
            return await work(visits)
        finally:
            await visits.close(completed=completed)

    # pytest-twisted's loop runs in this thread
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


def load(settings: Settings, session_id: UUID) -> CrawlSession:
    """The session as it stands, seen by another process."""

    async def look(visits: Visits) -> CrawlSession:
        with (await visits.open()).database.read() as db:
            return rows.get(db, session_id)

    session: CrawlSession = at_a_desk(settings, look)
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


def test_a_desk_that_was_never_used_touches_nothing(settings: Settings, tmp_path: Path) -> None:
    """Commands that fetch nothing make no database."""
    at_a_desk(settings, lambda _: asyncio.sleep(0))
    assert not list(tmp_path.iterdir())


def test_closing_ends_what_is_open_as_interrupted(settings: Settings) -> None:
    """The session is stored, its domain is free, and its log is exported."""
    session_id = at_a_desk(settings, begun).fence.session_id
    row = load(settings, session_id)
    assert (row.status, row.cause) == ("failed", Cause.INTERRUPTED)
    assert at_a_desk(settings, begun).fence.session_id != session_id


def test_a_batchs_session_waits_for_the_next_start(settings: Settings) -> None:
    """It is queued again, nobody's, with its log so far and no export."""

    async def begin_in_batch(visits: Visits) -> UUID:
        batch = open_batch((await visits.open()).sessions, "/shops.txt")
        visit = await begun(visits, SessionOrder("https://shop.example/", "shop.example", batch_id=batch.id))
        found: UUID = visit.fence.session_id
        return found

    session_id = at_a_desk(settings, begin_in_batch)
    row = load(settings, session_id)
    assert (row.status, row.owner, row.finished_at) == ("queued", None, None)
    assert not list(settings.artifacts.rglob("*.jsonl"))


def test_a_lock_lost_while_the_session_was_being_started_stops_it(settings: Settings) -> None:
    """The keeper tells of a loss once; it must not fall between two chairs."""

    async def lose_early(visits: Visits) -> Any:
        session_id = await queued(visits)
        visits.domains._tell_loss(Held("shop.example", str(session_id), "token"), Lost.LOCK)
        async with visits.slots:
            return await visits.begin(session_id, ORDER)

    visit = at_a_desk(settings, lose_early)
    assert load(settings, visit.fence.session_id).cause == Cause.LOCK_LOST


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

    visit = at_a_desk(settings, lose_to_another)
    assert load(settings, visit.fence.session_id).status == "running"
    assert not [path for path in settings.artifacts.rglob("*") if path.is_file()]


def test_a_desk_that_cannot_open_says_why_once(settings: Settings) -> None:
    """Closing it is no second failure."""

    async def open_newer(visits: Visits) -> None:
        await visits.open()

    at_a_desk(settings, open_newer)
    with sqlite3.connect(settings.vitrine_home / "vitrine.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    with pytest.raises(RevisionError):
        at_a_desk(settings, open_newer)
