"""`unchanged` means that a reader would see the same; each capture is compared with the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, select, update

from crawler.archive import changes
from crawler.archive.changes import ChangesOrder, compute_changes
from crawler.db.models import Snapshot, SnapshotChange, Text
from crawler.errors import NotFoundError
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

PAGE = "<html lang=en><title>Shoes</title><h1>Shoes</h1><p>Red shoes.<p>Made of leather.<h2>Price</h2><p>{}"


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the files."""
    return FolderStore(tmp_path / "artifacts")


def events(database: Database) -> list[SnapshotChange]:
    """What was written, in the order of the captures."""
    with database.read() as db:
        return list(db.scalars(select(SnapshotChange).order_by(SnapshotChange.to_captured_at)))


def kinds(database: Database) -> list[str]:
    """Of what kind the changes are."""
    return [each.change_type for each in events(database)]


def test_each_capture_is_compared_with_the_one_before(database: Database, blobs: FolderStore) -> None:
    """New, then changed where a reader sees it, then not; a token in the page is no change."""
    keep(database, blobs, PAGE.format("10 EUR"), SHOP, at=day(1))
    keep(database, blobs, PAGE.format("12 EUR"), SHOP, at=day(2))
    keep(database, blobs, PAGE.format("12 EUR") + "<input type=hidden value=token1>", SHOP, at=day(3))
    keep(database, blobs, PAGE.format("12 EUR") + "<input type=hidden value=token2>", SHOP, at=day(4))
    index_pages(database, blobs)
    result = compute_changes(database, ChangesOrder())
    assert (result.computed, result.new_page, result.updated, result.unchanged) == (4, 1, 1, 2)
    first, second, third, _ = events(database)
    assert first.summary == "First archived capture for this page."
    assert (second.added_lines, second.removed_lines, second.changed_sections) == (1, 1, 1)
    assert second.summary == "1 section changed; 0 added; 0 removed"
    assert (second.from_snapshot_id, second.from_captured_at) == (first.to_snapshot_id, day(1))
    assert third.summary == "No text changes detected (identical text)."


def test_a_second_pass_has_nothing_to_do(database: Database, blobs: FolderStore) -> None:
    """Unless it is told to do all of it again, which changes no id."""
    for number in range(1, 6):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)
    assert compute_changes(database, ChangesOrder()).computed == 5
    before = [each.id for each in events(database)]
    assert compute_changes(database, ChangesOrder()).computed == 0
    assert compute_changes(database, ChangesOrder(again=True)).computed == 5
    assert [each.id for each in events(database)] == before


def test_a_capture_that_came_in_between(database: Database, blobs: FolderStore) -> None:
    """Is the neighbour of the one behind it, which is compared anew."""
    keep(database, blobs, PAGE.format("10 EUR"), SHOP, at=day(1))
    keep(database, blobs, PAGE.format("10 EUR") + " ", SHOP, at=day(3))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    assert kinds(database) == ["new_page", "unchanged"]
    keep(database, blobs, PAGE.format("11 EUR"), SHOP, at=day(2))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    assert kinds(database) == ["new_page", "updated", "updated"]
    assert [each.from_captured_at for each in events(database)] == [None, day(1), day(2)]


def test_a_capture_that_was_purged(database: Database, blobs: FolderStore) -> None:
    """Takes what was said of it along; those beside it are neighbours then."""
    for number in (1, 2, 3):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    with database.write() as db:
        db.execute(delete(Snapshot).where(Snapshot.captured_at == day(2)))
    assert kinds(database) == ["new_page"]
    compute_changes(database, ChangesOrder())
    assert [each.from_captured_at for each in events(database)] == [None, day(1)]


def test_a_text_that_is_another_one_now(database: Database, blobs: FolderStore) -> None:
    """As after a rule that ignores more of a page: compared anew."""
    for number in (1, 2):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    assert kinds(database) == ["new_page", "updated"]
    with database.write() as db:
        first = db.scalar(select(Snapshot.text_id).where(Snapshot.captured_at == day(1)))
        db.execute(update(Snapshot).values(text_id=first))
    compute_changes(database, ChangesOrder())
    assert kinds(database) == ["new_page", "unchanged"]


def test_what_says_nothing_of_the_page(database: Database, blobs: FolderStore) -> None:
    """A server's failure is no change, and no neighbour; a page of another URL is none either."""
    keep(database, blobs, PAGE.format("10 EUR"), SHOP, at=day(1))
    keep(database, blobs, "<html><title>Down</title><p>Try again later", SHOP, at=day(2), status=503)
    keep(database, blobs, PAGE.format("10 EUR") + " ", SHOP, at=day(3))
    keep(database, blobs, PAGE.format("10 EUR"), f"{SHOP}?id=2", at=day(2))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    assert kinds(database) == ["new_page", "new_page", "unchanged"]


def test_what_has_no_text(database: Database, blobs: FolderStore) -> None:
    """Differs by its bytes; how is not told."""
    keep(database, blobs, b"%PDF-1.4 one", SHOP, at=day(1))
    keep(database, blobs, b"%PDF-1.4 other", SHOP, at=day(2))
    keep(database, blobs, b"%PDF-1.4 other", SHOP, at=day(3))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    _, changed, same = events(database)
    assert (changed.change_type, changed.high_noise, changed.added_lines) == ("updated", True, 0)
    assert changed.summary == "Content updated (diff unavailable for non-HTML capture)."
    assert (same.change_type, same.summary) == (
        "unchanged",
        "No text changes detected (identical content hash).",
    )


def test_another_title_is_a_change(database: Database, blobs: FolderStore) -> None:
    """Though no line differs."""
    keep(database, blobs, PAGE.format("10 EUR"), SHOP, at=day(1))
    keep(database, blobs, PAGE.format("10 EUR").replace("<title>Shoes", "<title>Sale"), SHOP, at=day(2))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    assert [(each.change_type, each.summary) for each in events(database)][1] == (
        "updated",
        "Archived text updated",
    )


def test_a_pass_that_is_interrupted_goes_on(
    database: Database, blobs: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written stays, and nothing is done twice."""
    monkeypatch.setattr(changes, "BATCH", 2)
    for number in range(1, 8):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)
    left = iter([True, True, False])
    assert compute_changes(database, ChangesOrder(), keep_on=lambda: next(left)).computed == 4
    assert compute_changes(database, ChangesOrder(most=1)).computed == 1
    assert compute_changes(database, ChangesOrder()).computed == 2
    assert kinds(database) == ["new_page", *["updated"] * 6]


def test_a_dry_run_writes_nothing(database: Database, blobs: FolderStore) -> None:
    """And says what it would find; an unknown source is an error."""
    keep(database, blobs, PAGE.format(1), SHOP, at=day(1))
    index_pages(database, blobs)
    assert compute_changes(database, ChangesOrder(source="SHOP.example"), dry_run=True).new_page == 1
    assert events(database) == []
    with pytest.raises(NotFoundError):
        compute_changes(database, ChangesOrder(source="other"))


def test_two_texts_that_cannot_be_compared(
    database: Database, blobs: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cost themselves, and not the pass."""
    for number in (1, 2, 3):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)
    with database.write() as db:
        db.execute(update(Text).values(headings=None))

    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(changes, "compared", broken)
    assert compute_changes(database, ChangesOrder()).error == 2
    assert events(database)[1].error_message == "RecursionError"
