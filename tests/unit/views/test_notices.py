"""What somebody is told of: once, and nothing that did not happen."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from crawler.db.models import DomainDay, RetentionResult
from crawler.retention.holds import note_action
from crawler.views import notices
from crawler.views.documents import as_json
from tests.unit.views.rows import HOUR, THEN, a_job, a_listing, a_price, a_run, a_session, a_task

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database
    from crawler.views.notices import NoticeDocument

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
NOON = THEN
MIDNIGHT = THEN.replace(hour=0)


def told(database: Database, now: datetime) -> NoticeDocument:
    """What is found at that time, and taken."""
    with database.write() as db:
        document, mark = notices.pending(db, now)
        note_action(db, notices.ACTION, "what happened", actor="somebody", now=now, **mark)
    return document


def test_a_price_that_moved_is_told_once(database: Database) -> None:
    """With what it was before, however long ago; the same price seen again is nothing."""
    chair, table = a_listing(), a_listing(name="A table")
    with database.write() as db:
        db.add_all([chair, table])
        db.flush()
        db.add_all(
            [
                a_price(chair.id, "19.90", seen_at=THEN - 20 * DAY),
                a_price(chair.id, "17.50", seen_at=THEN + HOUR),
                a_price(chair.id, "17.50", seen_at=THEN + 2 * HOUR),
                a_price(table.id, "80.00", seen_at=THEN + HOUR),
            ]
        )
    found = told(database, THEN + 3 * HOUR)
    [moved] = found.notices
    assert (moved.kind, moved.subject, moved.text) == (
        "price_moved", "shop.example", "A chair: 19.90 → 17.50 EUR",
    )  # fmt: skip
    assert moved.details["price_before"] == Decimal("19.90")
    assert json.loads(as_json(found))["notices"][0]["details"]["price"] == "17.50"
    assert told(database, THEN + 4 * HOUR).notices == ()


def test_what_is_stored_late_is_not_missed(database: Database) -> None:
    """A row is dated when its page was fetched, and there only when it was stored."""
    chair = a_listing()
    with database.write() as db:
        db.add(chair)
        db.flush()
        db.add(a_price(chair.id, "19.90", seen_at=THEN - DAY))
    assert told(database, THEN + HOUR).notices == ()
    with database.write() as db:
        db.add(a_price(chair.id, "17.50", seen_at=THEN + HOUR - timedelta(seconds=30)))
    assert len(told(database, THEN + 2 * HOUR).notices) == 1


def test_a_success_rate_that_fell_is_told_once_a_day(database: Database) -> None:
    """Beside the week before, from a few sessions on; others of that day are told beside it."""

    def day(at: datetime, domain: str, sessions: int, successes: int) -> DomainDay:
        return DomainDay(timestamp=at, domain=domain, sessions=sessions, successes=successes, latencies={})

    with database.write() as db:
        for domain in ("fell.example", "few.example", "steady.example"):
            db.add_all(day(MIDNIGHT - n * DAY, domain, 4, 4) for n in (1, 2, 3))
        db.add_all(
            [
                day(MIDNIGHT, "fell.example", 10, 3),
                day(MIDNIGHT, "few.example", 2, 0),
                day(MIDNIGHT, "steady.example", 10, 9),
                day(MIDNIGHT, "new.example", 10, 0),
            ]
        )
    [fell] = told(database, NOON).notices
    assert fell.text == "fell.example: 30% of 10 sessions went well, 100% in the week before"
    with database.write() as db:
        db.add(a_job(status="failed", name="acme-1", updated_at=NOON))
    assert [each.kind for each in told(database, NOON + HOUR).notices] == ["job_failed"]
    assert told(database, NOON + 2 * HOUR).notices == ()
    assert told(database, NOON + DAY).notices == ()


def test_failed_jobs_and_cleanups(database: Database) -> None:
    """With the command that says more; what went well is nobody's news."""
    with database.write() as db:
        db.add_all(
            [
                a_job(status="failed", name="acme-1", updated_at=THEN),
                a_job(status="index_failed", name="acme-2", updated_at=THEN),
                a_job(status="indexed", name="acme-3", updated_at=THEN),
                a_result(None),
                a_result("the disk is full"),
            ]
        )
    found = told(database, THEN + HOUR)
    assert [each.kind for each in found.notices] == ["job_failed", "job_failed", "cleanup_failed"]
    assert "acme-1 could not be archived" in found.notices[0].text
    assert "acme-2 could not be indexed" in found.notices[1].text
    assert found.notices[2].details == {"collections": {"price_history": "the disk is full"}}


