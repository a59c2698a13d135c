"""What changed: between any two captures of a page, and from one to the next, counted and cut."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.archive.changes import ChangesOrder, compute_changes
from crawler.archive.writing import no_content
from crawler.config import load_settings
from crawler.db.models import Snapshot
from crawler.errors import NotFoundError
from crawler.views import changes
from crawler.views.changes import FeedOrder, NotComparableError
from tests.unit.archive.written import NOON, SHOP, content, index
from tests.unit.views.rows import a_job

if TYPE_CHECKING:
    from crawler.db.engine import Database

DAY = timedelta(days=1)
SETTINGS = load_settings({"CHANGE_TRACKING_ENABLED": True, "REPLAY_BASE_URL": ""})


def numbers(database: Database) -> list[str]:
    """The snapshots by their times."""
    with database.read() as db:
        return [
            str(key) for key in db.scalars(select(Snapshot.id).order_by(Snapshot.captured_at, Snapshot.id))
        ]


@pytest.fixture
def history(database: Database) -> list[str]:
    """A page that changed, failed, and changed back; and another page."""
    red, blue = content("Red", "leather", "rubber"), content("Red", "leather", "canvas")
    index(
        database,
        {"at": NOON, "content": red, "content_hash": "1"}, {"at": NOON + DAY, "content": blue,
        "content_hash": "2"},
        {"at": NOON + 2 * DAY, "content": no_content("empty_page"), "status_code": 500, "content_hash": "3"},
        {"at": NOON + 3 * DAY, "content": red, "content_hash": "1"}, {"url": f"{SHOP}b",
        "at": NOON + 4 * DAY},
    )  # fmt: skip
    return numbers(database)


def test_two_captures(database: Database, history: list[str]) -> None:
    """What differs, either way round; the same bytes are the same; another page says nothing of this one."""
    first, second, failed, last, other = history
    with database.read() as db:
        found = changes.diff(db, SETTINGS, first, second)
        same = changes.diff(db, SETTINGS, first, last)
        for pair, why in (
            ((first, other), "different pages"),
            ((first, failed), "no text"),
            ((first, "99"), "99"),
        ):
            with pytest.raises((NotComparableError, NotFoundError), match=why):
                changes.diff(db, SETTINGS, *pair)
    assert (found.change_type, found.added_lines, found.removed_lines) == ("updated", 1, 1)
    assert found.from_snapshot.browse_url == f"/web/20260504120000/{SHOP}"
    assert (same.change_type, same.summary) == (
        "unchanged",
        "No text changes detected (identical content hash).",
    )


def test_all_captures_of_a_page(database: Database, history: list[str]) -> None:
    """A failure is no version of it: the one after it is compared with the one before."""
    first, second, failed, last, _ = history
    with database.read() as db:
        found = changes.timeline(db, SETTINGS, second)
    assert [str(each.snapshot_id) for each in found.snapshots] == [first, second, failed, last]
    compared = [each.compare_from_snapshot_id for each in found.snapshots]
    assert compared == [None, int(first), int(second), int(second)]


def test_a_capture_that_is_of_no_page_has_no_others(database: Database, history: list[str]) -> None:
    """It is not shown another page in its place."""
    with database.write() as db:
        db.execute(
            update(Snapshot).where(Snapshot.id.in_([int(history[0]), int(history[4])])).values(group_id=None)
        )
    with database.read() as db:
        for ask in (
            lambda: changes.latest(db, history[0]),
            lambda: changes.timeline(db, SETTINGS, history[0]),
        ):
            with pytest.raises(NotFoundError, match="not grouped"):
                ask()
        assert str(changes.latest(db, history[1]).id) == history[3]


def test_the_nearest_of_a_job(database: Database) -> None:
    """From either side of the time; another job's is none."""
    index(database, *({"at": NOON + n * DAY} for n in range(3)))
    with database.write() as db:
        db.add(a_job(id=7))
        db.flush()
        db.execute(update(Snapshot).values(job_id=7))
    with database.read() as db:
        for hours, day in ((-99, 0), (11, 0), (13, 1), (99, 2)):
            found = changes.nearest_of_job(db, SHOP, NOON + timedelta(hours=hours), 7)
            assert found is not None
            assert found.captured_at == NOON + day * DAY
        assert changes.nearest_of_job(db, SHOP, NOON, 8) is None
        assert changes.nearest_of_job(db, f"{SHOP}never", NOON, 7) is None


def feed(database: Database, **how: Any) -> tuple[list[str], int]:
    """The days of the changes, and how many there are."""
    with database.read() as db:
        found = changes.feed(db, SETTINGS, FeedOrder(**how))
    return [each.to_capture_timestamp.strftime("%d") for each in found.results], found.total


def test_lately(database: Database, history: list[str]) -> None:
    """The newest first; of a source, of some days, a page at a time."""
    compute_changes(database, ChangesOrder())
    everything, total = feed(database, with_unchanged=True)
    assert everything == sorted(everything, reverse=True)
    assert total == len(everything)
    first_page, same_total = feed(database, with_unchanged=True, page_size=1)
    assert (first_page, same_total) == (everything[:1], total)
    assert feed(database, with_unchanged=True, page=99) == ([], total)
    of_a_day = feed(database, with_unchanged=True, since=date(2026, 5, 5), until=date(2026, 5, 5))
    assert set(of_a_day[0]) <= {"05"}
    assert of_a_day[1] == 1
    with pytest.raises(NotFoundError, match="Source not found"):
        feed(database, source="nobody")
    with database.read() as db:
        off = changes.feed(db, load_settings({"CHANGE_TRACKING_ENABLED": False}), FeedOrder())
    assert (off.enabled, off.total) == (False, 0)


def test_another_programs_replay_has_its_own_addresses() -> None:
    """Ours are below /web/."""
    theirs = load_settings({"REPLAY_BASE_URL": "https://pywb.example/shop"})
    assert changes.browse_address(theirs, SHOP, "20260504") == f"https://pywb.example/shop/20260504/{SHOP}"
