"""One pass of the cleanup, on both databases."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crawler.clock import utc_now
from crawler.evidence.blobs import StoreUnavailableError
from crawler.evidence.folder_store import FolderStore
from crawler.retention import cleanup
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from crawler.retention.plan import CleanupResult
from crawler.retention.policies import DEFAULT_DAYS
from tests.integration.retention.shelf import DAY, PACKED, RetainedTable, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.evidence.blobs import Removal

SIZE = len(PACKED.data)


def run(shelf: RetainedTable, **order: Any) -> CleanupResult:
    """One pass, over the artifacts unless told otherwise."""
    return clean_up(shelf.database, shelf.blobs, CleanupOrder(**{"only": Part.ARTIFACTS, **order}))


def test_what_is_past_its_date_goes(shelf: RetainedTable) -> None:
    """File and mark, by the database's clock; the rest stays (SPEC B42-45)."""
    old = shelf.add("a/html.gz")
    shelf.add("b/html.gz", age=-DAY)
    shelf.add("c/html.gz", legal_hold=True)
    shelf.add("d/features.json", type="features_json", retention_until=None)
    before = utc_now()
    result = run(shelf)
    assert result == CleanupResult(candidates=1, deleted=1, reclaimed_bytes=SIZE)
    assert shelf.deleted() == {old}
    assert shelf.files() == {"b/html.gz", "c/html.gz", "d/features.json"}
    assert not (shelf.root / "a").exists()
    marked = shelf.rows()[old].deleted_at
    assert marked is not None
    assert abs(marked - before) < timedelta(minutes=1)
    assert shelf.rows()[old].cleanup_claim is None


def test_oldest_first_up_to_the_batch(shelf: RetainedTable) -> None:
    """A pass takes one batch; what it leaves is counted (SPEC B44, B48)."""
    ids = [shelf.add(f"{day}/html.gz", age=day * DAY) for day in (1, 3, 2)]
    result = run(shelf, batch_size=2)
    assert (result.candidates, result.deleted, result.remaining) == (2, 2, 1)
    assert shelf.deleted() == {ids[1], ids[2]}


def test_dry_run_changes_nothing(shelf: RetainedTable, caplog: pytest.LogCaptureFixture) -> None:
    """Candidates are logged and counted apart from deletions (SPEC B47, B54)."""
    key = shelf.add("a/html.gz")
    shelf.add("b/html.gz", age=DAY / 2)
    before = {name: vars(found).copy() for name, found in shelf.rows().items()}
    with caplog.at_level(logging.INFO, "crawler.retention"):
        result = run(shelf, dry_run=True, batch_size=1)
    assert result == CleanupResult(candidates=1, remaining=2, dry_run=True)
    assert shelf.files() == {"a/html.gz", "b/html.gz"}
    after = {name: vars(found).copy() for name, found in shelf.rows().items()}
    for fields in (*before.values(), *after.values()):
        fields.pop("_sa_instance_state")
    assert after == before
    [candidate] = [entry for entry in caplog.records if entry.message == "retention_cleanup.candidate"]
    assert vars(candidate)["fields"] == {
        "artifact_id": str(key), "session_id": str(shelf.session_id), "storage_uri": "a/html.gz",
        "size_bytes": SIZE, "dry_run": True,
    }  # fmt: skip


def test_events_are_the_documented_ones(shelf: RetainedTable, caplog: pytest.LogCaptureFixture) -> None:
    """Start, deleted, failed and complete with their fields (SPEC B53)."""
    shelf.add("a/html.gz")
    shelf.add("../outside.gz", file=False)
    with caplog.at_level(logging.INFO, "crawler.retention"):
        run(shelf, batch_size=7)
    events = {
        entry.message.removeprefix("retention_cleanup."): vars(entry)["fields"] for entry in caplog.records
    }
    assert list(events) == ["start", "failed", "deleted", "complete"]
    assert events["start"] == {"batch_size": 7, "dry_run": False}
    assert events["deleted"]["storage_uri"] == "a/html.gz"
    assert events["failed"]["reason"] == "unsafe_path"
    assert events["failed"]["error_type"] == "UnsafePathError"
    assert events["complete"] == {
        "deleted": 1, "failed": 1, "reclaimed_bytes": SIZE, "reclaimed_mb": 0.0, "dry_run": False,
    }  # fmt: skip


