"""A batch of read pages is written once, keeps its ids, and leaves nothing behind that nobody has."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import select

from crawler.archive.sites import NO_SITES
from crawler.archive.writing import (
    hide_repeats,
    no_content,
    status_class,
    write,
)
from crawler.db.models import PageGroup, RegisteredSource, Snapshot, Text
from tests.unit.archive.written import NOON, SHOP, a_page, content, index, write_all

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database

HOUR = timedelta(hours=1)


def snapshots(database: Database) -> list[Snapshot]:
    """All of them, the earliest first."""
    with database.read() as db:
        return list(db.scalars(select(Snapshot).order_by(Snapshot.captured_at, Snapshot.id)))


def count(database: Database, table: type) -> int:
    """How many rows there are."""
    with database.read() as db:
        return len(db.scalars(select(table)).all())


@pytest.mark.parametrize(
    ("status", "order"), [(None, 0), (200, 2), (299, 2), (301, 1), (404, -1), (500, -1), (0, -1)]
)
def test_the_order_of_answers(status: int | None, order: int) -> None:
    """2xx, then 3xx, then unknown, then the rest."""
    assert status_class(status) == order


def test_a_page_that_is_read_again_keeps_its_id(database: Database) -> None:
    """It says what it says now; the text and the group that nobody has any more are gone."""
    [first] = index(database, {})
    before = snapshots(database)[0].id
    with database.write() as db:
        write_all(db, [evolve(first, url=f"{SHOP}moved", content=content("Blue", "rubber"))])
    [row] = snapshots(database)
    assert (row.id, row.url, row.title, row.find_title) == (before, f"{SHOP}moved", "Blue", "blue")
    assert (count(database, Text), count(database, PageGroup)) == (1, 1)


def test_what_another_way_of_indexing_knows_is_not_forgotten(database: Database) -> None:
    """A pass that knows of no job leaves the job that was named."""
    with database.write() as db:
        page = a_page(db)
        write_all(db, [evolve(page, job_id=None)])
    with database.write() as db:
        write(db, [page])
        write(db, [])
    assert len(snapshots(database)) == 1


def test_the_same_text_is_stored_once(database: Database) -> None:
    """Within a batch and between batches; a page without one has none."""
    same = content("Red", "leather")
    index(database, {"content": same}, {"url": f"{SHOP}b", "content": same})
    index(
        database, {"url": f"{SHOP}c", "content": same}, {"url": f"{SHOP}d", "content": no_content("too_deep")}
    )
    rows = {row.url.removeprefix(SHOP): row for row in snapshots(database)}
    assert count(database, Text) == 1
    assert rows[""].text_id == rows["b"].text_id == rows["c"].text_id is not None
    assert (rows["d"].text_id, rows["d"].problem) == (None, "too_deep")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_one_day_the_newest_that_says_the_same_is_shown(
    database: Database, order: tuple[int, ...]
) -> None:
    """In whatever order they come; of the next day, one more is shown."""
    times: list[datetime] = [NOON, NOON + HOUR, NOON + 13 * HOUR]
    for each in order:
        index(database, {"at": times[each], "content_hash": "same"})
    index(database, {"at": NOON + HOUR / 2, "content_hash": "other"})
    hidden = [row.captured_at for row in snapshots(database) if row.deduplicated]
    assert hidden == [NOON]


def test_of_two_of_one_moment_one_is_shown(database: Database) -> None:
    """The one that was written last; asking again changes nothing."""
    index(database, {"content_hash": "same"}, {"content_hash": "same"})
    assert [row.deduplicated for row in snapshots(database)] == [True, False]
    with database.write() as db:
        groups = list(db.scalars(select(PageGroup.id)))
        assert hide_repeats(db, groups) == 0


def test_the_newest_of_a_batch_says_where_a_page_leads(database: Database) -> None:
    """Not one that failed, nor one that has no text."""
    index(
        database,
        {"at": NOON, "content": content("Red", links=(f"{SHOP}old",))},
        {"at": NOON + HOUR, "content": content("Red", links=(f"{SHOP}a", f"{SHOP}b"))},
        {"at": NOON + 2 * HOUR, "content": content("Oh", links=(SHOP + "x",)), "status_code": 500},
        {"at": NOON + 3 * HOUR, "content": no_content("empty_page")},
    )
    with database.read() as db:
        [group] = db.scalars(select(PageGroup))
    assert (group.outlink_count, group.links_at) == (2, NOON + HOUR)


def test_a_domain_is_registered_once(database: Database) -> None:
    """Whoever comes first."""
    with database.write() as db:
        assert NO_SITES.id_of(db, "shop.example") == NO_SITES.id_of(db, "shop.example")
        assert NO_SITES.id_of(db, "other.example") != NO_SITES.id_of(db, "shop.example")
    assert count(database, RegisteredSource) == 2
