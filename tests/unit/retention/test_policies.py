"""How long collections are kept, and what is no policy (SPEC E103-110, E127-133)."""

from __future__ import annotations

import pytest

from crawler.errors import ConfigError
from crawler.retention.policies import (
    DEFAULT_DAYS,
    MAX_DAYS,
    PolicyError,
    days_by_collection,
    days_of,
    with_days,
)


def test_the_defaults_are_those_of_the_policy() -> None:
    """Without a document they hold."""
    assert days_by_collection(None) == days_by_collection({}) == {
        "diagnostics": 90, "price_history": 365, "assets": 365, "scrape_metadata": 90, "audit_log": 90,
        "scraper_health": 180, "export_history": 90, "hauls": 30,
    }  # fmt: skip


def test_a_change_touches_one_collection_and_no_default() -> None:
    """The document says only what differs."""
    document = with_days(with_days(None, "hauls", 7), "audit_log", 400)
    assert document == {"days": {"hauls": 7, "audit_log": 400}}
    assert days_by_collection(document) == {**DEFAULT_DAYS, "hauls": 7, "audit_log": 400}
    assert DEFAULT_DAYS["hauls"] == 30


@pytest.mark.parametrize(
    ("collection", "days", "why"),
    [
        ("listings", 30, "Collection 'listings' is exempt from retention policies"),
        ("retention_config", 30, "there is no collection 'retention_config'"),
        ("hauls", 0, "TTL must be at least 1 day"),
        ("hauls", -3, "TTL must be at least 1 day"),
        ("hauls", MAX_DAYS + 1, "TTL must be at most"),
    ],
)
def test_what_is_no_policy_is_refused(collection: str, days: int, why: str) -> None:
    """With the reason; wrong usage."""
    with pytest.raises(PolicyError, match=why) as caught:
        with_days(None, collection, days)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["x", "1.5", "", "NaN", "3d"])
def test_days_are_whole_numbers(text: str) -> None:
    """No text passes for one."""
    with pytest.raises(PolicyError, match="is not a number of days"):
        days_of(text)
    assert days_of("60") == 60


@pytest.mark.parametrize("days", [0, -1, "60", 1.5, True, None, MAX_DAYS + 1])
def test_a_spoilt_document_is_an_error(days: object) -> None:
    """Nothing is deleted by it."""
    with pytest.raises(ConfigError, match="'hauls'"):
        days_by_collection({"days": {"hauls": days}})
    with pytest.raises(ConfigError, match="'users'"):
        days_by_collection({"days": {"users": 3}})
