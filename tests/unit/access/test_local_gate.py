"""The gate on the database: its times, what it does not touch, and its errors."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from crawler.access.gate import Busy, GateTimes, Held, LocalGateUnavailableError
from crawler.access.local_gate import LocalGate, starts_in_ms, throttle_left_ms
from crawler.db.engine import Database

TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)
DOMAIN = "example.com"


def test_waiting_does_not_hold_writers_up(sqlite_database: str) -> None:
    """Sessions that ask for a held domain only read, so they get their answer while somebody writes."""
    database, writer = Database(sqlite_database), Database(sqlite_database)
    gate = LocalGate(database, TIMES)
    assert isinstance(gate.acquire(DOMAIN, "5c1e"), Held)
    with writer.write():
        assert isinstance(gate.acquire(DOMAIN, "0ff5"), Busy)
        assert gate.state(DOMAIN).value
        assert len(gate.states()) == 1
    database.close()
    writer.close()


def test_missing_table_is_no_crash(database: Database) -> None:
    """A database that cannot do its part is a gate that does not answer, with the reason."""
    with database.write() as session:
        session.execute(text("DROP TABLE domain_gates"))
    gate = LocalGate(database, TIMES)
    for call in (gate.extend, gate.release):
        with pytest.raises(LocalGateUnavailableError, match="domain_gates"):
            call(Held(DOMAIN, "5c1e", "vitrine:token"))


def test_absent_server_is_no_crash() -> None:
    """Nothing listens there: no session gets in, and no password is shown."""
    database = Database("postgresql://user:canary@127.0.0.1:1/none")
    with pytest.raises(LocalGateUnavailableError) as refused:
        LocalGate(database, TIMES).acquire(DOMAIN, "5c1e")
    assert refused.value.code == "database_unavailable"
    assert "canary" not in f"{refused.value} {refused.value.hint}"
    database.close()


@pytest.mark.parametrize(
    ("since_ms", "left_ms"),
    [
        (0, 2000),  # just now
        (1, 1999),
        (1999, 1),
        (2000, 0),
        (89_000, 0),
        (-30_000, 2000),  # another machine's clock: never longer than the delay
        (10**15, 0),  # never before
    ],
)
def test_what_is_left_of_the_delay(since_ms: int, left_ms: int) -> None:
    """Exactly the remainder, never more than the whole (SPEC A23)."""
    assert throttle_left_ms(TIMES, since_ms) == left_ms


@pytest.mark.parametrize(
    ("since_ms", "left_ms"),
    [(-1500, 1500), (0, 0), (1500, 0), (-299_000, 299_000), (-(10**12), 300_000)],
)
def test_how_long_a_holder_waits(since_ms: int, left_ms: int) -> None:
    """Until its start, which lies in the future; a clock that runs wrong holds nobody up for ever."""
    assert starts_in_ms(TIMES, since_ms) == left_ms


@pytest.mark.parametrize(
    ("seconds", "delay_ms"), [(1.5, 1500), (300, 300_000), (10**9, 300_000), (0, 0), (-5, 0)]
)
def test_what_a_site_may_ask_for(seconds: float, delay_ms: int) -> None:
    """Within DOMAIN_MAX_DELAY_SECONDS, and never a delay into the past."""
    assert TIMES.bounded(seconds) == delay_ms
