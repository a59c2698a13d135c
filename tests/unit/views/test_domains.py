"""Domains as documents: the gate's word, with the session behind it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.access.gate import DomainState
from crawler.db.models import DomainDay
from crawler.views import domains
from tests.unit.views.rows import THEN, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database


def state(domain: str, value: str | None = None, **delays: int) -> DomainState:
    """What a gate says of a domain."""
    given = {"throttled_for_ms": 0, "delayed_for_ms": 0, **delays}
    return DomainState(domain, value, expires_in_ms=9000, delay_reason=None, **given)


def test_a_held_domain_names_its_session(database: Database) -> None:
    """With its process, since when, and how long the lock lasts."""
    session = a_session(status="running")
    with database.write() as db:
        db.add(session)
    value = f"vitrine:host:7:0:{session.id}:nonce"
    with database.read() as db:
        [found, free] = domains.of(
            db, [state("shop.example", value), state("free.example", delayed_for_ms=5)]
        )
    assert (found.state, found.value, found.host, found.pid) == ("held", value, "host", 7)
    assert (found.session, found.url, found.since) == (str(session.id), "https://shop.example/", THEN)
    assert found.expires_in_ms == 9000
    assert (free.domain, free.state, free.value, free.session) == ("free.example", "free", None, None)
    assert (free.expires_in_ms, free.delayed_for_ms) == (None, 5)


@pytest.mark.parametrize("value", ["worker-9:other:1700000000", "vitrine:h:7:0:no id:n", "vitrine:"])
def test_a_lock_may_be_anybodys(database: Database, value: str) -> None:
    """It is held, and nothing is known of a session."""
    with database.read() as db:
        [found] = domains.of(db, [state("shop.example", value)])
    assert (found.state, found.url, found.since) == ("held", None, None)


def test_days_are_those_of_the_domain_and_the_last_ones(database: Database) -> None:
    """The newest first; what was never measured is not said to be nothing."""
    with database.write() as db:
        for domain, before, sessions in (
            ("shop.example", 0, 3), ("shop.example", 1, 5), ("shop.example", 2, 1), ("other.example", 0, 9)
        ):  # fmt: skip
            db.add(
                DomainDay(
                    domain=domain, timestamp=THEN - timedelta(days=before), sessions=sessions, successes=1,
                    blocks=0, latencies={}, verdict_rate=None, median_latency_ms=None,
                )
            )  # fmt: skip
    with database.read() as db:
        found = domains.days(db, "shop.example", 2)
    assert [(each.day, each.sessions) for each in found] == [
        (THEN.date(), 3), (THEN.date() - timedelta(days=1), 5)
    ]  # fmt: skip
    assert (found[0].verdict_rate, found[0].median_latency_ms) == (None, None)
