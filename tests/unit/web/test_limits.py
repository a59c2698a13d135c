"""How often one address may ask."""

from __future__ import annotations

import pytest

from crawler.web.limits import Limits, TooOftenError

STRANGER = "203.0.113.5"


def admitted(limits: Limits, path: str, times: int, client: str = STRANGER, query: bytes = b"") -> int:
    """How many of so many requests pass."""
    passed = 0
    for _ in range(times):
        try:
            limits.admit(client, path, query)
        except TooOftenError:
            continue
        passed += 1
    return passed


def test_each_kind_has_its_share() -> None:
    """Of 120 a minute: all, half of it searches, a twelfth exports, logins and verifications."""
    limits = Limits(120, clock=lambda: 0.0)
    assert admitted(limits, "/api/stats", 200) == 120
    assert admitted(limits, "/api/search", 200) == 60
    assert admitted(limits, "/api/exports/snapshots", 200) == 10
    assert admitted(limits, "/admin/login", 200) == 10
    assert admitted(limits, "/snapshots/7", 200, query=b"x=1&verify=1") == 10


@pytest.mark.parametrize(
    ("client", "path"), [("127.0.0.1", "/api/stats"), ("::1", "/"), (STRANGER, "/static/a.css")]
)
def test_some_are_not_counted(client: str, path: str) -> None:
    """This machine, and what a page has many of."""
    assert admitted(Limits(1, clock=lambda: 0.0), path, 50, client) == 50


def test_a_minute_later_it_begins_anew() -> None:
    """And one address does not use up another's share."""
    now = [0.0]
    limits = Limits(2, clock=lambda: now[0])
    assert admitted(limits, "/", 5) == 2
    assert admitted(limits, "/", 5, "203.0.113.6") == 2
    now[0] = 60.0
    assert admitted(limits, "/", 5) == 2


def test_no_limit_is_no_limit() -> None:
    """0 switches it off."""
    assert admitted(Limits(0), "/", 500) == 500


def test_a_client_has_a_whole_network_of_version_6() -> None:
    """Its limit is one, however many addresses of its own it takes; another network has its own."""
    limits = Limits(120, clock=lambda: 0.0)
    mine = [f"2001:db8:0:7::{number:x}" for number in range(1, 200)]
    assert sum(admitted(limits, "/admin/login", 1, each) for each in mine) == 10
    assert admitted(limits, "/admin/login", 1, "2001:db8:0:8::1") == 1
    assert sum(admitted(limits, "/admin/login", 1, f"::ffff:192.0.2.{number}") for number in range(20)) == 20
    assert admitted(Limits(1, clock=lambda: 0.0), "/", 9, "::1") == 9