def test_a_run_without_a_page_is_told(database: Database) -> None:
    """Completed it is, since all its tasks have ended; one that has a page is nobody's news."""
    with database.write() as db:
        runs = {
            name: a_run(source=name, status=status, completed_at=THEN, planned=2, last_error=error)
            for name, status, error in (
                ("barred", "completed", None), ("broken", "failed", "the disk is full"),
                ("well", "completed", None), ("stopped", "stopped", None),
            )
        }  # fmt: skip
        db.add_all(runs.values())
        db.flush()
        for name, run in runs.items():
            first = "finished" if name == "well" else "error"
            db.add_all(
                a_task(
                    run.id,
                    f"https://shop.example/{n}",
                    status=status,
                    cause="blocked",
                    outcome="stored" if status == "finished" else None,
                    finished_at=THEN,
                )
                for n, status in enumerate((first, "error"))
            )
    barred, broken = told(database, THEN + HOUR).notices
    assert (barred.kind, barred.subject, barred.details["causes"]) == ("run_failed", "barred", {"blocked": 2})
    assert barred.text.endswith("has no page: 2 of 2 pages failed (blocked): `vitrine runs show 1`")
    assert "could not go on: the disk is full" in broken.text
    assert told(database, THEN + 2 * HOUR).notices == ()


def test_a_domain_of_which_nothing_was_had_is_told_once_a_day(database: Database) -> None:
    """Not where one visit had something, where a run tells itself, or where somebody stopped it."""
    with database.write() as db:
        run = a_run()
        db.add(run)
        db.flush()
        failed = {"status": "failed", "cause": "blocked", "finished_at": THEN}
        db.add_all(
            [
                *(a_session(domain="barred.example", **failed) for _ in range(2)),
                a_session(domain="mixed.example", **failed),
                a_session(domain="mixed.example", status="partial", finished_at=THEN),
                a_session(domain="runs.example", kind="run", run_id=run.id, **failed),
                a_session(domain="cut.example", **{**failed, "cause": "interrupted"}),
            ]
        )
    [barred] = told(database, THEN + HOUR).notices
    assert (barred.kind, barred.subject, barred.details["sessions"]) == ("domain_failed", "barred.example", 2)
    assert "nothing was had by 2 sessions (blocked)" in barred.text
    with database.write() as db:
        db.add(a_session(domain="barred.example", **{**failed, "finished_at": THEN + 90 * MINUTE}))
    assert told(database, THEN + 2 * HOUR).notices == ()


def test_a_flood_is_cut_and_counted(database: Database) -> None:
    """One document has a bound, and says what it left out."""
    with database.write() as db:
        db.add_all(a_job(status="failed", updated_at=THEN) for _ in range(notices.MOST + 7))
    found = told(database, THEN + HOUR)
    assert (len(found.notices), found.more) == (notices.MOST, 7)
    assert told(database, THEN + 2 * HOUR).more == 0


def test_nobody_hears_of_last_year(database: Database) -> None:
    """The first look goes back a day, and one after a long time a week."""
    with database.write() as db:
        db.add(a_job(status="failed", updated_at=THEN))
    with database.read() as db:
        assert notices.pending(db, THEN + 2 * DAY)[0].notices == ()
    told(database, THEN - 30 * DAY)
    with database.read() as db:
        document, _ = notices.pending(db, THEN + 6 * DAY)
        assert document.since == THEN - DAY
        assert len(document.notices) == 1


def a_result(error: str | None) -> RetentionResult:
    """What a cleanup left."""
    return RetentionResult(
        timestamp=THEN, dry_run=False, total_deleted=0, duration_ms=5,
        details=[{"collection": "price_history", "error": error}],
    )  # fmt: skip
