"""A page of a run and the end of its task are one thing, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from crawler.capture.failures import Cause
from crawler.catalogue.plugins import PluginFailure
from crawler.catalogue.run_pages import RunHooks, RunPage, StaleLeaseError, run_completed
from crawler.db.models import Asset, AssetSighting, CrawlException, Page, Run, ScrapeRecord
from crawler.runs import tasks
from crawler.runs.sources import Source
from crawler.runs.tasks import task_of
from crawler.sessions.page_rows import KeptPage
from tests.unit.runs.queues import DOMAIN, NOON, SECOND, Queue, a_run, page, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.engine import Database
    from crawler.runs.tasks import LeasedTask

PAGE = UUID(int=7)
SHOP = Source.of_url(f"https://{DOMAIN}/")


@pytest.fixture
def queue(database: Database) -> Queue:
    """A run of one page."""
    return Queue(database, a_run(database, page(1), max_pages=3))


def leased(queue: Queue) -> LeasedTask:
    """Its task, which somebody has taken."""
    with queue.database.write() as db:
        [task], _ = tasks.lease(db, queue.leases, queue.run_id, DOMAIN, owner="one", now=NOON, limit=1)
    return task


def keep(queue: Queue, task: LeasedTask, **what: Any) -> None:
    """Write along with a page that was kept."""
    capture = RunPage(
        session_id="", page_type="page", url=task.url, task=task, source="shop", page_id=PAGE, **what
    )
    with queue.database.write() as db:
        RunHooks().pages_kept(db, [KeptPage(Page(id=PAGE, created_at=NOON + SECOND), (), capture)])


def noted(database: Database) -> Sequence[CrawlException]:
    """What a person is shown."""
    with database.read() as db:
        return db.scalars(select(CrawlException).order_by(CrawlException.id)).all()


def test_a_page_ends_its_task_and_brings_new_ones(queue: Queue) -> None:
    """As many as the run has room for; what a plugin did wrong is noted, and costs nothing else."""
    failure = PluginFailure("headings", "no headings", {"level": 1})
    keep(queue, leased(queue), links=[page(n) for n in (1, 2, 3, 4)], plugin_failures=[failure])
    rows = rows_of(queue.database, queue.run_id)
    assert [(row.status, row.outcome, row.page_id) for row in rows] == [
        ("finished", "stored", PAGE), ("pending", None, None), ("pending", None, None),
    ]  # fmt: skip
    [row] = noted(queue.database)
    assert (row.stage, row.url, row.message) == ("plugin", rows[0].url, "no headings")
    assert row.context == {"plugin": "headings", "level": 1}


def test_a_task_goes_by_the_url_that_it_was_led_to(queue: Queue) -> None:
    """Who is led there later, or finds a link to it, finds it known; no room is taken for it."""
    target = f"https://{DOMAIN}/target"
    digest = task_of(target).url_sha256
    task = leased(queue)
    with queue.database.write() as db:
        assert (
            tasks.add(db, queue.run_id, [task_of(target)], NOON) == 1
        )  # somebody has found a link meanwhile
    capture = RunPage(session_id="", page_type="page", url=target, task=task, source="shop", page_id=PAGE)
    with queue.database.write() as db:
        RunHooks().pages_kept(db, [KeptPage(Page(id=PAGE, created_at=NOON + SECOND), (), capture)])
        assert tasks.known(db, queue.run_id, digest)
        assert tasks.add(db, queue.run_id, [task_of(target)], NOON) == 0
    [row] = rows_of(queue.database, queue.run_id)
    assert (row.url, row.url_sha256, row.status) == (task.url, digest, "finished")
    with queue.database.read() as db:
        assert db.get_one(Run, queue.run_id).planned == 1


def test_a_task_that_is_being_fetched_for_itself_stays(queue: Queue) -> None:
    """Its page comes twice, rather than not at all."""
    target = f"https://{DOMAIN}/target"
    task = leased(queue)
    with queue.database.write() as db:
        tasks.add(db, queue.run_id, [task_of(target)], NOON)
    other = leased(queue)
    capture = RunPage(session_id="", page_type="page", url=target, task=task, source="shop", page_id=PAGE)
    with queue.database.write() as db:
        RunHooks().pages_kept(db, [KeptPage(Page(id=PAGE, created_at=NOON + SECOND), (), capture)])
    first, second = rows_of(queue.database, queue.run_id)
    assert (first.status, first.url_sha256, second.status) == ("finished", task.url_sha256, "in_progress")
    assert second.id == other.lease.id


def test_a_page_that_failed_ends_its_task_for_good(queue: Queue) -> None:
    """Whatever tries it had left, for whoever yields such a page has given it up."""
    keep(queue, leased(queue), cause=Cause.HTTP_ERROR, error="HTTP 404", http_status=404)
    [row] = rows_of(queue.database, queue.run_id)
    assert (row.status, row.cause, row.last_error, row.page_id) == ("error", "http_error", "HTTP 404", None)
    [exception] = noted(queue.database)
    assert exception.context == {"cause": "http_error", "http_status": 404, "attempts": 1}


def test_a_page_whose_task_is_anothers_is_not_kept(queue: Queue) -> None:
    """What it raises takes back all that was written of it."""
    slow = leased(queue)
    queue.acquire(NOON + 40 * SECOND, owner="two")
    with pytest.raises(StaleLeaseError, match=f"{slow.url} is another process's by now"):
        keep(queue, slow, links=[page(2)])
    assert len(rows_of(queue.database, queue.run_id)) == 1
    with queue.database.read() as db:
        assert not db.scalars(select(ScrapeRecord)).all()


def test_pages_of_one_commit_end_their_tasks_together_or_not_at_all(database: Database) -> None:
    """Links that several have are added once; where one task is another's, nothing is written of any."""
    queue = Queue(database, a_run(database, page(1), page(2), page(3)))
    both = [leased(queue), leased(queue)]
    slow = leased(queue)

    def kept(task: LeasedTask, number: int) -> KeptPage:
        capture = RunPage(
            session_id="", page_type="page", url=task.url, task=task, source="shop",
            links=[page(9), page(10 + number)], page_id=UUID(int=number),
        )  # fmt: skip
        return KeptPage(Page(id=UUID(int=number), created_at=NOON + SECOND), (), capture)

    with queue.database.write() as db:
        RunHooks().pages_kept(db, [kept(task, number) for number, task in enumerate(both)])
    queue.acquire(NOON + 40 * SECOND, owner="two", limit=1)
    with pytest.raises(StaleLeaseError), queue.database.write() as db:
        RunHooks().pages_kept(db, [kept(slow, 5)])
    rows = rows_of(database, queue.run_id)
    assert [(row.status, row.page_id) for row in rows[:2]] == [("finished", UUID(int=n)) for n in (0, 1)]
    assert [row.url_sha256 for row in rows[3:]] == [page(n).url_sha256 for n in (9, 10, 11)]
    with database.read() as db:
        done = db.scalars(select(ScrapeRecord.status).where(ScrapeRecord.status == "finished")).all()
    assert len(done) == 2


