"""Exceptions as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.views import exceptions
from crawler.views.paging import Wanted
from tests.unit.views.rows import NOW, URL, a_run, an_exception

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_the_newest_stand_first(database: Database) -> None:
    """By run and by stage; those that are resolved only where asked for."""
    with database.write() as db:
        one, two = a_run(), a_run()
        db.add_all([one, two])
        db.flush()
        for row in (
            an_exception(one.id, "a"),
            an_exception(one.id, "b", stage="plugin"),
            an_exception(two.id, "c"),
            an_exception(two.id, "d", resolved_at=NOW, resolved_by="me", resolution="known"),
        ):
            db.add(row)
            db.flush()

    def listed(limit: int = 9, **which: Any) -> list[str]:
        with database.read() as db:
            return [each.message for each in exceptions.newest(db, Wanted(limit=limit), **which)]

    assert listed() == ["c", "b", "a"]
    assert listed(open_only=False) == ["d", "c", "b", "a"]
    assert listed(run_id=one.id) == ["b", "a"]
    assert listed(run_id=one.id, stage="fetch") == ["a"]
    assert listed(stage="disappeared") == []
    assert listed(limit=1) == ["c"]
    with database.read() as db:
        found = exceptions.newest(db, Wanted(limit=1), open_only=False)[0]
    assert (found.url, found.times, found.context) == (URL, 1, {"n": 1})
    assert (found.resolved_at, found.resolved_by, found.resolution) == (NOW, "me", "known")
