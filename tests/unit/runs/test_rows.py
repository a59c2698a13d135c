"""Runs as they are found and listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.errors import NotFoundError
from crawler.runs import rows
from tests.unit.runs.queues import a_new_run

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_a_run_is_found_by_its_id_or_its_source(database: Database) -> None:
    """The newest of the source; what is not there is told."""
    first, second = a_new_run(database), a_new_run(database)
    with database.read() as db:
        assert rows.find(db, str(first)).id == first
        assert rows.find(db, "shop").id == second
        for given in ("999999", "9" * 40, "elsewhere", "", "-1", "²"):
            with pytest.raises(NotFoundError, match="there is no run"):
                rows.find(db, given)
