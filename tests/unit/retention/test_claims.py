"""Rows are claimed, their files removed, and they are marked by whoever has the claim; on both databases."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from crawler.clock import utc_now
from crawler.retention import claims
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from crawler.retention.plan import CleanupResult
from tests.unit.retention.stored import DAY, PACKED, Evidence, Meddling, interrupting, row

SIZE = len(PACKED.data)
TICK = timedelta(microseconds=1)


def run(evidence: Evidence, **order: Any) -> CleanupResult:
    """One pass, over the artifacts unless told otherwise."""
    return clean_up(evidence.database, evidence.blobs, CleanupOrder(**{"only": Part.ARTIFACTS, **order}))


def test_missing_file_is_a_success(evidence: Evidence) -> None:
    """What is gone is marked; nothing was reclaimed (SPEC B52)."""
    key = evidence.add("gone/html.gz", file=False)
    assert run(evidence) == CleanupResult(candidates=1, deleted=1)
    assert evidence.deleted() == {key}


def test_failing_rows_do_not_block_those_behind(evidence: Evidence) -> None:
    """Each pass after the first works on good rows alone, until the failed ones have rested."""
    bad = {evidence.add(f"../{number}", file=False, age=2 * DAY) for number in range(5)}
    good = {evidence.add(f"{number}/html.gz") for number in range(10)}
    first = run(evidence, batch_size=5)
    assert (first.deleted, first.failed, first.remaining) == (0, 5, 15)
    second, third, fourth = (run(evidence, batch_size=5) for _ in range(3))
    assert [(each.deleted, each.failed) for each in (second, third, fourth)] == [(5, 0), (5, 0), (0, 0)]
    assert fourth.remaining == 5
    assert evidence.deleted() == good
    evidence.let_pauses_end()
    assert run(evidence).failed == 5
    assert {found.cleanup_attempts for key, found in evidence.rows().items() if key in bad} == {2}


def test_pause_grows_with_each_failure(evidence: Evidence) -> None:
    """Ten minutes after the first, twenty after the second."""
    key = evidence.add("../x", file=False)
    for pause in (timedelta(minutes=10), timedelta(minutes=20)):
        run(evidence)
        until = evidence.rows()[key].cleanup_next
        assert until is not None
        assert abs(until - utc_now() - pause) < timedelta(minutes=1)
        evidence.let_pauses_end()


def test_failed_rows_come_last(evidence: Evidence) -> None:
    """A failed row with the oldest date waits behind those that never failed."""
    evidence.add("old/html.gz", age=9 * DAY, cleanup_attempts=1, cleanup_next=utc_now() - DAY)
    fresh = evidence.add("new/html.gz")
    run(evidence, batch_size=1)
    assert evidence.deleted() == {fresh}


def test_file_that_another_row_needs_stays(evidence: Evidence) -> None:
    """The expired row is marked, the file goes with the last row that names it."""
    expired = evidence.add("same/html.gz")
    living = evidence.add("same/html.gz", age=-DAY)
    assert run(evidence) == CleanupResult(candidates=1, deleted=1)
    assert evidence.deleted() == {expired}
    assert evidence.files() == {"same/html.gz"}
    evidence.change(living, retention_until=utc_now() - DAY)
    assert run(evidence) == CleanupResult(candidates=1, deleted=1, reclaimed_bytes=SIZE)
    assert evidence.files() == set()


def test_rows_that_share_a_file_go_together(evidence: Evidence) -> None:
    """Two expired rows, one file: two marks, and its bytes are counted once."""
    evidence.add("same/html.gz")
    evidence.add("same/html.gz", age=2 * DAY)
    assert run(evidence) == CleanupResult(candidates=2, deleted=2, reclaimed_bytes=SIZE)
    assert evidence.files() == set()


def test_two_batches_that_share_a_file(evidence: Evidence) -> None:
    """The first batch leaves the file to the row in the second."""
    evidence.add("same/html.gz")
    evidence.add("same/html.gz", age=2 * DAY)
    assert run(evidence, batch_size=1).reclaimed_bytes == 0
    assert evidence.files() == {"same/html.gz"}
    assert run(evidence, batch_size=1).reclaimed_bytes == SIZE
    assert evidence.files() == set()


def test_large_batch_is_claimed_in_parts(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch larger than a claim is one pass all the same."""
    monkeypatch.setattr(claims, "CLAIM_ROWS", 4)
    evidence.add_rows(row(evidence.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(25))
    result = run(evidence, batch_size=10)
    assert (result.candidates, result.deleted, result.remaining) == (10, 10, 15)


def test_claimed_row_is_left_to_its_cleaner(evidence: Evidence) -> None:
    """Another machine's claim holds until its lease is over."""
    key = evidence.add(
        "a/html.gz",
        cleanup_claim="elsewhere|boot|1|2|3#1",
        cleanup_claimed_until=utc_now() + timedelta(minutes=9),
    )
    result = run(evidence)
    assert (result.candidates, result.remaining) == (0, 1)
    evidence.let_leases_run_out()
    assert run(evidence).deleted == 1
    assert evidence.deleted() == {key}


def test_lost_claim_is_not_counted(evidence: Evidence) -> None:
    """A cleaner that was overtaken leaves counting and marking to whoever has the row now."""
    key = evidence.add("a/html.gz")

    def overtaken(_: str) -> None:
        evidence.change(key, cleanup_claim="somebody-else")

    result = clean_up(evidence.database, Meddling(evidence, overtaken), CleanupOrder())
    assert (result.candidates, result.deleted, result.reclaimed_bytes) == (1, 0, 0)
    assert evidence.deleted() == set()


def test_interruption_marks_what_is_gone(evidence: Evidence) -> None:
    """Ctrl-C in the middle: the done is marked, the rest is given back at once."""
    store = interrupting(evidence, "2/html.gz")
    with pytest.raises(KeyboardInterrupt):
        clean_up(evidence.database, store, CleanupOrder())
    assert evidence.files() == {"2/html.gz", "3/html.gz"}
    live = [found for found in evidence.rows().values() if not found.deleted_at]
    assert {found.storage_uri for found in live} == {"2/html.gz", "3/html.gz"}
    assert {found.cleanup_claim for found in live} == {None}


def test_cleaner_stops_before_its_lease_ends(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a slow store does not get done in time is given back, not deleted under somebody else's claim."""
    monkeypatch.setattr(claims, "REMOVED_AT_ONCE", 1)
    monkeypatch.setattr(claims, "LEASE_MARGIN_SECONDS", claims.LEASE_SECONDS - 4)
    for number in range(3):
        evidence.add(f"{number}/html.gz")
    slow = Meddling(evidence, lambda _: time.sleep(4.1))
    assert clean_up(evidence.database, slow, CleanupOrder(batch_size=3)).deleted == 1
    assert evidence.files() == {"1/html.gz", "2/html.gz"}
    assert {found.cleanup_claim for found in evidence.rows().values()} == {None}
    assert run(evidence).deleted == 2


@pytest.mark.parametrize("cleaners", [2, 6])
def test_many_cleaners_count_each_row_once(
    evidence: Evidence, cleaners: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the interleaving, the sums are exact."""
    monkeypatch.setattr(claims, "CLAIM_ROWS", 7)
    evidence.add_rows(row(evidence.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(200))
    for number in range(200):
        evidence.write(f"{number}/html.gz")
    results: list[CleanupResult] = []

    def work() -> None:
        results.append(run(evidence, batch_size=20, max_seconds=60))

    threads = [threading.Thread(target=work) for _ in range(cleaners)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while (rest := run(evidence, batch_size=200)).candidates:
        results.append(rest)
    assert sum(each.deleted for each in results) == 200
    assert sum(each.candidates for each in results) == 200
    assert sum(each.reclaimed_bytes for each in results) == 200 * SIZE
    assert evidence.files() == set()


def test_a_date_that_is_now_is_not_past(evidence: Evidence) -> None:
    """Strictly before: what goes today at noon is there at noon, and due the moment after."""
    evidence.add("a.gz", age=-DAY)
    [row] = evidence.rows().values()
    assert row.retention_until is not None
    at = row.retention_until
    for now, due in ((at - TICK, 0), (at, 0), (at + TICK, 1)):
        with evidence.database.read() as db:
            assert claims.count_due(db, now) == due
            assert len(claims.candidates(db, now, 9)) == due


def test_at_its_date_a_file_stays_and_a_tick_later_it_goes(evidence: Evidence) -> None:
    """Strictly past it: what is counted, what a dry run names and what is claimed agree on that."""
    key = evidence.add("edge/html.gz")
    date = evidence.rows()[key].retention_until
    assert date is not None
    with evidence.database.write() as db:
        assert claims.count_due(db, date) == 0
        assert claims.take_expired(db, "claim", date, 10) == []
        assert claims.count_due(db, date + TICK) == 1
        assert [each.id for each in claims.take_expired(db, "claim", date + TICK, 10)] == [key]
