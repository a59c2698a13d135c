"""Several at once: crawls that see one product, cleaners of one collection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from sqlalchemy import insert

from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db.models import AuditEntry, DomainDay, Listing, Price, RetentionConfig
from crawler.retention.cleanup import maybe_clean_up
from crawler.retention.sweep import sweep
from tests.integration.catalogue.visits import DAY, new_visits

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database
    from tests.integration.catalogue.visits import Visits

AT_ONCE = 4


def test_one_product_seen_at_once_is_one_listing(visits: Visits) -> None:
    """With one price, and with every session in the domain's day."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sessions = list(pool.map(lambda _: visits.visit(), range(12)))
    assert len(set(sessions)) == 12
    assert (visits.count(Listing), visits.count(Price)) == (1, 1)
    [day] = visits.rows(DomainDay)
    assert (day.sessions, day.successes, sum(day.latencies.values())) == (12, 12, 12)


def test_cleaners_share_a_backlog(database: Database, tmp_path: Path) -> None:
    """No row is counted twice, and none is left."""
    visits = new_visits(database, tmp_path)
    row = {
        "timestamp": utc_now() - 100 * DAY, "actor": "me", "action": "test", "subject": "-", "details": {},
    }  # fmt: skip
    with database.write() as db:
        db.execute(insert(AuditEntry), [row] * 350)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda _: sweep(database), range(AT_ONCE)))
    assert sum(each.deleted_docs for result in results for each in result) == 350
    assert [each.error for result in results for each in result if each.error] == []
    assert visits.count(AuditEntry) == 0


def test_one_of_many_requests_starts_the_cleanup(visits: Visits) -> None:
    """Whichever claims the hour; the others go on with their work."""
    ran: list[int] = []
    settings = load_settings({"retention_cleanup_enabled": True})

    def answer(number: int) -> None:
        maybe_clean_up(settings, visits.database, lambda: ran.append(number), lambda: 0.0)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(answer, range(8)))
    assert len(ran) == 1
    assert visits.count(RetentionConfig) == 1
