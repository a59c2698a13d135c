"""A product has one history: whoever sees it, its listing, its prices and its assets say the same."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from attrs import asdict
from sqlalchemy import delete

from crawler.catalogue.assets import mark_missing
from crawler.catalogue.plugins import PluginRegistry, run_plugins
from crawler.catalogue.plugins.api import plugin_page
from crawler.catalogue.run_pages import RunPage
from crawler.clock import utc_now
from crawler.db.models import Asset, AssetSighting, AssetVersion, CrawlSession, Listing, Run
from crawler.leases.rows import Lease
from crawler.retention import purge
from crawler.retention.holds import Target
from crawler.retention.purge import PurgeOrder
from crawler.runs.tasks import LeasedTask
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder
from crawler.sessions.visit_writes import EndWrite, StartWrite
from crawler.views import assets, products
from crawler.views.paging import Wanted, listed
from tests.integration.catalogue.visits import CHAIR, PRODUCT, Visits, page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

RED, BLUE = f"{PRODUCT}?colour=red", f"{PRODUCT}?colour=blue"
SAID = ("name", "brand", "sku", "gtin", "mpn")
FIRST = datetime.min.replace(tzinfo=UTC)


def begin(visits: Visits, source: str) -> int:
    """A run of a source."""
    with visits.database.write() as db:
        run = Run(source=source, plan={}, created_at=utc_now())
        db.add(run)
        db.flush()
        return run.id


def run(visits: Visits, *pages: tuple[str, Mapping[str, Any], str | None], source: str = "shop") -> int:
    """A run that reads pages of one domain in one visit: URL, facts and what each declares."""
    run_id = begin(visits, source)
    [key] = visits.store.queue([order := SessionOrder(PRODUCT, "shop.example")], {})
    visit = visits.store.writes.post_now(StartWrite(visits.store, order, Journal(str(key), order.domain)))
    for place, (url, facts, declared) in enumerate(pages):
        fields = asdict(page(str(key), url, facts, is_pdp=True, declared=declared, cause=None), recurse=False)
        lease = Lease(1, "me", 1, 1)
        task = LeasedTask(lease, run_id, url, "", order.domain, 0, 0, "page")
        capture = RunPage(**{**fields, "viewport": f"viewport-{place}"}, task=task, source=source)
        found, _ = run_plugins(PluginRegistry().pick(["product"]), plugin_page(capture))
        kept = RunPage(**{**asdict(capture, recurse=False), "assets": found})
        visits.store.writes.post_now(visits.store.writes.page(visit, kept))
    visits.store.writes.post_now(EndWrite(visits.store, visit))
    return run_id


def purge_one(visits: Visits, session: UUID, *, with_prices: bool) -> None:
    """Take everything of a session out."""
    order = PurgeOrder(
        Target(session_id=session), with_prices=with_prices, who="me", before=utc_now(), reports=Path("none")
    )
    assert purge.purge(visits.database, visits.blobs, order)["state"] == "done"


def told(visits: Visits, since: datetime = FIRST) -> list[dict[str, Any]]:
    """What the newest version of each asset says; its listing and its prices must say it as well.

    Of products that nobody saw since something was purged, nothing but that they can be shown.
    """
    with visits.database.read() as db:
        listings = {listing.id: listing for listing in listed(db, products.LISTINGS, Wanted(limit=9))}
        found = []
        for asset in assets.newest(db):
            versions = assets.history(db, asset.id, 99).history
            if asset.last_seen_at < since:
                continue
            assert asset.listing_id is not None
            listing = listings[asset.listing_id]
            content = versions[-1].content
            assert (asset.key, asset.title) == (listing.url, listing.name)
            assert asset.versions == (len(versions) if since is FIRST else versions[-1].number)
            assert asset.last_seen_at == listing.last_seen_at
            assert {name: content[name] for name in SAID} == {name: getattr(listing, name) for name in SAID}
            price = products.history(db, str(listing.id), Wanted(limit=1)).prices
            assert [(each.price, each.seen_at) for each in price] == (
                [(listing.price, listing.price_seen_at)] if listing.price is not None else []
            )
            amounts = [str(price[0].price), price[0].currency] if price else [None, None]
            assert [content["price"], content["currency"]] == amounts
            assert content["availability"] == (price[0].availability if price else None)
            found.append(content)
    return found


VALUES: dict[str, tuple[str | None, ...]] = {
    "price": ("19.90", "18", None), "currency": ("EUR", "USD", None), "name": ("A chair", "The chair"),
    "availability": ("InStock", "SoldOut", None), "list_price": ("25", None), "mpn": ("M-1", None),
}  # fmt: skip
ADDRESSES = (PRODUCT, None), (f"{PRODUCT}?utm_source=mail", "/p/chair"), (RED, None)


def some_facts(dice: Random) -> dict[str, Any]:
    """What a page may say on a day."""
    return {**CHAIR, **{name: dice.choice(known) for name, known in VALUES.items()}}


def see_one(visits: Visits, dice: Random, now: dict[str, Any]) -> None:
    """A run of one of two sources, a visit or a fleet sees the product at one of its addresses."""
    url, declared = dice.choice(ADDRESSES)
    if dice.random() < 1 / 3 and visits.count(Asset):
        visits.visit(now, url=url, declared=declared, by_fleet=dice.random() < 1 / 2)
    else:
        run(visits, (url, now, declared), source=dice.choice(["shop", "another"]))


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_seen_after_a_purge_agrees_again(visits: Visits, seed: int) -> None:
    """Whichever sessions went, with their prices or without: whoever sees a product next, sees it whole."""
    dice, since = Random(seed), FIRST
    days = [some_facts(dice) for _ in range(2)]  # few, so that what went is often said again
    for _ in range(9):
        see_one(visits, dice, dice.choice(days))
        told(visits, since)
        if dice.random() < 1 / 2:
            sessions = sorted(visits.rows(CrawlSession), key=lambda row: row.created_at)
            purge_one(visits, dice.choice(sessions).id, with_prices=dice.random() < 1 / 2)
            since = utc_now()
            told(visits, since)


def test_a_visit_outside_of_runs_is_a_version_too(visits: Visits) -> None:
    """Without a run; what was missing is there again, and the next run finds it as it is."""
    first = run(visits, (PRODUCT, CHAIR, None))
    second = begin(visits, "shop")
    with visits.database.write() as db:
        mark_missing(db, "shop", second, utc_now())
    session = visits.visit({**CHAIR, "price": "18"})
    [asset] = visits.rows(Asset)
    assert (asset.missing_since, asset.versions, asset.last_run_id) == (None, 2, first)
    version = visits.rows(AssetVersion)[-1]
    assert (version.run_id, version.content["price"]) == (None, "18.00")
    assert version.page_id is not None
    assert visits.rows(Listing)[0].last_session_id == session
    later = run(visits, (PRODUCT, {**CHAIR, "price": "18"}, None))
    [found] = [row.status for row in visits.rows(AssetSighting) if row.run_id == later]
    assert (found, len(visits.rows(AssetVersion))) == ("unchanged", 2)


def test_addresses_of_one_product_are_one_asset(visits: Visits) -> None:
    """With tracking parameters, with `www.`, or as declared; what names no other is a product of its own."""
    run(
        visits,
        (f"{PRODUCT}?utm_source=mail", CHAIR, "/p/chair"),
        ("https://www.shop.example/p/chair", CHAIR, PRODUCT),
        (f"{PRODUCT}#top", CHAIR, None),
    )
    assert len(told(visits)) == visits.count(AssetVersion) == visits.count(Listing) == 1
    run(visits, ("https://shop.example/sale/chair", {**CHAIR, "price": "9"}, None))
    assert sorted(each["price"] for each in told(visits)) == ["19.90", "9.00"]


def test_variants_do_not_speak_over_each_other(visits: Visits) -> None:
    """Of those that declare one URL the first of a visit speaks, and the page that has the URL itself."""
    red, blue = ({**CHAIR, "sku": sku, "price": price} for sku, price in (("R", "1"), ("B", "2")))
    for _ in range(2):
        run(visits, (RED, red, PRODUCT), (BLUE, blue, PRODUCT))
    [content] = told(visits)
    assert (content["sku"], content["price"], visits.count(AssetVersion)) == ("R", "1.00", 1)
    run(visits, (BLUE, blue, PRODUCT))
    assert [each["sku"] for each in told(visits)] == ["B"]
    run(visits, (BLUE, blue, PRODUCT), (PRODUCT, {**CHAIR, "sku": "C", "price": "3"}, PRODUCT))
    assert [(each["sku"], each["price"]) for each in told(visits)] == [("C", "3.00")]


def test_an_asset_outlives_its_listing(visits: Visits) -> None:
    """It refers to none then, until the product is seen again."""
    run(visits, (PRODUCT, CHAIR, None))
    with visits.database.write() as db:
        db.execute(delete(Listing))
    assert [asset.listing_id for asset in visits.rows(Asset)] == [None]
    run(visits, (PRODUCT, CHAIR, None))
    assert len(told(visits)) == visits.count(Asset) == 1
