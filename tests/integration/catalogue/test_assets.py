"""Assets on both databases: what is new, changed or gone, also with several writers of one run at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from crawler.catalogue import assets
from crawler.catalogue.assets import Sight
from crawler.catalogue.plugins import AssetRecord
from crawler.clock import utc_now
from crawler.db.engine import Database
from crawler.db.models import Asset, AssetSighting, AssetVersion, Run
from crawler.views.runs import assets_found as counts
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE = "shop"
NOW = utc_now().replace(microsecond=0)
HOUR = timedelta(hours=1)
AT_ONCE = 4


def record(key: str, content: object = 1, **fields: Any) -> AssetRecord:
    """An asset of this key with this content."""
    url = f"https://shop.example/{key}"
    return AssetRecord(**{"kind": "page", "key": key, "url": url, "content": {"is": content}, **fields})


def run(database: Database, source: str = SOURCE) -> int:
    """A run of a source."""
    with database.write() as db:
        row = Run(source=source, plan={}, created_at=NOW)
        db.add(row)
        db.flush()
        return row.id


def see(
    database: Database, run_id: int, *records: AssetRecord, plugin: str = "page", **given: Any
) -> list[str]:
    """Write what one page shows; the statuses in the order of the keys' digests."""
    with database.write() as db:
        sight = Sight(**{"page_id": None, "now": NOW, "run_id": run_id, "source": SOURCE, **given})
        seen = assets.see(db, sight, [(plugin, r) for r in records])
    return [each.status.value for each in seen]


def rows(database: Database, table: Any, *order: Any) -> Sequence[Any]:
    """All rows of a table."""
    with database.read() as db:
        return db.scalars(select(table).order_by(*order or table.__mapper__.primary_key)).all()


def sightings(database: Database, run_id: int) -> dict[str, str]:
    """What a run found, by the assets' keys."""
    with database.read() as db:
        query = select(Asset.key, AssetSighting.status).join(Asset, Asset.id == AssetSighting.asset_id)
        return {row.key: row.status for row in db.execute(query.where(AssetSighting.run_id == run_id))}


def test_an_asset_is_new_then_unchanged_then_updated(database: Database) -> None:
    """A version for each change, an asset that knows its newest, a sighting for each run."""
    page_id = uuid4()
    runs = [run(database) for _ in range(3)]
    first = record("a", title="A", details={"seen": 1})
    assert see(database, runs[0], first, page_id=page_id) == ["new"]
    assert see(database, runs[1], record("a", title="B", details={"seen": 2}), now=NOW + HOUR) == [
        "unchanged"
    ]
    assert see(database, runs[2], record("a", 2), now=NOW + 2 * HOUR) == ["updated"]
    [asset] = rows(database, Asset)
    assert (asset.versions, asset.checksum, asset.title) == (2, record("a", 2).checksum, None)
    assert (asset.first_seen_at, asset.last_seen_at) == (NOW, NOW + 2 * HOUR)
    assert (asset.last_run_id, asset.missing_since, asset.url) == (runs[2], None, "https://shop.example/a")
    one, two = rows(database, AssetVersion)
    assert (one.number, one.content, one.details, one.page_id) == (1, {"is": 1}, {"seen": 1}, page_id)
    assert (one.run_id, one.seen_at, one.checksum) == (runs[0], NOW, first.checksum)
    assert (two.number, two.content, two.run_id, two.page_id) == (2, {"is": 2}, runs[2], None)
    assert [sightings(database, each)["a"] for each in runs] == ["new", "unchanged", "updated"]


def test_an_asset_belongs_to_its_source_and_plugin(database: Database) -> None:
    """Neither shares a key with another."""
    mine, theirs = run(database), run(database, "other")
    assert see(database, mine, record("a")) == ["new"]
    assert see(database, mine, record("a"), plugin="product") == ["new"]
    assert see(database, theirs, record("a"), source="other") == ["new"]
    assert len(rows(database, Asset)) == 3


@pytest.mark.parametrize(
    ("contents", "status", "versions"),
    [
        ([1, 1], "new", 1),
        ([1, 2], "new", 2),
        ([0, 0], "unchanged", 1),
        ([0, 1, 1], "updated", 2),
        ([1, 1, 2], "new", 2),
        ([1, 2, 1], "new", 3),
    ],
)
def test_what_a_run_found_first_stays(
    database: Database, contents: list[int], status: str, versions: int
) -> None:
    """Seen again in the same run it is no less new; a change is told whenever it comes."""
    if contents[0] == 0:
        see(database, run(database), record("a", 0))
    now = run(database)
    for content in contents:
        see(database, now, record("a", content))
    assert sightings(database, now) == {"a": status}
    assert rows(database, Asset)[0].versions == len(rows(database, AssetVersion)) == versions


def test_a_page_that_is_taken_back_leaves_nothing(database: Database) -> None:
    """Its number of versions is as before, and the next page counts on from there."""
    first, second = run(database), run(database)
    see(database, first, record("a", 1))
    with database.write() as db:
        savepoint = db.begin_nested()
        assets.see(db, Sight(None, NOW, second, SOURCE), [("page", record("a", 2))])
        savepoint.rollback()
    assert sightings(database, second) == {}
    assert see(database, second, record("a", 3)) == ["updated"]
    assert [version.content["is"] for version in rows(database, AssetVersion)] == [1, 3]


