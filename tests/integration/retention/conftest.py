"""A shelf on each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.retention.shelf import RetainedTable, new_shelf

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def shelf(database: Database, tmp_path: Path) -> RetainedTable:
    """A shelf with nothing on it."""
    return new_shelf(database, tmp_path / "artifacts")
