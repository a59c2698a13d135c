"""A shop whose product changes from day to day: listings, prices and assets tell one story."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from attrs import evolve, frozen
from sqlalchemy import select

from crawler.cli.app import run
from crawler.db.models import Asset, AssetVersion, Listing, Price
from crawler.demo.goods import ASSORTMENTS
from crawler.demo.shops import SHOPS, Markup
from crawler.demo.storefront import page_of
from tests.e2e.farm import NETWORK, farm

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

DAY = timedelta(days=1)
GOODS = ASSORTMENTS["en"].products[0]
PAGE = f"/products/{GOODS.slug}"
OTHER = f"/sale/{GOODS.slug}"  # the same product, at an address that names no other
TRACKED = f"{PAGE}?utm_source=mail"
SAID = ("name", "brand", "sku", "gtin", "mpn")
PLAIN = SHOPS["plain"]


@frozen
class Day:
    """What the shop says on a day."""

    price: int = 1990
    currency: str = "USD"
    name: str = GOODS.name
    shows_price: bool = True
    links: tuple[str, ...] = (PAGE, TRACKED, OTHER)

    def page(self, path: str) -> tuple[int, str, str] | None:
        """What stands at a path; the product's own page and the tracked one declare the former."""
        if path in {PAGE, TRACKED, OTHER}:
            return 200, "", self.product(is_own=path != OTHER)
        links = "".join(f'<a href="{link}">a link</a> ' for link in self.links)
        return (200, "", f"<title>Home</title><h1>Home</h1>{links}") if path == "/" else None

    def product(self, *, is_own: bool) -> str:
        """The demo's page of the product, which declares its address unless it is elsewhere."""
        shop = evolve(PLAIN, currency=self.currency, markup=Markup.JSON_LD)
        reply, _ = page_of(shop, PAGE, lambda _: self.price)
        html = reply.body.decode().replace(GOODS.name, self.name)
        if not is_own:
            html = html.replace('rel="canonical"', "")
        if self.shows_price:
            return html
        before, _, after = html.partition('<p class="price"')
        html = before + after.partition("</p>")[2]
        return html.replace('"price":', '"was":')


DAYS = (
    Day(),
    Day(price=1790),
    Day(price=1790),
    Day(price=1790, currency="GBP", name="A better case"),
    Day(shows_price=False, name="The best case"),
    Day(links=(OTHER, TRACKED)),
)


class Shop:
    """A site that says what its day says."""

    day = DAYS[0]

    def __call__(self, path: str) -> tuple[int, str, str] | None:
        """The answer to a request for a path."""
        return self.day.page(path)


class Look(Protocol):
    """Has a command say what is known."""

    def __call__(self, *arguments: str) -> Any:
        """The JSON that it prints."""


@pytest.fixture
def look(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Look:
    """The command in this process: starting one takes longer than looking."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", root.handlers[:])

    def run_it(*arguments: str) -> Any:
        for name, value in home.environment.items():
            monkeypatch.setenv(name, value)
        assert run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run_it


def assert_they_agree(look: Look) -> None:
    """What is listed, what it costs and what its assets say is the same, for every product."""
    listings = {each["id"]: each for each in look("listings", "list")["listings"]}
    assets = [each for each in look("assets", "list")["assets"] if each["plugin"] == "product"]
    assert {each["listing_id"] for each in assets} == set(listings)
    assert len({(each["source"], each["listing_id"]) for each in assets}) == len(assets)
    for asset in assets:
        listing = listings[asset["listing_id"]]
        shown = look("assets", "show", str(asset["id"]))
        prices = look("prices", "show", listing["id"])["prices"]
        newest, price = shown["history"][-1]["content"], prices[-1]
        assert (asset["key"], asset["title"]) == (listing["url"], listing["name"])
        assert asset["last_seen_at"] == listing["last_seen_at"]
        assert [newest[name] for name in SAID] == [listing[name] for name in SAID]
        for name in ("price", "currency", "availability"):
            assert newest[name] == listing[name] == price[name], name
        assert newest["list_price"] == price["list_price"]
        for version in shown["history"]:
            in_force = [each for each in prices if each["seen_at"] <= version["seen_at"]][-1]
            told = version["content"]["price"], version["content"]["currency"]
            assert told == (in_force["price"], in_force["currency"])


def price_of(look: Look, path: str) -> tuple[str, str, str]:
    """What is listed of the product at a path."""
    [found] = [each for each in look("listings", "list")["listings"] if each["url"].endswith(path)]
    return found["name"], found["price"], found["currency"]


def a_day_passes(home: Home) -> None:
    """Everything was a day earlier."""
    database = home.database()
    with database.write() as db:
        for price in db.scalars(select(Price)):
            price.seen_at -= DAY
        for version in db.scalars(select(AssetVersion)):
            version.seen_at -= DAY
        for known in (*db.scalars(select(Listing)), *db.scalars(select(Asset))):
            known.last_seen_at -= DAY
    database.close()


def test_listings_prices_and_assets_never_disagree(home: Home, look: Look, tmp_path: Path) -> None:
    """Whatever changes from one day to the next, and whoever saw it: a run, another run, or a visit."""
    shop = Shop()
    with farm(hosts=1, pages=1, special=shop) as sites:
        [start] = sites.starts
        plan = tmp_path / "sources.toml"
        plan.write_text(
            f"[sources.all]\nstart_urls = ['{start}']\nplugins = ['page', 'product']\ndepth = 1\n"
            f"[sources.one]\nstart_urls = ['{start.rstrip('/')}{PAGE}']\nplugins = ['product']\ndepth = 0\n"
        )
        home.extra.update(EGRESS_ALLOW=NETWORK, SOURCES_FILE=str(plan), DOMAIN_MIN_DELAY_MS="0")
        for number, day in enumerate(DAYS):
            shop.day = day
            who = ("--source", "one" if number % 3 == 1 else "all")
            done = home.vitrine("crawl", "site", *who, "--json", "-s", "DOWNLOAD_DELAY=0")
            assert done.returncode == 0, done.stderr
            assert_they_agree(look)
            assert price_of(look, PAGE)[0] == day.name
            a_day_passes(home)
        shop.day = Day(price=990)
        home.crawl(f"{start.rstrip('/')}{TRACKED}")
        assert_they_agree(look)
    assert price_of(look, PAGE) == (GOODS.name, "9.90", "USD")
    assert price_of(look, OTHER) == (GOODS.name, "19.90", "USD")
