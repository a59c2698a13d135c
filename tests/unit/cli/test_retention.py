"""`vitrine retention` and its neighbours: what they say, and what they do not take."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import AuditEntry
from crawler.retention.policies import DEFAULT_DAYS

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine

DOMAIN = ("retention", "hold", "--domain", "shop.example", "--who", "me", "--why", "x")


@pytest.mark.usefixtures("made")
def test_policies_are_sentences_and_can_be_set(vitrine: Vitrine) -> None:
    """The next cleanup goes by them."""
    shown = vitrine("retention", "policies").out
    assert "hauls: Hauls: kept for 30 days; 0 of them" in shown
    assert "listings: Products: kept without an end" in shown
    assert vitrine("retention", "set", "hauls", "3").code == 0
    document = vitrine("retention", "policies", "--json").document
    days = {each["name"]: each["days"] for each in document["policies"]}
    assert {name: days[name] for name in DEFAULT_DAYS} == {**DEFAULT_DAYS, "hauls": 3}
    assert (days["html"], days["listings"], document["last_cleanup"]) == (14, None, None)
    cleaned = vitrine("cleanup", "--only", "collections", "--json").document["collections"]
    assert {each["collection"]: each["ttl_days"] for each in cleaned}["hauls"] == 3
    last = vitrine("retention", "policies", "--json").document["last_cleanup"]
    assert (last["details"], last["collections_processed"]) == (cleaned, len(DEFAULT_DAYS))


@pytest.mark.usefixtures("made")
def test_a_domain_can_be_held_before_it_is_visited(vitrine: Vitrine) -> None:
    """The hold is listed until it is lifted."""
    assert vitrine(*DOMAIN, "--until", "2999-01-01", "--json").document["artifacts"] == 0
    [hold] = vitrine("retention", "holds", "--json").document["holds"]
    assert (hold["domain"], hold["who"], hold["why"]) == ("shop.example", "me", "x")
    assert hold["until"] == "2999-01-01T00:00:00+00:00"
    assert "domain shop.example" in vitrine("retention", "holds").out
    assert vitrine("purge", "--domain", "shop.example", "--yes").code == 5
    assert vitrine("retention", "unhold", "--domain", "www.shop.example").code == 0
    assert vitrine("retention", "unhold", "--domain", "shop.example").code == 1
    assert vitrine("retention", "holds", "--json").document == {"holds": []}
    assert "there is nothing of domain" in vitrine("purge", "--domain", "shop.example", "--yes").err


@pytest.mark.usefixtures("made")
def test_one_persons_hold_is_not_lifted_with_anothers(vitrine: Vitrine) -> None:
    """Whose it is has to be said; what was lifted is named, and a domain that nobody knows is told."""
    ours = ("retention", "hold", "--domain", "shop.example", "--why", "case 17")
    first = vitrine(*ours, "--who", "legal")
    assert first.err == "nothing of domain shop.example is known here; what comes of it will be kept\n"
    vitrine(*ours, "--who", "sales")
    lift = ("retention", "unhold", "--domain", "shop.example")
    done = vitrine(*lift)
    assert (done.code, done.err) == (
        5,
        (
            "error[locked]: domain shop.example is held by legal and by sales\n"
            "hint: --of NAME says whose hold is to be lifted\n"
        ),
    )
    assert vitrine(*lift, "--of", "nobody").code == 1
    assert "lifted the hold of sales: case 17" in vitrine(*lift, "--of", "sales").out
    [left] = vitrine("retention", "holds", "--json").document["holds"]
    assert left["who"] == "legal"


@pytest.mark.usefixtures("made")
def test_a_purge_that_is_refused_is_on_record(vitrine: Vitrine) -> None:
    """Who wanted it, and what stood against it."""
    vitrine("retention", "hold", "--domain", "shop.example", "--who", "legal", "--why", "case")
    done = vitrine("purge", "--domain", "shop.example", "--yes")
    assert done.code == 5
    with closing(sqlite3.connect("var/vitrine.db")) as database:
        found = database.execute("SELECT subject, details FROM audit_log WHERE action = 'purge.refused'")
        [(subject, details)] = found.fetchall()
    assert subject == "domain shop.example"
    assert "under a hold" in details


def test_the_days_of_html_are_written_into_the_projects_settings(
    vitrine: Vitrine, database: Database, database_url: str, tmp_path: Path
) -> None:
    """They hold from the next command on, and what was changed is on record."""
    done = vitrine("retention", "set", "html", "3", DATABASE_URL=database_url)
    assert (done.code, done.out) == (
        0, f"The HTML of pages is kept for 3 days, from the next page on, as {tmp_path / '.env'} says.\n"
    )  # fmt: skip
    policies = vitrine("retention", "policies", "--json").document["policies"]
    assert {each["name"]: each["days"] for each in policies}["html"] == 3
    with database.read() as db:
        [entry] = db.scalars(select(AuditEntry))
    assert (entry.action, entry.details["before"], entry.details["after"]) == ("retention.html", 14, 3)
    refused = vitrine("retention", "set", "html", "4", HTML_RETENTION_DAYS="9")
    assert (refused.code, "the environment says HTML_RETENTION_DAYS=9" in refused.err) == (2, True)
