"""What stands around a capture: how far it is away, its neighbours, and a calendar of any years."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.archive.lookup import Chosen, near
from crawler.db.models import Snapshot, SnapshotChange
from crawler.views.replay import apart, calendar, frame
from tests.unit.archive.written import NOON, SHOP, a_record, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        (timedelta(), ""), (timedelta(seconds=0.4), ""), (timedelta(seconds=1), "1 second later"),
        (-timedelta(seconds=59), "59 seconds earlier"), (timedelta(minutes=1), "1 minute later"),
        (timedelta(hours=25), "1 day later"), (-timedelta(days=364), "364 days earlier"),
        (timedelta(days=366), "1 year later"), (-timedelta(days=3_000), "8 years earlier"),
    ],
)  # fmt: skip
def test_how_far_two_times_are_apart(difference: timedelta, said: str) -> None:
    """In the largest unit that fits."""
    assert apart(difference) == said


def test_what_is_told_of_the_capture_that_is_shown(database: Database) -> None:
    """Where the ones beside it are shown; who is alone has none."""
    with database.write() as db:
        for number in range(3):
            a_record(db, at=NOON + number * DAY)
    with database.read() as db:
        chosen = near(db, SHOP, NOON + DAY).chosen()
        assert isinstance(chosen, Chosen)
        found = frame(db, chosen, NOON + 2 * DAY)
    assert (found.before, found.after) == (f"/web/20260504120000/{SHOP}", f"/web/20260506120000/{SHOP}")
    assert (found.away, found.snapshot_id, found.change) == ("1 day earlier", None, None)


def test_a_calendar_of_far_years(database: Database) -> None:
    """Only years with captures are listed, and the one that is looked at; nothing is counted for the rest."""
    times = (datetime(1000, 1, 1, tzinfo=UTC), NOON, NOON + DAY, datetime(9998, 12, 31, 23, tzinfo=UTC))
    with database.write() as db:
        for at in times:
            a_record(db, at=at)
    with database.read() as db:
        newest, between, early = (calendar(db, SHOP, year) for year in (None, 2000, 1))
        may = calendar(db, SHOP, 2026)
        assert calendar(db, f"{SHOP}never", None) is None
    assert newest is not None
    assert between is not None
    assert early is not None
    assert may is not None
    assert (newest.year, newest.total) == (9998, 4)
    assert list(between.counts.items()) == [(1000, 1), (2000, 0), (2026, 2), (9998, 1)]
    assert (early.year, [month.name for month in may.months]) == (1000, ["May"])
    shown = [day.number for week in may.months[0].weeks for day in week if day.captures]
    assert shown == [4, 5]


@pytest.mark.parametrize("asked", [SHOP, "http://www.shop.example/"])
def test_what_changed_is_marked_whichever_way_the_page_is_asked_for(database: Database, asked: str) -> None:
    """Its captures are those of every spelling, and so are its changes."""
    index(database, {"at": NOON}, {"at": NOON + DAY})
    with database.write() as db:
        old, new = db.scalars(select(Snapshot).order_by(Snapshot.captured_at)).all()
        counts = dict.fromkeys(
            ("added_lines", "removed_lines", "added_sections", "removed_sections", "changed_sections"), 1
        )
        db.add(
            SnapshotChange(
                source_id=new.source_id, group_id=new.group_id, from_snapshot_id=old.id,
                to_snapshot_id=new.id,
                from_captured_at=NOON, to_captured_at=NOON + DAY, change_type="updated",
                summary="One line more",
                change_ratio=0.5, high_noise=False, diff_version="1", normalization_version="1",
                computed_at=NOON, computed_by="cli", **counts,
            )
        )  # fmt: skip
    with database.read() as db:
        found = calendar(db, asked, 2026)
    assert found is not None
    assert [each.summary for each in found.differences.values()] == ["One line more"]
    assert [day.number for week in found.months[0].weeks for day in week if day.changed] == [5]
