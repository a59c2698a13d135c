"""`vitrine diff` and `vitrine changes`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.db.engine import Database
from crawler.db.models import Page, Snapshot
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Done, Vitrine

    Command = Callable[..., Done]

PAGE = "<html lang=en><title>Shoes</title><h1>Shoes</h1><p>Red shoes of leather.<h2>Price</h2><p>{}<p>{}"


@pytest.fixture
def command(vitrine: Vitrine, sqlite_database: str, tmp_path: Path) -> Command:
    """Runs `vitrine` where a page was captured on three days, and another page on one."""
    database, blobs = Database(sqlite_database), FolderStore(tmp_path / "kept")
    for number, price in enumerate(("10 EUR", "12 EUR [b]", "12 EUR [b]"), 1):
        keep(database, blobs, PAGE.format(price, "In stock") + f"<!-- {number} -->", SHOP, at=day(number))
        index_pages(database, blobs)
    keep(database, blobs, PAGE.format("9 EUR", "Gone"), f"{SHOP}other", at=day(1))
    keep(database, blobs, b"%PDF-1.4", SHOP, at=day(5))
    index_pages(database, blobs)
    database.close()
    return lambda *given, **more: vitrine(*given, DATABASE_URL=sqlite_database, ARTIFACTS_DIR="kept", **more)


def test_a_diff(command: Command) -> None:
    """For programs and for people; its exit code says whether anything differs."""
    done = command("diff", "1", "2", "--json")
    assert done.code == 3
    found = done.document
    assert (found["from"]["id"], found["to"]["id"]) == (1, 2)
    assert (found["change_type"], found["added_lines"], found["removed_lines"]) == ("updated", 1, 1)
    assert found["is_coarse"] is False
    assert found["facts"] == []
    [section] = found["sections"]
    assert (section["heading"], section["change"]) == ("Price", "changed")
    assert [line["text"] for line in section["lines"] if line["change"] != "same"] == ["10 EUR", "12 EUR [b]"]
    shown = command("diff", "1", "2")
    assert "- 10 EUR" in shown.out
    assert "+ 12 EUR [b]" in shown.out
    same = command("diff", "2", "3", "--json")
    assert (same.code, same.document["change_type"], same.document["sections"]) == (0, "unchanged", [])


@pytest.mark.parametrize(("is_pdp", "shown"), [(True, ["price"]), (False, [])])
def test_facts_are_those_of_products(
    command: Command, sqlite_database: str, *, is_pdp: bool, shown: list[str]
) -> None:
    """What is read in a list of products is nobody's price."""
    database = Database(sqlite_database)
    with database.write() as db:
        pages = [db.get_one(Page, db.get_one(Snapshot, number).page_id) for number in (1, 2)]
        for page, price in zip(pages, ("10.00", "12.00"), strict=True):
            page.facts, page.verdict = {"price": price}, {"is_pdp": is_pdp}
    database.close()
    assert [each["name"] for each in command("diff", "1", "2", "--json").document["facts"]] == shown


def test_what_cannot_be_compared(command: Command) -> None:
    """Two pages, or one without a text; nothing that is not there."""
    numbers = [hit["id"] for hit in command("search", "url:other", "--json").document["results"]]
    done = command("diff", "1", str(numbers[0]))
    assert (done.code, "of different pages" in done.err) == (1, True)
    command("changes", "compute")
    bare = command("changes", "list", "--from", "2026-05-05", "--json").document["changes"]
    done = command("diff", "1", str(bare[0]["to_snapshot_id"]))
    assert (done.code, "there is no text of snapshot" in done.err) == (1, True)
    assert command("diff", "1", "999").code == 1


def test_changes(command: Command) -> None:
    """Computed once, listed the newest first, and only those where something differs."""
    assert "vitrine changes compute" in command("changes", "list").err
    dry = command("changes", "compute", "--dry-run", "--json").document
    assert (dry["computed"], dry["dry_run"]) == (5, True)
    assert command("changes", "compute", "--json").document["computed"] == 5
    assert command("changes", "compute", "--json").document["computed"] == 0
    listed = command("changes", "list", "--json").document
    assert (listed["total"], listed["enabled"]) == (4, True)
    kinds = [each["change_type"] for each in listed["changes"]]
    assert sorted(kinds) == ["new_page", "new_page", "updated", "updated"]
    times = [each["to_capture_timestamp"] for each in listed["changes"]]
    assert times == sorted(times, reverse=True)
    assert command("changes", "list", "--include-unchanged", "--json").document["total"] == 5
    assert command("changes", "list", "--to", "2026-05-01", "--json").document["total"] == 2
    assert command("changes", "list", "--from", "2027-01-01", "--fail-empty").code == 4
    assert command("changes", "list", "--source", "other").code == 1
    assert command("changes", "list", "--from", "tomorrow").code == 2
    assert "1 section changed" in command("changes", "list", "--to", "2026-05-03").out


def test_changes_that_are_switched_off(command: Command) -> None:
    """Are neither made nor shown; two captures can still be compared."""
    off = {"CHANGE_TRACKING_ENABLED": "false"}
    assert command("changes", "compute", **off).code == 2
    assert command("changes", "list", "--json", **off).document["enabled"] is False
    assert command("diff", "1", "2", **off).code == 3
