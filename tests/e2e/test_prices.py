"""Products and prices, from the crawl to the commands that show and export them."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import Home, in_this_process

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer

QUICK = ("-s", "DOWNLOAD_DELAY=0")


def read(home: Home, *arguments: str) -> Any:
    """The JSON that a command prints."""
    done = home.vitrine(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def watched(shops: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that has seen two shops, and the moving price of one of them twice."""
    shops.forget()  # the day that a test before may have set: a price moves with each look, or with the day
    home = Home(tmp_path_factory.mktemp("watched"))
    home.crawl(shops.url("plain"), shops.url("price-changes"))
    sessions = read(home, "prices", "refresh", "--older-than", "0m", *QUICK)["sessions"]
    assert [session["status"] for session in sessions] == ["completed"] * 2
    assert all(session["pdp_url"] == session["wanted_pdp_url"] for session in sessions)
    return home


def moving(home: Home, shops: DemoServer) -> dict[str, Any]:
    """The product whose price moves."""
    domain = shops.domain("price-changes")
    [listing] = read(home, "listings", "list", "--domain", domain)["listings"]
    return dict(listing)


def test_products_are_known_once(watched: Home, shops: DemoServer) -> None:
    """However often they were seen; each with its newest price."""
    listings = read(watched, "products", "list")["products"]
    assert read(watched, "listings", "list")["listings"] == listings  # its former name
    assert len(listings) == 2
    listing = moving(watched, shops)
    history = read(watched, "prices", "show", listing["id"])["prices"]
    assert (listing["price"], listing["currency"]) == (history[-1]["price"], history[-1]["currency"])
    lines = watched.vitrine("listings", "list", "--jsonl").stdout.splitlines()
    assert {json.loads(line)["id"] for line in lines} == {each["id"] for each in listings}


def test_a_history_shows_what_changed(watched: Home, shops: DemoServer) -> None:
    """A moving price has a row for each move, with its proof; an unmoved one has a single row."""
    listing = moving(watched, shops)
    shown = read(watched, "prices", "show", listing["url"])
    assert shown["listing"]["id"] == listing["id"]
    assert len({price["price"] for price in shown["prices"]}) == len(shown["prices"]) == 2
    html = {
        artifact["content_sha256"]
        for session in watched.sessions()
        for artifact in session["artifacts"]
        if artifact["type"] == "html_gz"
    }
    assert {price["content_sha256"] for price in shown["prices"]} <= html
    text = watched.vitrine("prices", "show", listing["id"][:8]).stdout
    assert set(text) & set("▁▂▃▄▅▆▇█")
    assert all(price["price"] in text for price in shown["prices"])


def test_nothing_is_due(watched: Home) -> None:
    """What was seen today is not asked for again."""
    done = in_this_process(("prices", "refresh", "--fail-empty"), watched.environment)
    assert (done.returncode, done.stdout) == (4, "")


def test_exports_are_whole_and_on_record(watched: Home, tmp_path: Path) -> None:
    """To a file that appears when it is complete, or to standard output."""
    out = tmp_path / "prices.csv"
    done = watched.vitrine("export", "prices", "--format", "csv", "--out", str(out))
    assert (done.returncode, done.stdout) == (0, "")
    with out.open(encoding="utf-8", newline="") as file:
        prices = list(csv.DictReader(file))
    assert len(prices) == 3
    done = watched.vitrine("export", "sessions", "--format", "jsonl")
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == len(watched.sessions())
    kept = {each["name"]: each["rows"] for each in read(watched, "retention", "policies")["policies"]}
    assert kept["export_history"] >= 2
    assert list(tmp_path.iterdir()) == [out]
    done = watched.vitrine("export", "listings", "--out", str(tmp_path / "none" / "x.csv"))
    assert done.returncode == 2
    assert done.stderr.startswith("error[usage]:")
