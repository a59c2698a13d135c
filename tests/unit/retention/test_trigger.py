"""When a request may start a cleanup (SPEC B49, E111-115)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.retention.trigger import maybe_clean_up

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