def test_missing_file_is_a_success(shelf: RetainedTable) -> None:
    """What is gone is marked; nothing was reclaimed (SPEC B52)."""
    key = shelf.add("gone/html.gz", file=False)
    assert run(shelf) == CleanupResult(candidates=1, deleted=1)
    assert shelf.deleted() == {key}


def test_store_that_is_away_marks_nothing(shelf: RetainedTable) -> None:
    """A volume that is not mounted is not a folder whose files are gone."""
    shelf.add("a/html.gz")
    away = FolderStore(shelf.root.parent / "not-mounted")
    with pytest.raises(StoreUnavailableError):
        clean_up(shelf.database, away, CleanupOrder())
    [found] = shelf.rows().values()
    assert (found.deleted_at, found.cleanup_claim, found.cleanup_attempts) == (None, None, 0)


def test_failing_rows_do_not_block_those_behind(shelf: RetainedTable) -> None:
    """Each pass after the first works on good rows alone, until the failed ones have rested."""
    bad = {shelf.add(f"../{number}", file=False, age=2 * DAY) for number in range(5)}
    good = {shelf.add(f"{number}/html.gz") for number in range(10)}
    first = run(shelf, batch_size=5)
    assert (first.deleted, first.failed, first.remaining) == (0, 5, 15)
    second, third, fourth = (run(shelf, batch_size=5) for _ in range(3))
    assert [(each.deleted, each.failed) for each in (second, third, fourth)] == [(5, 0), (5, 0), (0, 0)]
    assert fourth.remaining == 5
    assert shelf.deleted() == good
    shelf.let_pauses_end()
    assert run(shelf).failed == 5
    assert {found.cleanup_attempts for key, found in shelf.rows().items() if key in bad} == {2}


def test_pause_grows_with_each_failure(shelf: RetainedTable) -> None:
    """Ten minutes after the first, twenty after the second."""
    key = shelf.add("../x", file=False)
    for pause in (timedelta(minutes=10), timedelta(minutes=20)):
        run(shelf)
        until = shelf.rows()[key].cleanup_next
        assert until is not None
        assert abs(until - utc_now() - pause) < timedelta(minutes=1)
        shelf.let_pauses_end()


def test_failed_rows_come_last(shelf: RetainedTable) -> None:
    """A failed row with the oldest date waits behind those that never failed."""
    shelf.add("old/html.gz", age=9 * DAY, cleanup_attempts=1, cleanup_next=utc_now() - DAY)
    fresh = shelf.add("new/html.gz")
    run(shelf, batch_size=1)
    assert shelf.deleted() == {fresh}


def test_file_that_another_row_needs_stays(shelf: RetainedTable) -> None:
    """The expired row is marked, the file goes with the last row that names it."""
    expired = shelf.add("same/html.gz")
    living = shelf.add("same/html.gz", age=-DAY)
    assert run(shelf) == CleanupResult(candidates=1, deleted=1)
    assert shelf.deleted() == {expired}
    assert shelf.files() == {"same/html.gz"}
    shelf.change(living, retention_until=utc_now() - DAY)
    assert run(shelf) == CleanupResult(candidates=1, deleted=1, reclaimed_bytes=SIZE)
    assert shelf.files() == set()


def test_rows_that_share_a_file_go_together(shelf: RetainedTable) -> None:
    """Two expired rows, one file: two marks, and its bytes are counted once."""
    shelf.add("same/html.gz")
    shelf.add("same/html.gz", age=2 * DAY)
    assert run(shelf) == CleanupResult(candidates=2, deleted=2, reclaimed_bytes=SIZE)
    assert shelf.files() == set()


def test_two_batches_that_share_a_file(shelf: RetainedTable) -> None:
    """The first batch leaves the file to the row in the second."""
    shelf.add("same/html.gz")
    shelf.add("same/html.gz", age=2 * DAY)
    assert run(shelf, batch_size=1).reclaimed_bytes == 0
    assert shelf.files() == {"same/html.gz"}
    assert run(shelf, batch_size=1).reclaimed_bytes == SIZE
    assert shelf.files() == set()


