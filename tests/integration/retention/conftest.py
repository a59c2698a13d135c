"""Stored evidence on each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.retention.stored import Evidence, new_evidence

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def evidence(database: Database, tmp_path: Path) -> Evidence:
    """A session without any artifact."""
    return new_evidence(database, tmp_path / "artifacts")
