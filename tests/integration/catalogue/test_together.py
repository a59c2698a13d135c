"""Several at once: crawls that see one product, cleaners of one collection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from sqlalchemy import insert

from crawler.clock import utc_now
from crawler.db.models import AuditEntry, Diagnostic, DomainDay, Listing, Page, Price
from crawler.retention.sweep import sweep
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder
from crawler.sessions.visit_writes import StartWrite
from tests.integration.catalogue.visits import CHAIR, DAY, new_visits, page

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


# Of one site, in this order: known products and new ones, some of them more than once.
PAGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("/p/chair", {"price": "18.90"}, {}),
    ("/p/table", {"name": "A table", "sku": "T"}, {}),
    ("/p/chair?v=2", {"name": "A red chair", "sku": "R"}, {"declared": "/p/chair"}),
    ("/p/lamp", {"name": "A lamp", "price": None}, {}),
    ("/p/table", {"name": "A table", "sku": "T", "price": "20"}, {}),
    ("/p/jug", {"currency": "USD"}, {}),
    ("/about", {}, {"is_pdp": False}),
    ("/p/chair", {"brand": None}, {}),
    ("/p/table?v=2", {"name": "A small table", "sku": "S"}, {"declared": "/p/table"}),
]


@pytest.mark.parametrize("size", [len(PAGES), 4])
def test_pages_that_are_written_together_leave_what_each_would(visits: Visits, size: int) -> None:
    """The same listings, prices, traces and references; whichever came first speaks for a product."""
    for domain in ("one.example", "two.example"):
        for path in ("/p/chair", "/p/jug"):
            visits.visit(url=f"https://{domain}{path}")
    _kept(visits, "one.example", 1)
    _kept(visits, "two.example", size)
    alone, together = (_known_of(visits, domain) for domain in ("one.example", "two.example"))
    assert together == alone
    assert len(alone["listings"]) == 4
    assert len(alone["prices"]) > 5


def _kept(visits: Visits, domain: str, size: int) -> None:
    """Pages of one session, in groups of a size."""
    writes = visits.store.writes
    order = SessionOrder(f"https://{domain}/", domain)
    [key] = visits.store.queue([order], {})
    visit = writes.post_now(StartWrite(visits.store, order, Journal(str(key), domain)))
    group = []
    for path, facts, said in PAGES:
        told = {"is_pdp": True, "declared": None, "cause": None, **said}
        told["declared"] = told["declared"] and f"https://{domain}{told['declared']}"
        capture = page(str(key), f"https://{domain}{path}", {**CHAIR, **facts}, **told)
        group.append(writes.page(visit, evolve(capture, page_type="page")))
    for start in range(0, len(group), size):
        writes.commit(group[start : start + size])
    assert [write.error for write in group] == [None] * len(PAGES)


def _known_of(visits: Visits, domain: str) -> dict[str, list[Any]]:
    """What is known of a site, without ids and times, and without its name."""
    listings = {row.id: row for row in visits.rows(Listing) if row.domain == domain}
    told: dict[str, list[tuple[Any, ...]]] = {
        "listings": [
            (row.url, str(row.name), str(row.brand), row.sku)
            for row in sorted(listings.values(), key=lambda row: row.url)
        ],
        "prices": sorted(
            (listings[row.listing_id].url, row.url, row.currency, row.price)
            for row in visits.rows(Price)
            if row.listing_id in listings
        ),
        "pages": sorted(
            (row.url, row.page_type, listings[row.listing_id].url if row.listing_id else "")
            for row in visits.rows(Page)
            if domain in row.url
        ),
        "traces": sorted((row.url, row.quality) for row in visits.rows(Diagnostic) if domain in row.url),
    }
    return {
        name: [tuple(str(each).replace(domain, "") for each in row) for row in rows]
        for name, rows in told.items()
    }
