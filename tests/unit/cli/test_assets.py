"""`vitrine assets`: what plugins made of pages, as people and programs see it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from crawler.catalogue import assets
from crawler.catalogue.plugins import AssetRecord
from crawler.db.models import Run

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Done, Vitrine

THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "https://shop.example/p/chair"


def product(price: str, **more: object) -> AssetRecord:
    """A chair at this price."""
    content = {"price": price, "offers": [{"price": price}], **more}
    return AssetRecord("product", URL, URL, "A [bold]chair\x1b[31m[/]", content, {"seen": price})


@pytest.fixture
def runs(database: Database) -> list[int]:
    """Three runs: a chair is new, changes, and is gone; a page comes in the second."""
    found = []
    page = AssetRecord("page", URL, URL, None, {"text": 1})
    for records in (
        [("product", product("10.00"))],
        [("product", product("9.50", sale=True)), ("page", page)],
        [],
    ):
        with database.write() as db:
            run = Run(source="shop", plan={}, created_at=THEN)
            db.add(run)
            db.flush()
            assets.see(db, assets.Sight(None, THEN, run.id, "shop"), records)
            assets.mark_missing(db, "shop", run.id, THEN)
            found.append(run.id)
    return found


class Listed:
    """`vitrine assets` on the database of the test."""

    def __init__(self, vitrine: Vitrine, url: str) -> None:
        self.vitrine = vitrine
        self.url = url

    def __call__(self, *arguments: str) -> Done:
        """Run it."""
        return self.vitrine("assets", *arguments, DATABASE_URL=self.url)

    def found(self, *arguments: str) -> dict[str, str]:
        """The status of each asset that is listed, by its plugin."""
        done = self("list", "--json", *arguments)
        assert done.code == 0, done.err
        return {each["plugin"]: each["status"] for each in done.document["assets"]}


@pytest.fixture
def listed(vitrine: Vitrine, database_url: str) -> Listed:
    """Runs `vitrine assets`."""
    return Listed(vitrine, database_url)


def test_they_are_listed_as_they_are_and_as_a_run_found_them(listed: Listed, runs: list[int]) -> None:
    """By source, run and status."""
    first, second, third = map(str, runs)
    assert listed.found() == {"product": "missing", "page": "missing"}
    assert listed.found("--run", first) == {"product": "new"}
    assert listed.found("--run", second) == {"product": "updated", "page": "new"}
    assert listed.found("--run", second, "--status", "updated") == {"product": "updated"}
    assert listed.found("--run", third, "--status", "new") == {}
    assert listed.found("--source", "shop", "--status", "missing", "--limit", "1").keys() < {
        "product",
        "page",
    }
    assert listed.found("--source", "other") == {}
    assert listed("list", "--source", "other", "--fail-empty").code == 4


def test_a_line_has_all_that_is_known(listed: Listed, runs: list[int]) -> None:
    """One JSON document for each."""
    done = listed("list", "--jsonl", "--run", str(runs[1]))
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [set(row) for row in rows] == [
        {
            "id", "source", "plugin", "kind", "key", "url", "title", "checksum", "versions", "first_seen_at",
            "last_seen_at", "last_run_id", "missing_since", "listing_id", "status",
        }
    ] * 2  # fmt: skip
    [row] = [row for row in rows if row["plugin"] == "product"]
    assert (row["source"], row["url"], row["versions"]) == ("shop", URL, 2)
    assert (row["missing_since"], row["status"]) == ("2026-03-01T12:00:00+00:00", "updated")


def test_the_history_says_what_changed(listed: Listed, runs: list[int]) -> None:
    """From each version to the next; the first one is as it is."""
    key = next(
        str(each["id"]) for each in listed("list", "--json").document["assets"] if each["plugin"] == "product"
    )
    document = listed("show", key, "--json").document
    one, two = document["history"]
    assert (document["versions"], document["checksum"]) == (2, two["checksum"])
    assert (one["number"], one["run_id"], one["changes"], one["details"]) == (
        1,
        runs[0],
        [],
        {"seen": "10.00"},
    )
    assert one["content"] == {"price": "10.00", "offers": [{"price": "10.00"}]}
    assert two["changes"] == [
        {"path": "offers.0.price", "kind": "changed", "before": "10.00", "after": "9.50"},
        {"path": "price", "kind": "changed", "before": "10.00", "after": "9.50"},
        {"path": "sale", "kind": "added", "before": None, "after": True},
    ]
    newest = listed("show", key, "--json", "--limit", "1").document["history"]
    assert newest == [two]
    told = listed("show", key).out
    assert '  + price: "10.00"\n' in told
    assert '  ~ price: "10.00" → "9.50"\n' in told
    assert "missing since 2026-03-01 12:00:00Z" in told


def test_what_a_site_wrote_steers_no_terminal(listed: Listed, runs: list[int]) -> None:
    """Neither as markup nor as an escape sequence."""
    out = listed("list", "--run", str(runs[0])).out
    assert "A [bold]chair\ufffd[31m[/]" in out
    assert "updated" not in out
