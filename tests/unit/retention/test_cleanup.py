"""One pass of the cleanup: what goes, who may take it, what is told; on both databases."""

from __future__ import annotations

import logging
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from shutil import rmtree
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import delete, select, update

from crawler.access.process import process_mark
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db.models import AuditEntry, Hold, RetentionConfig, StoreMark
from crawler.evidence.blobs import StoreUnavailableError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import OtherStoreError
from crawler.retention import claims
from crawler.retention.cleanup import CHANCE, LOOK_EVERY, CleanupOrder, Part, clean_up, maybe_clean_up
from crawler.retention.plan import CleanupResult, pause_after
from crawler.retention.policies import DEFAULT_DAYS
from tests.unit.retention.contents import contents_of
from tests.unit.retention.stored import DAY, PACKED, Evidence, Meddling, interrupting, row
from tests.unit.retention.test_orphans import write_old

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.catalogue.visits import Visits

SIZE = len(PACKED.data)
TICK = timedelta(microseconds=1)


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


def test_what_expires_and_never_got_its_row_goes_after_a_day(evidence: Evidence) -> None:
    """Its writer died between file and row; nothing that is younger, has a row, or has no date to go on."""
    evidence.add("kept/html.gz", age=-DAY)
    named = ("kept/desktop.html.gz", "held/page.html.gz", "gone/page.html.gz")
    evidence.add(named[0], age=-DAY)
    evidence.add(named[1], legal_hold=True)
    evidence.change(evidence.add(named[2], age=-DAY), deleted_at=utc_now())
    for name in (*named, "a/homepage/desktop/html_gz.html.gz", "b/x.response.html.gz", "b/visible_text.txt",
                 "c/session.warc.gz", "c/0f3a.session.warc.gz", "c/other.warc.gz"):  # fmt: skip
        write_old(evidence, name, hours=25)
    write_old(evidence, "b/young.html.gz", hours=23)
    unclaimed = [
        "a/homepage/desktop/html_gz.html.gz",
        "b/x.response.html.gz",
        "c/0f3a.session.warc.gz",
        "c/session.warc.gz",
    ]
    looked = run(evidence, dry_run=True)
    assert sorted(each["storage_uri"] for each in looked.unclaimed_files) == unclaimed
    assert looked.unclaimed == 4
    assert set(unclaimed) < evidence.files()
    done = run(evidence)
    assert (done.deleted, done.unclaimed, done.reclaimed_bytes) == (0, 4, 4 * SIZE)
    assert evidence.files() == {
        "kept/html.gz",
        *named,
        "b/visible_text.txt",
        "b/young.html.gz",
        "c/other.warc.gz",
    }
    with evidence.database.read() as db:
        [noted] = db.scalars(select(AuditEntry.details))
        assert noted["unclaimed_files"] == 4


def test_the_store_is_looked_through_once_a_day(evidence: Evidence) -> None:
    """What is found is a day old, and to look takes long; a look whose time was over counts as none."""
    run(evidence, max_seconds=0)
    write_old(evidence, "a/html.gz", hours=25)
    run(evidence)
    assert not evidence.files()
    write_old(evidence, "b/html.gz", hours=25)
    run(evidence)
    assert evidence.files() == {"b/html.gz"}
    with evidence.database.write() as db:
        db.execute(update(RetentionConfig).values(looked_at=utc_now() - LOOK_EVERY))
    run(evidence)
    assert not evidence.files()


def test_a_store_that_is_not_there_matters_where_something_lies_in_it(evidence: Evidence) -> None:
    """Before the first page there need be no folder; afterwards its absence is told."""
    rmtree(evidence.root)
    with evidence.database.write() as db:
        db.execute(delete(StoreMark))
    assert run(evidence) == CleanupResult()
    evidence.add("a/html.gz", file=False, age=-DAY)
    with pytest.raises((StoreUnavailableError, OtherStoreError)):
        run(evidence)


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
    store = interrupting(evidence, "2/html.gz")
    with pytest.raises(KeyboardInterrupt):
        clean_up(evidence.database, store, CleanupOrder())
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


