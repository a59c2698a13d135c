"""One pass of the cleanup, on both databases."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import AuditEntry, Hold
from crawler.evidence.blobs import StoreUnavailableError
from crawler.evidence.folder_store import FolderStore
from crawler.retention import claims
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from crawler.retention.plan import CleanupResult
from crawler.retention.policies import DEFAULT_DAYS
from tests.integration.retention.contents import contents_of
from tests.integration.retention.stored import DAY, PACKED, Evidence, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.evidence.blobs import Removal

SIZE = len(PACKED.data)


def run(evidence: Evidence, **order: Any) -> CleanupResult:
    """One pass, over the artifacts unless told otherwise."""
    return clean_up(evidence.database, evidence.blobs, CleanupOrder(**{"only": Part.ARTIFACTS, **order}))


def test_what_is_past_its_date_goes(evidence: Evidence) -> None:
    """File and mark, by the database's clock; the rest stays (SPEC B42-45)."""
    old = evidence.add("a/html.gz")
    evidence.add("b/html.gz", age=-DAY)
    evidence.add("c/html.gz", legal_hold=True)
    evidence.add("d/features.json", type="features_json", retention_until=None)
    before = utc_now()
    result = run(evidence)
    assert result == CleanupResult(candidates=1, deleted=1, reclaimed_bytes=SIZE)
    assert evidence.deleted() == {old}
    assert evidence.files() == {"b/html.gz", "c/html.gz", "d/features.json"}
    assert not (evidence.root / "a").exists()
    marked = evidence.rows()[old].deleted_at
    assert marked is not None
    assert abs(marked - before) < timedelta(minutes=1)
    assert evidence.rows()[old].cleanup_claim is None


def test_oldest_first_up_to_the_batch(evidence: Evidence) -> None:
    """A pass takes one batch; what it leaves is counted (SPEC B44, B48)."""
    ids = [evidence.add(f"{day}/html.gz", age=day * DAY) for day in (1, 3, 2)]
    result = run(evidence, batch_size=2)
    assert (result.candidates, result.deleted, result.remaining) == (2, 2, 1)
    assert evidence.deleted() == {ids[1], ids[2]}


@pytest.mark.parametrize("only", [None, *Part])
def test_a_dry_run_writes_nothing(
    evidence: Evidence, caplog: pytest.LogCaptureFixture, only: Part | None
) -> None:
    """No row of any table, no file, no line of the log; its answer is its result (SPEC B47, B54)."""
    key = evidence.add("a/html.gz")
    evidence.add("b/html.gz", age=DAY / 2)
    let_an_action_expire(evidence)
    before = contents_of(evidence.database)
    with caplog.at_level(logging.DEBUG, "crawler"):
        result = run(evidence, dry_run=True, batch_size=1, only=only)
    assert contents_of(evidence.database) == before
    assert evidence.files() == {"a/html.gz", "b/html.gz"}
    assert caplog.records == []
    if only is not Part.COLLECTIONS:
        assert (result.candidates, result.deleted, result.remaining) == (1, 0, 2)
        assert [row["artifact_id"] for row in result.artifacts] == [str(key)]
    if only is not Part.ARTIFACTS:
        [expired] = [each for each in result.collections if each["expired_docs"]]
        assert (expired["collection"], expired["deleted_docs"]) == ("audit_log", 0)


def test_a_dry_run_takes_nothing_that_is_held(evidence: Evidence) -> None:
    """What came under a hold after the last pass is not marked yet, and no candidate either."""
    evidence.add("a/html.gz")
    with evidence.database.write() as db:
        db.add(Hold(domain="shop.example", who="legal", why="case", created_at=utc_now()))
    assert run(evidence, dry_run=True).candidates == 0
    assert run(evidence).candidates == 0


def test_what_was_deleted_is_in_the_audit_log(evidence: Evidence) -> None:
    """One entry for a pass that deleted something, with who and how much (SPEC B51, E120)."""
    run(evidence, only=None)
    assert actions_of(evidence) == []
    evidence.add("a/html.gz")
    let_an_action_expire(evidence)
    result = run(evidence, only=None, who="cron")
    [entry] = actions_of(evidence)
    assert (entry.action, entry.actor) == ("retention.cleanup", "cron")
    assert entry.details == {"artifacts": 1, "reclaimed_bytes": SIZE, "rows": {"audit_log": 1}}
    assert result.collections_processed == len(DEFAULT_DAYS)


