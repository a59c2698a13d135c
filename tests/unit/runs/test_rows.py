"""Runs as they are found and listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.errors import NotFoundError
from crawler.runs import rows
from crawler.runs.rows import RunStatus
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


@pytest.mark.parametrize("status", RunStatus)
def test_the_newest_run_that_is_not_over_can_be_resumed(database: Database, status: RunStatus) -> None:
    """SPEC D98: whichever was not completed; of the source that is asked for."""
    older = a_new_run(database)
    newest = a_new_run(database)
    a_new_run(database, "elsewhere")
    with database.write() as db:
        rows.find(db, str(newest)).status = status
    with database.read() as db:
        found = rows.resumable(db, "shop")
        assert rows.resumable(db, "nowhere") is None
    assert found
    assert found.id == (older if status == RunStatus.COMPLETED else newest)