def test_store_that_is_away_marks_nothing(evidence: Evidence) -> None:
    """A volume that is not mounted is not a folder whose files are gone."""
    evidence.add("a/html.gz")
    away = FolderStore(evidence.root.parent / "not-mounted")
    with pytest.raises(OtherStoreError):
        clean_up(evidence.database, away, CleanupOrder())
    [found] = evidence.rows().values()
    assert (found.deleted_at, found.cleanup_claim, found.cleanup_attempts) == (None, None, 0)


def test_backlog_is_worked_off_in_the_time_given(evidence: Evidence) -> None:
    """With max_seconds one pass takes batch after batch; without time it still takes a claim."""
    evidence.add_rows(row(evidence.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(25))
    assert run(evidence, batch_size=10, max_seconds=0).deleted == 10
    assert run(evidence, batch_size=4, max_seconds=60).deleted == 15


def test_collections_alone_touch_no_artifact(evidence: Evidence) -> None:
    """`--only collections` leaves expired files where they are."""
    evidence.add("a/html.gz")
    result = run(evidence, only=Part.COLLECTIONS)
    assert (result.candidates, result.deleted, result.remaining) == (0, 0, 0)
    assert [each["collection"] for each in result.collections] == list(DEFAULT_DAYS)
    assert evidence.files() == {"a/html.gz"}


def triggered(visits: Visits, run: Callable[[], object], *, dice: float = 0.0) -> bool:
    """A request, where requests may start a cleanup."""
    settings = load_settings({"retention_cleanup_enabled": True})
    return maybe_clean_up(settings, visits.database, run, lambda: dice)


def test_the_trigger_runs_once_an_hour(visits: Visits) -> None:
    """For all processes together; the hour is claimed when a run begins."""
    ran: list[str] = []
    assert triggered(visits, lambda: ran.append("first"))
    assert not triggered(visits, lambda: ran.append("second"))
    visits.change(RetentionConfig, triggered_at=utc_now() - timedelta(minutes=59))
    assert not triggered(visits, lambda: ran.append("third"))
    visits.change(RetentionConfig, triggered_at=utc_now() - timedelta(hours=1))
    assert triggered(visits, lambda: ran.append("fourth"), dice=CHANCE - 0.0001)
    assert ran == ["first", "fourth"]


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


def test_claimed_row_of_a_dead_process_is_taken_at_once(evidence: Evidence) -> None:
    """Nobody waits for the lease of who is known to be dead."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as cleaner:
        lease = utc_now() + timedelta(minutes=9)
        claim = f"{process_mark(cleaner.pid)}#1"
        key = evidence.add("a/html.gz", cleanup_claim=claim, cleanup_claimed_until=lease)
        assert run(evidence).deleted == 0
        assert cleaner.stdin
        cleaner.stdin.close()
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


def test_the_pause_of_a_failed_row_grows(evidence: Evidence) -> None:
    """Ten minutes after the first failure, twice that after the second, a day at most."""
    key = evidence.add("../x", file=False)
    for pause in (timedelta(minutes=10), timedelta(minutes=20)):
        run(evidence)
        until = evidence.rows()[key].cleanup_next
        assert until is not None
        assert abs(until - utc_now() - pause) < timedelta(minutes=1)
        evidence.let_pauses_end()
    assert pause_after(10_000) == DAY


def test_a_cleaner_stops_before_its_lease_ends(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a slow store does not get done in time is given back, not deleted under somebody else's claim."""
    seconds = [0.0]
    monkeypatch.setattr(claims, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(claims, "REMOVED_AT_ONCE", 1)
    for number in range(3):
        evidence.add(f"{number}/html.gz")

    def be_slow(_: str) -> None:
        seconds[0] += claims.LEASE_SECONDS - 30

    assert clean_up(evidence.database, Meddling(evidence, be_slow), CleanupOrder()).deleted == 1
    assert evidence.files() == {"1/html.gz", "2/html.gz"}
    assert {found.cleanup_claim for found in evidence.rows().values()} == {None}
    assert run(evidence).deleted == 2


def test_many_cleaners_count_each_row_once(evidence: Evidence) -> None:
    """Whatever the interleaving, the sums are exact."""
    evidence.add_rows(row(evidence.session_id, f"{n}/html.gz", utc_now() - DAY) for n in range(100))
    for number in range(100):
        evidence.write(f"{number}/html.gz")
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: run(evidence, batch_size=10, max_seconds=60), range(3)))
    results.append(run(evidence))
    assert sum(each.deleted for each in results) == sum(each.candidates for each in results) == 100
    assert sum(each.reclaimed_bytes for each in results) == 100 * SIZE
    assert evidence.files() == set()