def test_an_interrupted_pass_is_in_the_audit_log(evidence: Evidence) -> None:
    """With what it had deleted until then."""
    for number in range(4):
        evidence.add(f"{number}/html.gz")

    def interrupted(uri: str) -> None:
        if uri == "2/html.gz":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clean_up(evidence.database, Meddling(evidence, interrupted), CleanupOrder())
    [entry] = actions_of(evidence)
    assert entry.details["artifacts"] == 2


def let_an_action_expire(evidence: Evidence) -> None:
    """An entry of the audit log is past its days."""
    with evidence.database.write() as db:
        db.add(
            AuditEntry(timestamp=utc_now() - 100 * DAY, actor="me", action="test", subject="-", details={})
        )


def actions_of(evidence: Evidence) -> list[AuditEntry]:
    """The audit log."""
    with evidence.database.read() as db:
        return list(db.scalars(select(AuditEntry)))


def test_events_are_the_documented_ones(evidence: Evidence, caplog: pytest.LogCaptureFixture) -> None:
    """Start, deleted, failed and complete with their fields (SPEC B53)."""
    evidence.add("a/html.gz")
    evidence.add("../outside.gz", file=False)
    with caplog.at_level(logging.INFO, "crawler.retention"):
        run(evidence, batch_size=7)
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


def test_missing_file_is_a_success(evidence: Evidence) -> None:
    """What is gone is marked; nothing was reclaimed (SPEC B52)."""
    key = evidence.add("gone/html.gz", file=False)
    assert run(evidence) == CleanupResult(candidates=1, deleted=1)
    assert evidence.deleted() == {key}


def test_store_that_is_away_marks_nothing(evidence: Evidence) -> None:
    """A volume that is not mounted is not a folder whose files are gone."""
    evidence.add("a/html.gz")
    away = FolderStore(evidence.root.parent / "not-mounted")
    with pytest.raises(StoreUnavailableError):
        clean_up(evidence.database, away, CleanupOrder())
    [found] = evidence.rows().values()
    assert (found.deleted_at, found.cleanup_claim, found.cleanup_attempts) == (None, None, 0)


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


def test_backlog_is_worked_off_in_the_time_given(evidence: Evidence) -> None:
    """With max_seconds one pass takes batch after batch; without time it still takes a claim."""
    evidence.add_rows(row(evidence.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(25))
    assert run(evidence, batch_size=10, max_seconds=0).deleted == 10
    assert run(evidence, batch_size=4, max_seconds=60).deleted == 15


def test_large_batch_is_claimed_in_parts(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch larger than a claim is one pass all the same."""
    monkeypatch.setattr(claims, "CLAIM_ROWS", 4)
    evidence.add_rows(row(evidence.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(25))
    result = run(evidence, batch_size=10)
    assert (result.candidates, result.deleted, result.remaining) == (10, 10, 15)


def test_collections_alone_touch_no_artifact(evidence: Evidence) -> None:
    """`--only collections` leaves expired files where they are."""
    evidence.add("a/html.gz")
    result = run(evidence, only=Part.COLLECTIONS)
    assert (result.candidates, result.deleted, result.remaining) == (0, 0, 0)
    assert [each["collection"] for each in result.collections] == list(DEFAULT_DAYS)
    assert evidence.files() == {"a/html.gz"}


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


class Meddling(FolderStore):
    """A store that lets somebody else act before each deletion."""

    def __init__(self, evidence: Evidence, meddle: Any) -> None:
        super().__init__(evidence.root)
        self.meddle = meddle

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Removals one by one, each after the meddling."""
        for uri in uris:
            self.meddle(uri)
            yield from super().delete_all([uri])


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
    for number in range(4):
        evidence.add(f"{number}/html.gz")

    def interrupted(uri: str) -> None:
        if uri == "2/html.gz":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clean_up(evidence.database, Meddling(evidence, interrupted), CleanupOrder())
    assert evidence.files() == {"2/html.gz", "3/html.gz"}
    live = [found for found in evidence.rows().values() if not found.deleted_at]
    assert {found.storage_uri for found in live} == {"2/html.gz", "3/html.gz"}
    assert {found.cleanup_claim for found in live} == {None}


def test_cleaner_stops_before_its_lease_ends(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a slow store does not get done in time is given back, not deleted under somebody else's claim."""
    monkeypatch.setattr(claims, "REMOVED_AT_ONCE", 1)
    monkeypatch.setattr(claims, "LEASE_MARGIN_SECONDS", claims.LEASE_SECONDS - 1.5)
    for number in range(3):
        evidence.add(f"{number}/html.gz")
    slow = Meddling(evidence, lambda _: time.sleep(1.6))
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
