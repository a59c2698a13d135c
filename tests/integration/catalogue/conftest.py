"""A store of sessions with a catalogue on each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.catalogue.visits import Visits, new_visits

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def visits(database: Database, tmp_path: Path) -> Visits:
    """Nothing was visited yet."""
    return new_visits(database, tmp_path / "artifacts")