def test_backlog_is_worked_off_in_the_time_given(shelf: RetainedTable) -> None:
    """With max_seconds one pass takes batch after batch; without time it still takes a claim."""
    shelf.add_rows(row(shelf.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(25))
    assert run(shelf, batch_size=10, max_seconds=0).deleted == 10
    assert run(shelf, batch_size=4, max_seconds=60).deleted == 15


def test_large_batch_is_claimed_in_parts(shelf: RetainedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch larger than a claim is one pass all the same."""
    monkeypatch.setattr(cleanup, "CLAIM_ROWS", 4)
    shelf.add_rows(row(shelf.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(25))
    result = run(shelf, batch_size=10)
    assert (result.candidates, result.deleted, result.remaining) == (10, 10, 15)


def test_collections_alone_touch_no_artifact(shelf: RetainedTable) -> None:
    """`--only collections` leaves expired files where they are."""
    shelf.add("a/html.gz")
    result = run(shelf, only=Part.COLLECTIONS)
    assert (result.candidates, result.deleted, result.remaining) == (0, 0, 0)
    assert [each["collection"] for each in result.collections] == list(DEFAULT_DAYS)
    assert shelf.files() == {"a/html.gz"}


def test_claimed_row_is_left_to_its_cleaner(shelf: RetainedTable) -> None:
    """Another machine's claim holds until its lease is over."""
    key = shelf.add(
        "a/html.gz",
        cleanup_claim="elsewhere|boot|1|2|3#1",
        cleanup_claimed_until=utc_now() + timedelta(minutes=9),
    )
    result = run(shelf)
    assert (result.candidates, result.remaining) == (0, 1)
    shelf.let_leases_run_out()
    assert run(shelf).deleted == 1
    assert shelf.deleted() == {key}


class Meddling(FolderStore):
    """A store that lets somebody else act before each deletion."""

    def __init__(self, shelf: RetainedTable, meddle: Any) -> None:
        super().__init__(shelf.root)
        self.meddle = meddle

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Removals one by one, each after the meddling."""
        for uri in uris:
            self.meddle(uri)
            yield from super().delete_all([uri])


def test_lost_claim_is_not_counted(shelf: RetainedTable) -> None:
    """A cleaner that was overtaken leaves counting and marking to whoever has the row now."""
    key = shelf.add("a/html.gz")

    def overtaken(_: str) -> None:
        shelf.change(key, cleanup_claim="somebody-else")

    result = clean_up(shelf.database, Meddling(shelf, overtaken), CleanupOrder())
    assert (result.candidates, result.deleted, result.reclaimed_bytes) == (1, 0, 0)
    assert shelf.deleted() == set()


def test_interruption_marks_what_is_gone(shelf: RetainedTable) -> None:
    """Ctrl-C in the middle: the done is marked, the rest is given back at once."""
    for number in range(4):
        shelf.add(f"{number}/html.gz")

    def interrupted(uri: str) -> None:
        if uri == "2/html.gz":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clean_up(shelf.database, Meddling(shelf, interrupted), CleanupOrder())
    assert shelf.files() == {"2/html.gz", "3/html.gz"}
    live = [found for found in shelf.rows().values() if not found.deleted_at]
    assert {found.storage_uri for found in live} == {"2/html.gz", "3/html.gz"}
    assert {found.cleanup_claim for found in live} == {None}


def test_cleaner_stops_before_its_lease_ends(shelf: RetainedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a slow store does not get done in time is given back, not deleted under somebody else's claim."""
    monkeypatch.setattr(cleanup, "REMOVED_AT_ONCE", 1)
    monkeypatch.setattr(cleanup, "LEASE_MARGIN_SECONDS", cleanup.LEASE_SECONDS - 0.5)
    for number in range(3):
        shelf.add(f"{number}/html.gz")
    slow = Meddling(shelf, lambda _: time.sleep(0.6))
    assert clean_up(shelf.database, slow, CleanupOrder(batch_size=3)).deleted == 1
    assert shelf.files() == {"1/html.gz", "2/html.gz"}
    assert {found.cleanup_claim for found in shelf.rows().values()} == {None}
    assert run(shelf).deleted == 2


@pytest.mark.parametrize("cleaners", [2, 6])
def test_many_cleaners_count_each_row_once(
    shelf: RetainedTable, cleaners: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the interleaving, the sums are exact."""
    monkeypatch.setattr(cleanup, "CLAIM_ROWS", 7)
    shelf.add_rows(row(shelf.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(200))
    for number in range(200):
        shelf.write(f"{number}/html.gz")
    results: list[CleanupResult] = []

    def work() -> None:
        results.append(run(shelf, batch_size=20, max_seconds=60))

    threads = [threading.Thread(target=work) for _ in range(cleaners)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while (rest := run(shelf, batch_size=200)).candidates:
        results.append(rest)
    assert sum(each.deleted for each in results) == 200
    assert sum(each.candidates for each in results) == 200
    assert sum(each.reclaimed_bytes for each in results) == 200 * SIZE
    assert shelf.files() == set()
