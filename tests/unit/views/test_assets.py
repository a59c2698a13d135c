"""Assets as documents, on SQLite and PostgreSQL: as they are, as a run found them, and how they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import delete

from crawler.catalogue.assets import AssetStatus
from crawler.db.models import AssetSighting
from crawler.errors import NotFoundError
from crawler.views import assets
from crawler.views.paging import Wanted
from tests.unit.views.rows import THEN, a_run, a_sighting, a_version, an_asset

if TYPE_CHECKING:
    from crawler.db.engine import Database


@pytest.fixture
def runs(database: Database) -> tuple[int, int]:
    """Two runs: the second finds one thing changed, one gone, and one new."""
    with database.write() as db:
        first, second = a_run(), a_run()
        db.add_all([first, second])
        db.flush()
        a = an_asset(second.id, "a")
        b = an_asset(first.id, "b", missing_since=THEN)
        c = an_asset(second.id, "c")
        for asset in (a, b, c):
            db.add(asset)
            db.flush()
        db.add_all([a_sighting(first.id, a.id, "new"), a_sighting(first.id, b.id, "new")])
        db.add_all(
            a_sighting(second.id, each.id, how) for each, how in ((a, "updated"), (b, "missing"), (c, "new"))
        )
        return first.id, second.id


def test_assets_are_listed_as_a_run_found_them(database: Database, runs: tuple[int, int]) -> None:
    """Or as they are now; those that came last first."""
    first, second = runs

    def listed(limit: int = 9, **which: Any) -> dict[str, str | None]:
        with database.read() as db:
            return {each.key: each.status for each in assets.newest(db, Wanted(limit=limit), **which)}

    assert list(listed()) == ["c", "b", "a"]
    assert listed() == listed(run_id=second) == {"a": "updated", "b": "missing", "c": "new"}
    assert listed(run_id=first) == {"a": "new", "b": "new"}
    assert listed(status=AssetStatus.MISSING) == {"b": "missing"}
    assert listed(status=AssetStatus.NEW) == listed(limit=1) == {"c": "new"}
    assert listed(run_id=first, status=AssetStatus.NEW, limit=1).keys() < {"a", "b"}
    assert listed(source="shop") == listed()
    assert listed(source="other") == listed(run_id=999) == {}
    with database.write() as db:
        db.execute(delete(AssetSighting).where(AssetSighting.run_id == second))
    assert listed() == {"a": None, "b": "missing", "c": None}


def test_the_history_of_an_asset_is_in_its_order(database: Database) -> None:
    """The newest so many versions, each with what changed in it, the first of them as well."""
    with database.write() as db:
        run = a_run()
        db.add(run)
        db.flush()
        asset = an_asset(run.id, "a")
        db.add(asset)
        db.flush()
        db.add_all(a_version(asset.id, number, {"price": number}) for number in (1, 2, 3))
    with database.read() as db:
        whole, short = (assets.history(db, asset.id, limit) for limit in (9, 2))
        for wrong in (0, -1, asset.id + 1, 2**70):
            with pytest.raises(NotFoundError, match="there is no asset"):
                assets.history(db, wrong, 9)
    assert (whole.id, whole.key) == (asset.id, "a")
    assert [version.number for version in whole.history] == [1, 2, 3]
    assert [len(version.changes) for version in whole.history] == [0, 1, 1]
    assert short.history == whole.history[1:]
    [change] = whole.history[1].changes
    assert (change.path, change.kind, change.before, change.after) == ("price", "changed", 1, 2)
