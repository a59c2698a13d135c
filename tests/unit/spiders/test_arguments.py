"""What `-a` may say to a worker of a fleet; what it says to other crawls is checked where they are."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError, UsageError
from crawler.spiders.arguments import check_worker

URL = "https://shop.example/p/1"
REDIS = {"REDIS_URL": "redis://localhost/0"}


@pytest.mark.parametrize("name", ["url", "urls", "pdp", "session", "listing"])
def test_a_worker_has_no_urls_of_its_own(name: str) -> None:
    """It would be one machine's only, and every restart would visit it again."""
    with pytest.raises(UsageError, match="exclude each other"):
        check_worker(load_settings(REDIS), {name: URL})


def test_a_worker_needs_redis() -> None:
    """No line of a crawl that runs alone for ever."""
    with pytest.raises(ConfigError, match="REDIS_URL"):
        check_worker(load_settings({"REDIS_URL": ""}), {})


def test_a_worker_s_defaults_are_checked() -> None:
    """Before it takes anything."""
    check_worker(load_settings(REDIS), {"mode": "debug", "retention": "short", "_job": "7"})
    with pytest.raises(UsageError, match="loud"):
        check_worker(load_settings(REDIS), {"mode": "loud"})
