"""A pass makes way for crawls that live, of whichever kind, and not for those that have died."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.archive.crawled import is_crawled
from crawler.clock import utc_now
from crawler.db.models import Run, RunWorker
from tests.unit.views.rows import a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database


@pytest.mark.parametrize(("seconds", "crawled"), [(60, True), (-60, False)])
@pytest.mark.parametrize("what", ["a visit", "a run"])
def test_who_lives_is_seen(database: Database, what: str, seconds: int, *, crawled: bool) -> None:
    """Until the time by which it would have shown a sign of life."""
    assert not is_crawled(database)
    until = utc_now() + timedelta(seconds=seconds)
    with database.write() as db:
        if what == "a visit":
            db.add(a_session(status="running", owner="worker", alive_until=until))
        else:
            run = Run(source="shop.example", plan={}, created_at=utc_now())
            db.add(run)
            db.flush()
            db.add(RunWorker(run_id=run.id, owner="worker", alive_until=until))
    assert is_crawled(database) is crawled


def test_a_visit_that_is_over_is_none(database: Database) -> None:
    """Its last sign of life may be a moment ago."""
    with database.write() as db:
        db.add(a_session(status="completed", alive_until=utc_now() + timedelta(minutes=1)))
    assert not is_crawled(database)