CHAIR, TABLE = f"https://{DOMAIN}/chair", f"https://{DOMAIN}/table"


@pytest.mark.parametrize(
    ("chair", "table", "gone"),
    [
        ("stored", "timeout", [CHAIR]),  # its own page was had without it
        ("HTTP 404", "timeout", [CHAIR]),
        ("HTTP 410", "timeout", [CHAIR]),
        ("HTTP 500", "stored", [TABLE]),
        ("timeout", "timeout", []),  # a shop that was down
        ("robots_refused", "HTTP 404", [TABLE]),
        ("robots_refused", "stored", [TABLE]),
        (None, "timeout", []),  # nobody knows what the other page would have led to
        (None, "HTTP 404", [CHAIR, TABLE]),
        (None, "robots_refused", [CHAIR]),
        (None, None, [CHAIR, TABLE]),
    ],
)
def test_that_something_is_missing_takes_proof(
    database: Database, chair: str | None, table: str | None, gone: list[str]
) -> None:
    """Of a run that was as wide as the one before: its own page says so, or no page had any fault."""
    before = a_run(database)
    ends = {CHAIR: chair, TABLE: table}
    queue = Queue(database, a_run(database, *(task_of(url) for url, end in ends.items() if end)))
    for lease, end in zip(queue.acquire(), filter(None, ends.values()), strict=True):
        with database.write() as db:
            if end == "stored":
                queue.leases.finish(db, lease, NOON, outcome="stored")
            else:
                cause = Cause.HTTP_ERROR if end.startswith("HTTP") else Cause(end)
                queue.leases.fail(db, lease, end, NOON, cause=cause, final=True)
    with database.write() as db:
        for url in ends:
            asset = Asset(
                source="shop", domain=DOMAIN, plugin="page", kind="page", key=url, key_sha256=url,
                url=url, checksum="c", versions=1, first_seen_at=NOON, last_seen_at=NOON,
                last_run_id=before,
            )  # fmt: skip
            db.add(asset)
    with database.write() as db:
        source = Source("shop", "Shop", SHOP.start_urls, SHOP.allowed_domains, plugins=("page",))
        run_completed(db, queue.run_id, source, NOON + SECOND)
        assert sorted(row.url for row in db.scalars(select(CrawlException))) == gone
        missing = select(func.count()).where(AssetSighting.status == "missing")
        assert db.scalar(missing) == len(gone)


@pytest.mark.parametrize("is_full", [False, True])
def test_what_a_whole_run_did_not_see_is_missing(queue: Queue, *, is_full: bool) -> None:
    """And disappeared; a run that stopped at its limit has not looked everywhere."""
    database, before = queue.database, a_run(queue.database)
    now = a_run(database, page(1), max_pages=1 if is_full else None)
    asset = Asset(
        source="shop", domain=DOMAIN, plugin="page", kind="page", key="chair", key_sha256="k",
        url=f"https://{DOMAIN}/chair", checksum="c", versions=1, first_seen_at=NOON, last_seen_at=NOON,
        last_run_id=before,
    )  # fmt: skip
    with database.write() as db:
        db.add(asset)
        db.flush()
        db.add(AssetSighting(asset_id=asset.id, run_id=before, status="new"))
    with database.write() as db:
        source = Source("shop", "Shop", SHOP.start_urls, SHOP.allowed_domains, plugins=("page",))
        run_completed(db, now, source, NOON + SECOND)
    assert [row.stage for row in noted(database)] == ([] if is_full else ["disappeared"])
