"""When a request may start a cleanup (SPEC B49, E111-115)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import RetentionConfig
from crawler.retention.trigger import CHANCE, maybe_clean_up

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.integration.catalogue.visits import Visits


def test_requests_start_nothing_unless_that_is_enabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default cron does it: no dice are thrown, and the database is not even opened."""
    monkeypatch.delenv("RETENTION_CLEANUP_ENABLED", raising=False)
    database = Database(f"sqlite:///{tmp_path / 'none.db'}")
    asked: list[str] = []

    def dice() -> float:
        asked.append("dice")
        return 0.0

    assert not maybe_clean_up(load_settings(), database, lambda: asked.append("run"), dice)
    assert asked == []
    assert not (tmp_path / "none.db").exists()


def triggered(visits: Visits, run: Callable[[], object], *, dice: float = 0.0) -> bool:
    """A request, where requests may start a cleanup."""
    settings = load_settings({"retention_cleanup_enabled": True})
    return maybe_clean_up(settings, visits.database, run, lambda: dice)


def test_the_trigger_runs_once_an_hour(visits: Visits) -> None:
    """For all processes together; the hour is claimed when a run begins."""
    ran: list[str] = []
    assert triggered(visits, lambda: ran.append("first"))
    assert not triggered(visits, lambda: ran.append("second"))
    visits.change(RetentionConfig, triggered_at=utc_now() - timedelta(minutes=59))
    assert not triggered(visits, lambda: ran.append("third"))
    visits.change(RetentionConfig, triggered_at=utc_now() - timedelta(hours=1))
    assert triggered(visits, lambda: ran.append("fourth"), dice=CHANCE - 0.0001)
    assert ran == ["first", "fourth"]


def test_the_trigger_needs_luck_and_loses_no_error(visits: Visits) -> None:
    """Ninety-nine of a hundred requests do nothing; a failure stays in the log."""
    assert not triggered(visits, lambda: None, dice=CHANCE)
    assert visits.count(RetentionConfig) == 0

    def fail() -> None:
        raise RuntimeError(str(uuid4()))

    assert not triggered(visits, fail)
