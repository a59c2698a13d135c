"""Visits of a durable run: begun where the domain is free, on both gates; where not, nothing is left."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve, frozen
from sqlalchemy import func, select

from crawler.access.gate import GateUnavailableError
from crawler.capture.items import PageCapture
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.crawl.visits import Visits
from crawler.db.models import Artifact, CrawlLog, CrawlSession, Page, Run
from crawler.sessions.outcome import Status
from crawler.sessions.rows import SessionOrder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.evidence.files import KeptFile

ORDER = SessionOrder("https://shop.example/", "shop.example")


@pytest.fixture(params=["redis", "local"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """A folder of the test's own, and a gate."""
    redis_url = request.getfixturevalue("redis_database") if request.param == "redis" else ""
    return load_settings(
        {
            "VITRINE_HOME": str(tmp_path),
            "DOMAIN_MIN_DELAY_MS": "0",
            "DATABASE_URL": "",
            "REDIS_URL": redis_url,
        }
    )


def at_desks(work: Callable[..., Awaitable[Any]], *settings: Settings, clerks: Sequence[Any] = ()) -> Any:
    """Do something at as many desks as there are settings; each of them is a process's as far as rows say."""

    async def main() -> Any:
        desks = [Visits(each, clerks) for each in settings]
        try:
            return await work(*desks)
        finally:
            for desk in desks:
                await desk.close(completed=False)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


async def order_of_run(desk: Visits) -> SessionOrder:
    """What a run asks for."""
    with (await desk.open()).database.write() as db:
        run = Run(source="shop.example", plan={}, created_at=utc_now())
        db.add(run)
        db.flush()
        return evolve(ORDER, run_id=run.id)


async def count(desk: Visits, table: type[Any]) -> int:
    """How many rows a table has."""
    with (await desk.open()).database.read() as db:
        return db.scalar(select(func.count()).select_from(table)) or 0


def test_a_free_domain_is_visited_at_once(settings: Settings) -> None:
    """The session is written as running, known to the desk, and told of as queued and as started."""

    async def work(desk: Visits) -> None:
        heard: list[str] = []
        desk.listeners.append(lambda event, **_: heard.append(event))
        order = await order_of_run(desk)
        visit = await desk.begin_if_free(order)
        assert visit is not None
        assert desk.visits == desk.known == {visit.id: visit}
        assert heard == ["queued", "started"]
        with (await desk.open()).database.read() as db:
            row = db.get_one(CrawlSession, visit.fence.session_id)
        assert (row.status, row.kind, row.run_id, row.epoch) == ("running", "run", order.run_id, 1)
        assert row.config_snapshot["DOMAIN_MIN_DELAY_MS"] == "0"
        outcome = await desk.end(visit)
        assert outcome.status == Status.COMPLETED  # nobody had asked for a product page
        assert await desk.begin_if_free(order) is not None

    at_desks(work, settings)


def test_a_busy_domain_costs_nothing(settings: Settings) -> None:
    """Whoever has it, here or in another process: no row, no line of a log, nothing told."""

    async def work(one: Visits, two: Visits) -> None:
        visit = await one.begin_if_free(ORDER)
        rows, lines = await count(one, CrawlSession), await count(one, CrawlLog)
        heard: list[str] = []
        for desk in (one, two):
            desk.listeners.append(lambda event, **_: heard.append(event))
            assert await desk.begin_if_free(ORDER) is None
        assert (await count(one, CrawlSession), await count(one, CrawlLog)) == (rows, lines)
        assert heard == []
        assert two.visits == {}
        assert visit is not None
        await one.end(visit)
        assert await two.begin_if_free(ORDER) is not None

    at_desks(work, settings, settings)


def test_of_many_that_ask_at_once_one_is_let_in(settings: Settings) -> None:
    """With locks and without them."""

    async def work(desk: Visits) -> None:
        before = await count(desk, CrawlSession)
        visits = await asyncio.gather(*(desk.begin_if_free(ORDER) for _ in range(5)))
        assert len([visit for visit in visits if visit]) == 1
        assert await count(desk, CrawlSession) == before + 1

    at_desks(work, settings)
    at_desks(work, settings.model_copy(update={"disable_locks": True}))


def test_the_delay_is_waited_out(settings: Settings) -> None:
    """Under the lock, before anything is written."""

    async def work(desk: Visits) -> None:
        first = await desk.begin_if_free(ORDER)
        assert first is not None
        await desk.end(first)
        begun = time.monotonic()
        second = await desk.begin_if_free(ORDER)
        assert second is not None
        assert time.monotonic() - begun > 0.3
        with (await desk.open()).database.read() as db:
            rows = [db.get_one(CrawlSession, visit.fence.session_id) for visit in (first, second)]
        assert started(rows[1]) > started(rows[0])

    at_desks(work, settings.model_copy(update={"domain_min_delay_ms": 400}))


def test_whoever_gives_up_leaves_the_domain_free(settings: Settings) -> None:
    """Cancelled in the delay: nothing is written, and the next one is let in."""
    slow = settings.model_copy(update={"domain_min_delay_ms": 600_000})
    brisk = settings

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
        assert (one.visits, await count(one, CrawlSession)) == ({}, 1)
        assert await two.begin_if_free(ORDER) is not None

    at_desks(work, slow, brisk)


def test_a_gate_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    """The caller decides; nothing is written."""
    away = load_settings(
        {"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": "redis://127.0.0.1:1/0"}
    )

    async def work(desk: Visits) -> None:
        with pytest.raises(GateUnavailableError):
            await desk.begin_if_free(ORDER)
        assert await count(desk, CrawlSession) == 0

    at_desks(work, away)


@frozen(eq=False)
class CaptureOfRun(PageCapture):
    """What a run's spider yields."""

    task_id: int = 0


class Witness:
    """A clerk that looks at what it is given."""

    def __init__(self) -> None:
        self.seen: list[tuple[PageCapture, list[str]]] = []

    def page_kept(self, _db: Session, capture: PageCapture, page: Page, files: Sequence[KeptFile]) -> None:
        """Remember the capture."""
        assert page.id == capture.page_id
        self.seen.append((capture, [file.uri for file in files]))

    def sessions_ended(self, _db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Nothing."""


def test_the_pages_of_a_run_lie_apart_whatever_their_type(settings: Settings) -> None:
    """Two pages of one type do not want one name, and the clerk gets the very capture (SPEC F144)."""
    witness = Witness()

    async def work(desk: Visits) -> None:
        visit = await desk.begin_if_free(await order_of_run(desk))
        assert visit is not None
        captures = [
            CaptureOfRun(visit.id, "pdp", f"https://shop.example/{n}", body=b"<h1>", task_id=n)
            for n in range(2)
        ]
        for capture in captures:
            await desk.keep(capture)
        expected = [
            (capture, [f"shop.example__{visit.id}/pages/{capture.page_id}/html.gz"]) for capture in captures
        ]
        assert witness.seen == expected
        assert await count(desk, Artifact) == 2

    at_desks(work, settings, clerks=[witness])


def started(row: CrawlSession) -> datetime:
    """When a session began."""
    assert row.started_at is not None
    return row.started_at
