"""Runs go when nothing of theirs is left, and a record of them stays for a while."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from crawler.config import load_settings
from crawler.db.models import CrawlSession, Run, Task
from crawler.retention.sweep import COLLECTIONS
from crawler.runs.sources import Source
from crawler.runs.store import RunOrder, RunStore
from crawler.runs.task_ends import TaskEnd, TaskOutcome

if TYPE_CHECKING:
    from crawler.db.engine import Database


def ended_run(database: Database) -> int:
    """A run that was completed."""
    store = RunStore(database, load_settings(), "me")
    run_id = store.open(RunOrder(Source.of_url("https://shop.example/"))).id
    [task], _ = store.lease("shop.example", 10)
    assert store.end_task(task, TaskEnd(outcome=TaskOutcome.REDIRECTED))
    assert store.end() == "completed"
    return run_id


@pytest.mark.parametrize("is_visited", [False, True])
def test_a_run_goes_with_its_tasks_when_no_visit_names_it(database: Database, *, is_visited: bool) -> None:
    """It stays as long as a session of its does."""
    run_id = ended_run(database)
    retained = next(each for each in COLLECTIONS["scrape_metadata"] if each.table is Run)
    with database.write() as db:
        now = db.now
        if is_visited:
            db.add(
                CrawlSession(
                    kind="run", run_id=run_id, url="https://shop.example/", domain="shop.example",
                    mode="standard", retention_policy="standard", status="completed",
                    crawl_policy_version="v1.2", config_snapshot={}, created_at=now,
                )
            )  # fmt: skip
            db.flush()
        cutoff = now + timedelta(days=1)
        keys = [key for _, key in db.execute(retained.oldest(cutoff, None, 100))]
        assert retained.remove(db, keys) == (0 if is_visited else 1)
        assert db.scalar(select(func.count()).select_from(Task)) == (1 if is_visited else 0)