def test_each_step_of_a_pass_has_its_event(evidence: Evidence, caplog: pytest.LogCaptureFixture) -> None:
    """Those that the documentation names; the sums are in the last one (SPEC B53)."""
    evidence.add("a/html.gz")
    evidence.add("../outside.gz", file=False)
    with caplog.at_level(logging.DEBUG, "crawler.retention"):
        run(evidence)
    events = {
        each.message.removeprefix("retention_cleanup."): vars(each)["fields"] for each in caplog.records
    }
    assert list(events) == ["start", "candidate", "batch", "failed", "deleted", "complete"]
    assert (events["failed"]["reason"], events["deleted"]["storage_uri"]) == ("unsafe_path", "a/html.gz")
    assert events["complete"] == {
        "deleted": 1, "failed": 1, "reclaimed_bytes": SIZE, "reclaimed_mb": 0.0, "unclaimed": 0,
        "dry_run": False,
    }  # fmt: skip


def test_figures_are_told_in_the_documented_form() -> None:
    """Scripts read the names, and people the line, whose MB are of 1024 * 1024 bytes (SPEC B53, B54)."""
    result = CleanupResult(candidates=4, deleted=3, failed=1, reclaimed_bytes=1_600_000, remaining=6)
    assert result.as_document() == {
        "candidates": 4, "deleted": 3, "failed": 1, "reclaimed_bytes": 1_600_000, "remaining": 6,
        "dry_run": False, "artifacts": [], "unclaimed": 0, "unclaimed_files": [],
        "collections_processed": 0, "collections": [],
    }  # fmt: skip
    assert str(result) == "deleted=3, failed=1, reclaimed_bytes=1600000 (1.53 MB)"


def test_a_request_rarely_starts_a_cleanup_and_never_fails_by_it(visits: Visits) -> None:
    """It is off unless enabled, ninety-nine of a hundred requests do nothing, and errors stay in the log."""

    def fail() -> None:
        raise RuntimeError(str(uuid4()))

    assert not maybe_clean_up(load_settings({}), visits.database, fail, lambda: 0.0)
    assert not triggered(visits, lambda: None, dice=CHANCE)
    assert visits.count(RetentionConfig) == 0
    assert not triggered(visits, fail)


ESCAPES = (
    "../victim.txt", "a/../../victim.txt", "{outside}/victim.txt", "..\\victim.txt", "a//b.gz", "./b.gz", "",
    "a\nb.gz", "link/victim.txt", "victim-link", "folder", "pipe", "plain.gz/x",
)  # fmt: skip


def test_unsafe_paths_fail_and_nothing_there_is_touched(
    evidence: Evidence, caplog: pytest.LogCaptureFixture
) -> None:
    """Each row fails with its reason and is tried again later; those beside it go."""
    outside = evidence.root.parent
    (outside / "victim.txt").write_bytes(b"mine")
    (evidence.root / "link").symlink_to(outside)
    (evidence.root / "victim-link").symlink_to(outside / "victim.txt")
    (evidence.root / "folder").mkdir()
    os.mkfifo(evidence.root / "pipe")
    evidence.write("plain.gz")
    before = {path.name for path in evidence.root.iterdir()}
    escapes = {evidence.add(uri.format(outside=outside), file=False) for uri in ESCAPES}
    if evidence.database.is_sqlite:  # PostgreSQL stores no NUL at all
        escapes.add(evidence.add("a\x00b", file=False))
    good = evidence.add("good/html.gz")
    result = clean_up(evidence.database, evidence.blobs, CleanupOrder())
    assert (result.deleted, result.failed, result.remaining) == (1, len(escapes), len(escapes))
    assert evidence.deleted() == {good}
    rows = evidence.rows()
    assert {rows[key].cleanup_attempts for key in escapes} == {1}
    failures = [vars(each)["fields"] for each in caplog.records if each.message == "retention_cleanup.failed"]
    assert [each["reason"] for each in failures] == ["unsafe_path"] * len(escapes)
    assert (outside / "victim.txt").read_bytes() == b"mine"
    assert {path.name for path in evidence.root.iterdir()} == before
