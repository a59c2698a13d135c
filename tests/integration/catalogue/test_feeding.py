"""What a crawl leaves in the catalogue, in the transaction of its page or of its session's end."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from crawler.capture.failures import Cause
from crawler.catalogue.hooks import CatalogueHooks
from crawler.clock import utc_now
from crawler.db.models import Artifact, Diagnostic, DomainDay, Listing, Page, Price, ScrapeRecord
from crawler.pdp import Signals
from tests.integration.catalogue.visits import CHAIR, DAY, PRODUCT, Visits

BLOCKED = Cause.BLOCKED


def test_a_product_page_becomes_a_listing_and_a_price(visits: Visits) -> None:
    """The price copies what proves it."""
    session = visits.visit()
    [listing] = visits.rows(Listing)
    assert (listing.domain, listing.url, listing.name) == ("shop.example", PRODUCT, "A chair")
    assert (listing.brand, listing.last_session_id) == ("Oak", session)
    [price] = visits.rows(Price)
    assert (price.price, price.currency, price.availability) == (Decimal("19.90"), "EUR", "InStock")
    html = next(row for row in visits.rows(Artifact) if row.type == "html_gz")
    assert (price.url, price.session_id) == (PRODUCT, session)
    assert price.content_sha256 == html.content_sha256
    [page] = visits.rows(Page)
    assert (page.listing_id, price.listing_id) == (listing.id, listing.id)


def test_a_page_that_is_no_product_leaves_its_trace_only(visits: Visits) -> None:
    """How it was judged is known, but there is no product."""
    visits.visit(is_pdp=False)
    assert (visits.count(Listing), visits.count(Price)) == (0, 0)
    [trace] = visits.rows(Diagnostic)
    assert (trace.is_pdp, trace.policy, trace.quality) == (False, "v1.2", 70)
    assert trace.traces["signals"] == Signals(has_price=True).as_dict()


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({}, 1),
        ({"price": "19.9000"}, 1),
        ({"price": "18.90"}, 2),
        ({"list_price": "25"}, 2),
        ({"availability": "SoldOut"}, 2),
        ({"currency": "USD"}, 2),
        ({"name": "Another name"}, 1),
        ({"price": None}, 1),
        ({"currency": None}, 1),
    ],
)
def test_a_price_row_says_something_new(visits: Visits, change: dict[str, Any], rows: int) -> None:
    """Price, list price or availability changed, or it is another currency; a repetition adds nothing."""
    visits.visit()
    visits.visit({**CHAIR, **change})
    assert (visits.count(Listing), visits.count(Price)) == (1, rows)


def test_a_price_is_confirmed_after_a_day(visits: Visits) -> None:
    """So that a flat line is known to be flat."""
    visits.visit()
    visits.change(Price, seen_at=utc_now() - DAY + timedelta(minutes=5))
    visits.visit()
    assert visits.count(Price) == 1
    visits.change(Price, seen_at=utc_now() - DAY)
    visits.visit()
    assert visits.count(Price) == 2


def test_a_fact_that_is_missing_once_keeps_its_last_value(visits: Visits) -> None:
    """The newest statement counts, silence does not."""
    visits.visit({**CHAIR, "sku": "C-1"})
    visits.visit({**CHAIR, "name": "A red chair", "brand": None})
    [listing] = visits.rows(Listing)
    assert (listing.name, listing.brand, listing.sku) == ("A red chair", "Oak", "C-1")


@pytest.mark.parametrize(
    "facts",
    [
        {"name": "x" * 10_240},
        {"name": "a\x00b", "brand": "\ud800", "sku": "\x00"},
        {"image": "data:image/png;base64," + "A" * 10_240},
        {"disagreements": {"name": {"dom": "\x00"}}},
    ],
)
def test_hostile_texts_are_kept_in_bounds(visits: Visits, facts: dict[str, Any]) -> None:
    """Nothing that a page says keeps the page from being stored."""
    visits.visit({**CHAIR, **facts})
    [listing] = visits.rows(Listing)
    assert listing.name is None or len(listing.name) <= 500
    assert "\x00" not in f"{listing.name}{listing.brand}{listing.sku}"
    assert listing.image is None
    assert visits.count(Price) == 1


def test_page_and_price_stand_or_fall_together(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue that cannot be written leaves no page, no artifact and no file."""

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(CatalogueHooks, "pages_kept", fail)
    with pytest.raises(RuntimeError, match="no"):
        visits.visit()
    assert (visits.count(Page), visits.count(Artifact), visits.count(Listing)) == (0, 0, 0)
    assert list(visits.blobs.entries()) == []


def test_an_ended_session_is_on_record(visits: Visits) -> None:
    """What came of it stays known when its row is gone."""
    key = visits.visit()
    [record] = visits.rows(ScrapeRecord)
    assert (record.kind, record.subject_id, record.status) == ("session", str(key), "completed")
    assert record.duration_ms is not None
    assert record.details["pages_ok"] == 1
    assert record.details["artifacts"] == 3
    assert record.details["pdp_url"] == PRODUCT


def test_a_domain_has_its_day(visits: Visits) -> None:
    """Sessions, successes, blocks, how often a product was found, and the median latency."""
    visits.visit()
    visits.visit(is_pdp=False)
    visits.visit(cause=BLOCKED)
    visits.visit(url="https://other.example/p/1")
    day, other = sorted(visits.rows(DomainDay), key=lambda row: row.domain, reverse=True)
    assert (day.sessions, day.successes, day.blocks) == (3, 1, 1)
    assert (day.reached, day.products, day.verdict_rate) == (2, 1, 0.5)
    assert abs(day.median_latency_ms - 120) <= 3
    assert (other.sessions, other.verdict_rate) == (1, 1.0)
    assert day.timestamp.time().isoformat() == "00:00:00"
