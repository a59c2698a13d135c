"""Domains in the workshop: who holds which, and freeing one that was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.access.acquisition import open_gate
from crawler.access.gate import Held
from crawler.db.models import AuditEntry, DomainDay
from tests.unit.web.inside import OWN, token_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.access.gate import Gate
    from tests.unit.web.conftest import Served

HELD = "shop.example"
VALUE = "vitrine:<b>host:1:0:no-session:nonce"


@pytest.fixture
def gate(inside: Served) -> Iterator[Gate]:
    """The gate of the site, at which somebody holds a domain."""
    found = open_gate(inside.stores.settings, inside.database)
    assert isinstance(found.acquire(HELD, "no-session", VALUE), Held)
    yield found
    found.close()


def released(inside: Served, value: str, domain: str = HELD) -> tuple[int, str]:
    """What came of asking to break a lock."""
    form = {"form_token": token_of(inside.get("/admin/holds/new").text), "value": value}
    answer = inside.client.post(f"/admin/domains/{domain}/release", data=form, headers=OWN)
    return answer.status_code, answer.json()["code"] if answer.content else ""


def test_who_holds_a_domain_is_shown(inside: Served, gate: Gate) -> None:
    """In the list and on its own page, with its last days; a lock's value is anybody's text."""
    with inside.database.write() as db:
        db.add(DomainDay(domain=HELD, timestamp=db.now, sessions=7, latencies={}))
    [listed] = inside.get("/admin/domains.json").json()
    assert (listed["domain"], listed["state"], listed["host"]) == (HELD, "held", "<b>host")
    shown = inside.get(f"/admin/domains/www.{HELD.upper()}.json").json()
    assert (shown["domain"]["domain"], [day["sessions"] for day in shown["days"]]) == (HELD, [7])
    for path in ("/admin/domains", f"/admin/domains/{HELD}"):
        assert "<b>host" not in inside.get(path).text
    assert inside.get("/admin/domains.csv").text.splitlines()[1].startswith(f"{HELD},held")


def test_only_the_lock_that_was_shown_is_broken(inside: Served, gate: Gate) -> None:
    """Not one that came meanwhile; it is on record who was locked out, and once."""
    assert released(inside, "another:value") == (409, "locked")
    assert released(inside, "") == (409, "locked")
    assert gate.state(HELD).value == VALUE
    assert released(inside, VALUE) == (303, "")
    assert gate.state(HELD).value is None
    assert released(inside, VALUE) == (404, "not_found")
    with inside.database.read() as db:
        [entry] = db.scalars(select(AuditEntry))
    assert (entry.action, entry.subject, entry.details["value"]) == ("domains.release", HELD, VALUE)


def test_what_is_no_domain_is_told(inside: Served) -> None:
    """And nothing is looked for."""
    for name in ("..", "a%20b", "%E2%80%AE", "-", "x" * 300):
        answer = inside.get(f"/admin/domains/{name}")
        assert (name, answer.status_code in {200, 400, 404, 422}) == (name, True)