def test_what_a_run_does_not_see_is_missing(database: Database) -> None:
    """Since the first run that missed it; told once, and until it is seen again."""
    runs = [run(database) for _ in range(4)]
    see(database, runs[0], record("a"), record("b"), record("c"))
    see(database, runs[1], record("a"))
    ids = {asset.key: asset.id for asset in rows(database, Asset)}
    with database.write() as db:
        gone = assets.mark_missing(db, SOURCE, runs[1], NOW)
    assert set(gone) == {(ids[key], "page", f"https://shop.example/{key}") for key in "bc"}
    assert sightings(database, runs[1]) == {"a": "unchanged", "b": "missing", "c": "missing"}
    see(database, runs[2], record("a"), record("b"))
    with database.write() as db:
        assert assets.mark_missing(db, SOURCE, runs[2], NOW + HOUR) == []
        assert assets.mark_missing(db, SOURCE, runs[2], NOW + HOUR) == []
    assert sightings(database, runs[2]) == {"a": "unchanged", "b": "unchanged", "c": "missing"}
    since = {asset.key: asset.missing_since for asset in rows(database, Asset)}
    assert since == {"a": None, "b": None, "c": NOW}
    see(database, runs[3], record("c", 2))
    assert {asset.key: asset.missing_since for asset in rows(database, Asset)}["c"] is None
    assert sightings(database, runs[3]) == {"c": "updated"}


def test_only_what_a_run_could_have_seen_is_missing(database: Database) -> None:
    """Not another source's, not what a later run has seen, not what a plugin made that was not asked."""
    early, late = run(database), run(database)
    see(database, run(database, "other"), record("a"), source="other")
    see(database, early, record("a"), record("b"))
    see(database, early, record("a"), plugin="headings")
    see(database, late, record("b"))
    see(database, early, record("b"))
    with database.write() as db:
        assert assets.mark_missing(db, SOURCE, early, NOW) == []
        gone = assets.mark_missing(db, SOURCE, late, NOW, plugins={"page", "product"})
        assert [plugin for _, plugin, _ in gone] == ["page"]
        assert [plugin for _, plugin, _ in assets.mark_missing(db, SOURCE, late, NOW)] == ["headings"]
    assert sightings(database, early) == {"a": "new", "b": "new"}


def test_counts_are_by_plugin(database: Database) -> None:
    """Each with every status, so that none has to be guessed."""
    first, second = run(database), run(database)
    see(database, first, record("a"), record("b"), record("c"))
    see(database, second, record("a"), record("b", 2), record("d"))
    see(database, second, record("a"), plugin="product")
    with database.write() as db:
        assets.mark_missing(db, SOURCE, second, NOW)
        assert counts(db, second) == {
            "page": {"new": 1, "updated": 1, "unchanged": 1, "missing": 1},
            "product": {"new": 1, "updated": 0, "unchanged": 0, "missing": 0},
        }
        assert counts(db, 999) == {}


def test_writers_at_once_make_no_version_twice(database: Database) -> None:
    """Several processes of one run see the same things; each change is one version, and none is lost."""
    first, second = run(database), run(database)
    see(database, first, *(record(f"k{number}") for number in range(40)))
    barrier = threading.Barrier(AT_ONCE)

    def write(writer: int) -> list[list[str]]:
        barrier.wait()
        found = []
        for page in range(10):
            keys = [f"k{number}" for number in range(page * 4, page * 4 + 4)] + [f"new{page}"]
            # Each writer in another order, as their pages have it.
            turned = keys[writer:] + keys[:writer]
            found.append(see(database, second, *(record(key, 2) for key in turned)))
        return found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = [status for pages in pool.map(write, range(AT_ONCE)) for page in pages for status in page]
    assert (told.count("updated"), told.count("new")) == (40, 10)
    assert told.count("unchanged") == AT_ONCE * 50 - 50
    assert [asset.versions for asset in rows(database, Asset, Asset.id)] == [2] * 40 + [1] * 10
    versions = rows(database, AssetVersion)
    assert len({(version.asset_id, version.number) for version in versions}) == len(versions) == 90
    with database.read() as db:
        assert counts(db, second) == {"page": {"new": 10, "updated": 40, "unchanged": 0, "missing": 0}}


def test_transactions_that_meet_crosswise_lose_one_page(postgres_database: str) -> None:
    """PostgreSQL refuses one; rolled back to its savepoint and repeated later, it is not lost."""
    database = Database(postgres_database)
    now = run(database)
    both_begun = threading.Barrier(2)

    def write(first: str, second: str) -> int:
        refused = 0
        with database.write() as db:
            assets.see(db, Sight(None, NOW, now, SOURCE), [("page", record(first))])
            both_begun.wait(PATIENCE_SECONDS)
            try:
                with db.begin_nested():
                    assets.see(db, Sight(None, NOW, now, SOURCE), [("page", record(second))])
            except OperationalError as error:
                refused = int("deadlock detected" in str(error))
        if refused:
            see(database, now, record(second))
        return refused

    with ThreadPoolExecutor(2) as pool:
        refused = [pool.submit(write, *keys) for keys in (("a", "b"), ("b", "a"))]
        assert sum(each.result(PATIENCE_SECONDS) for each in refused) == 1
    assert sightings(database, now) == {"a": "new", "b": "new"}
    assert [asset.versions for asset in rows(database, Asset)] == [1, 1]
    database.close()


def test_one_page_says_a_thing_once(database: Database) -> None:
    """Of two records with one key the first counts."""
    assert see(database, run(database), record("a", 1), record("a", 2), record("b")) == ["new", "new"]
    assert sorted(v.content["is"] for v in rows(database, AssetVersion)) == [1, 1]
    assert see(database, run(database)) == []


def test_many_records_of_one_page_are_written_together(database: Database) -> None:
    """More than a statement has parameters for on any database."""
    now = run(database)
    many = [record(f"k{number}", number) for number in range(5000)]
    assert see(database, now, *many) == ["new"] * 5000
    assert len(rows(database, AssetVersion)) == 5000
