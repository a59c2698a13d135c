"""`unchanged` means that a reader would see the same; each capture is compared with the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, select, update

from crawler.archive import changes
from crawler.archive.changes import ChangesOrder, compute_changes
from crawler.db.models import Snapshot, SnapshotChange
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


def test_a_capture_that_comes_or_goes_in_between(database: Database, blobs: FolderStore) -> None:
    """The one behind it is compared anew, with its new neighbour."""
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
    with database.write() as db:  # as a purge does it
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


PAGE_10, PDF = PAGE.format("10 EUR"), "%PDF-1.4 "
NO_DIFF = "Content updated (diff unavailable for non-HTML capture)."


@pytest.mark.parametrize(
    ("captures", "told"),
    [
        # a server's failure is no change, and no neighbour
        ([(PAGE_10, 200), ("<title>Down</title><p>Try later", 503), (PAGE_10 + " ", 200)],
         [("unchanged", "No text changes detected (identical text).")]),
        # another title is a change, though no line differs
        ([(PAGE_10, 200), (PAGE_10.replace("<title>Shoes", "<title>Sale"), 200)],
         [("updated", "Archived text updated")]),
        # what has no text differs by its bytes
        ([(PDF + "one", 200), (PDF + "other", 200), (PDF + "other", 200)],
         [("updated", NO_DIFF), ("unchanged", "No text changes detected (identical content hash).")]),
    ],
    ids=["failure", "title", "no text"],
)  # fmt: skip
def test_what_is_told_of_a_change(
    database: Database, blobs: FolderStore, captures: list[tuple[str, int]], told: list[tuple[str, str]]
) -> None:
    """Beside another page of the same days, which says nothing of this one."""
    for number, (page, status) in enumerate(captures, 1):
        keep(database, blobs, page, SHOP, at=day(number), status=status)
    keep(database, blobs, PAGE_10, f"{SHOP}?id=2", at=day(1, 11))
    index_pages(database, blobs)
    compute_changes(database, ChangesOrder())
    first, second, *others = [(each.change_type, each.summary) for each in events(database)]
    assert (first[0], second[0], others) == ("new_page", "new_page", told)


def test_a_pass_that_is_interrupted_goes_on(
    database: Database, blobs: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written stays, and nothing is done twice, unless all of it is wanted again: no id changes."""
    monkeypatch.setattr(changes, "BATCH", 2)
    for number in range(1, 8):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)
    left = iter([True, True, False])
    assert compute_changes(database, ChangesOrder(), keep_on=lambda: next(left)).computed == 4
    done = [
        compute_changes(database, order).computed for order in (ChangesOrder(most=1), *[ChangesOrder()] * 2)
    ]
    assert (done, kinds(database)) == ([1, 2, 0], ["new_page", *["updated"] * 6])
    before = [each.id for each in events(database)]
    assert compute_changes(database, ChangesOrder(again=True)).computed == 7
    assert [each.id for each in events(database)] == before


def test_a_dry_run_writes_nothing(database: Database, blobs: FolderStore) -> None:
    """And says what it would find; an unknown source is an error."""
    keep(database, blobs, PAGE.format(1), SHOP, at=day(1))
    index_pages(database, blobs)
    assert compute_changes(database, ChangesOrder(source="SHOP.example"), dry_run=True).new_page == 1
    assert events(database) == []
    with pytest.raises(NotFoundError):
        compute_changes(database, ChangesOrder(source="other"))


def test_two_texts_that_cannot_be_compared_cost_themselves(
    database: Database, blobs: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass goes on, and the change names the error."""
    for number in (1, 2, 3):
        keep(database, blobs, PAGE.format(number), SHOP, at=day(number))
    index_pages(database, blobs)

    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(changes, "compared", broken)
    assert compute_changes(database, ChangesOrder()).error == 2
    assert events(database)[1].error_message == "RecursionError"
