"""Stored evidence, and visits with a catalogue beside them, on each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.catalogue.visits import Visits, new_visits
from tests.unit.retention.stored import Evidence, new_evidence

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def evidence(database: Database, tmp_path: Path) -> Evidence:
    """A session without any artifact."""
    return new_evidence(database, tmp_path / "artifacts")


@pytest.fixture
def visits(database: Database, tmp_path: Path) -> Visits:
    """Nothing was visited yet."""
    return new_visits(database, tmp_path / "artifacts")
