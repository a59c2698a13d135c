"""The gate's rules: names, waits, and who stands behind a lock."""

from __future__ import annotations

import pytest

from crawler.access import rules


def test_keys_are_the_documented_ones() -> None:
    """A deployment of the documented system on the same Redis meets us at its own keys (SPEC A1, A2, A8)."""
    assert rules.lock_key("example.com") == "lock:domain:example.com"
    assert rules.throttle_key("example.com") == "throttle:domain:example.com"
    assert rules.delay_key("example.com") == "delay:domain:example.com"


@pytest.mark.parametrize(("attempt", "least"), [(1, 1000), (2, 2000), (3, 4000), (4, 8000)])
def test_backoff_doubles_with_jitter(attempt: int, least: int) -> None:
    """1, 2 and 4 seconds, plus up to half a second each (SPEC A10)."""
    assert rules.backoff_ms(attempt, 1000, lambda: 0.0) == least
    assert rules.backoff_ms(attempt, 1000, lambda: 0.5) == least + 250
    assert rules.backoff_ms(attempt, 1000, lambda: 0.9999) == least + 500


@pytest.mark.parametrize(
    ("ended_ms", "now_ms", "left_ms"),
    [
        (None, 10_000, 0),  # no session before
        (10_000, 10_000, 2000),  # ended just now
        (10_000, 10_001, 1999),
        (10_000, 11_999, 1),
        (10_000, 12_000, 0),
        (10_000, 99_000, 0),
        (40_000, 10_000, 2000),  # another machine's clock: never longer than the delay
        (-5_000, 10_000, 0),
    ],
)
def test_what_is_left_of_the_delay(ended_ms: int | None, now_ms: int, left_ms: int) -> None:
    """Exactly the remainder, never more than the whole (SPEC A23)."""
    assert rules.throttle_left_ms(ended_ms, now_ms, 2000) == left_ms


def test_no_delay_is_no_wait() -> None:
    """With DOMAIN_MIN_DELAY_MS=0 nobody waits."""
    assert rules.throttle_left_ms(10_000, 10_000, 0) == 0


def test_holder_is_read_from_the_value() -> None:
    """An operator sees host, process and session behind a lock."""
    token = rules.token_for(rules.token_start("shop-1", 4711, "b00t-99"), "5c1e", "n0nce")
    assert token == "vitrine:shop-1:4711:b00t-99:5c1e:n0nce"
    assert rules.is_ours(token)
    assert rules.holder_of(token) == rules.Holder("shop-1", 4711, "5c1e")


@pytest.mark.parametrize("value", ["worker-17:5c1e:1794990531", "", "vitrine:", "vitrine:a:b:c:d:e"])
def test_strangers_value_names_no_holder(value: str) -> None:
    """A lock that another system set is shown as it is."""
    assert rules.holder_of(value) is None
