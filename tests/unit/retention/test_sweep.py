"""One pass over the collections, on both databases (SPEC E103-123)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import func, insert, select, text, update

from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db import lookup
from crawler.db.models import (
    Artifact,
    Asset,
    AuditEntry,
    CrawlLog,
    CrawlSession,
    Diagnostic,
    DomainDay,
    ExportRecord,
    Haul,
    HaulMember,
    Listing,
    Page,
    Price,
    Record,
    RetentionConfig,
    RetentionResult,
    Run,
    ScrapeRecord,
    Task,
    WarcFile,
)  # fmt: skip
from crawler.errors import ConfigError
from crawler.retention import policies
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from crawler.retention.policies import DEFAULT_DAYS
from crawler.retention.sweep import COLLECTIONS, CollectionResult, sweep
from crawler.runs.sources import Source
from crawler.runs.store import RunOrder, RunStore
from crawler.runs.task_ends import TaskEnd, TaskOutcome
from crawler.warc.cdxj import stored_key
from tests.integration.catalogue.visits import DAY, PRODUCT, Visits

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from crawler.db.engine import Database

SOON = timedelta(minutes=1)


def one(results: tuple[CollectionResult, ...], name: str) -> CollectionResult:
    """The result of one collection."""
    return next(result for result in results if result.collection == name)


def add_actions(visits: Visits, *ages: timedelta) -> None:
    """Entries of the audit log."""
    rows = [
        {"timestamp": utc_now() - age, "actor": "me", "action": "test", "subject": "-", "details": {}}
        for age in ages
    ]
    with visits.database.write() as db:
        db.execute(insert(AuditEntry), rows)


def an_asset(**columns: Any) -> Asset:
    """A page that a plugin knows."""
    given = {"last_seen_at": utc_now(), **columns}
    return Asset(
        source="shop", plugin="page", domain="shop.example", kind="page", key=PRODUCT,
        key_sha256=str(uuid4()), url=PRODUCT, checksum="1", first_seen_at=utc_now(), last_run_id=1, **given,
    )  # fmt: skip


def fill(visits: Visits, moment: datetime) -> None:
    """A row of every kind, of one age."""
    visits.lose_files(visits.visit(), utc_now() - moment)
    for table, column in [
        (Diagnostic, "timestamp"), (CrawlLog, "timestamp"), (Price, "seen_at"), (ScrapeRecord, "timestamp"),
        (DomainDay, "timestamp"), (Listing, "last_seen_at"),
    ]:  # fmt: skip
        visits.change(table, **{column: moment})
    with visits.database.write() as db:
        db.add(AuditEntry(timestamp=moment, actor="me", action="test", subject="-", details={}))
        db.add(
            ExportRecord(timestamp=moment, actor="me", what="prices", format="csv", destination="-",
                         row_count=1, status="complete")
        )  # fmt: skip
        db.add(an_asset(last_seen_at=moment))
        member = HaulMember(position=1, url="https://shop.example/")
        db.add(Haul(name="spring", source="-", created_at=moment, members=[member]))


@pytest.mark.parametrize("name", DEFAULT_DAYS)
def test_a_collection_goes_when_its_days_are_over(visits: Visits, name: str) -> None:
    """Strictly: a row as old as its days stays; listings stay for ever."""
    fill(visits, utc_now() - DEFAULT_DAYS[name] * DAY + SOON)
    assert one(sweep(visits.database), name).expired_docs == 0
    before = sum(visits.count(retained.table) for retained in COLLECTIONS[name])
    for retained in COLLECTIONS[name]:
        visits.change(retained.table, **{retained.time.key: utc_now() - DEFAULT_DAYS[name] * DAY - SOON})
    result = one(sweep(visits.database), name)
    assert result.error is None
    needed = visits.count(CrawlSession) if name == "scrape_metadata" else 0  # its price names the session
    assert (result.total_docs, result.deleted_docs) == (before, before - needed)
    assert sum(visits.count(retained.table) for retained in COLLECTIONS[name]) == needed
    assert visits.count(Listing) == 1
    assert name != "hauls" or visits.count(HaulMember) == 0


def test_a_hundred_at_most_the_oldest_first(visits: Visits) -> None:
    """What is beyond waits for the next pass, and is counted."""
    add_actions(visits, *[(200 - number % 50) * DAY for number in range(150)])
    oldest = sorted(visits.rows(AuditEntry), key=lambda row: (row.timestamp, row.id))[:100]
    result = one(sweep(visits.database), "audit_log")
    assert (result.expired_docs, result.deleted_docs) == (150, 100)
    assert not {row.id for row in oldest} & {row.id for row in visits.rows(AuditEntry)}
    result = one(sweep(visits.database), "audit_log")
    assert (result.total_docs, result.expired_docs, result.deleted_docs) == (50, 50, 50)


def test_two_tables_share_the_hundred(visits: Visits) -> None:
    """Traces and log lines are one collection, and the older of both go first."""
    session = visits.visit()
    lines = [
        {"session_id": session, "timestamp": utc_now() - (100 + number) * DAY, "level": "info",
         "event_type": "session", "message": "x", "details": {}}
        for number in range(120)
    ]  # fmt: skip
    with visits.database.write() as db:
        db.execute(insert(CrawlLog), lines)
    visits.change(Diagnostic, timestamp=utc_now() - 150 * DAY)
    result = one(sweep(visits.database), "diagnostics")
    assert (result.expired_docs, result.deleted_docs) == (121, 100)
    assert visits.count(Diagnostic) == 0
    assert min(row.timestamp for row in visits.rows(CrawlLog)) > utc_now() - 121 * DAY


def test_a_backlog_is_worked_off_while_there_is_time(visits: Visits) -> None:
    """Several passes, one report."""
    add_actions(visits, *[200 * DAY] * 250)
    result = one(sweep(visits.database, seconds=30), "audit_log")
    assert (result.expired_docs, result.deleted_docs, visits.count(AuditEntry)) == (250, 250, 0)


def test_the_result_is_stored(visits: Visits) -> None:
    """With the details of each collection, for whoever asks later."""
    add_actions(visits, 91 * DAY)
    clean_up(visits.database, visits.blobs, CleanupOrder(only=Part.COLLECTIONS))
    [row] = visits.rows(RetentionResult)
    assert (row.dry_run, row.total_deleted) == (False, 1)
    assert [each["collection"] for each in row.details] == list(DEFAULT_DAYS)
    assert {"ttl_days", "total_docs", "expired_docs", "deleted_docs", "error"} <= row.details[0].keys()


def test_a_failing_collection_hides_no_other(visits: Visits) -> None:
    """It is reported; the rest is done."""
    add_actions(visits, 91 * DAY)
    with visits.database.write() as db:
        db.execute(text("ALTER TABLE diagnostics RENAME TO diagnostics_away"))
    try:
        results = sweep(visits.database)
    finally:
        with visits.database.write() as db:
            db.execute(text("ALTER TABLE diagnostics_away RENAME TO diagnostics"))
    assert "diagnostics" in (one(results, "diagnostics").error or "")
    assert one(results, "audit_log").deleted_docs == 1
    assert [result.collection for result in results if result.error] == ["diagnostics"]


def test_a_new_policy_counts_from_the_next_pass_on(visits: Visits) -> None:
    """The stored document is read anew, and says who changed it."""
    add_actions(visits, 10 * DAY)
    assert one(sweep(visits.database, dry_run=True), "audit_log").expired_docs == 0
    with visits.database.write() as db:
        policies.set_days(db, "audit_log", 5, actor="me", now=utc_now())
    assert one(sweep(visits.database, dry_run=True), "audit_log").expired_docs == 1
    assert visits.rows(AuditEntry)[-1].details == {"days": 5, "before": {}}
    assert DEFAULT_DAYS["audit_log"] == 90


def test_the_defaults_are_those_of_the_policy() -> None:
    """They hold where no document says otherwise."""
    assert policies.days_by_collection(None) == {
        "diagnostics": 90, "price_history": 365, "assets": 365, "scrape_metadata": 90, "audit_log": 90,
        "scraper_health": 180, "export_history": 90, "hauls": 30,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("collection", "days", "why"),
    [
        ("listings", 30, "Collection 'listings' is exempt from retention policies"),
        ("retention_config", 30, "there is no collection 'retention_config'"),
        ("hauls", 0, "TTL must be at least 1 day"),
        ("hauls", policies.MAX_DAYS + 1, "TTL must be at most"),
    ],
)
def test_what_is_no_policy_is_refused(collection: str, days: int, why: str) -> None:
    """With the reason; wrong usage."""
    with pytest.raises(policies.PolicyError, match=why) as caught:
        policies.with_days(None, collection, days)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("days", [0, "60", 1.5, True, None, policies.MAX_DAYS + 1])
def test_a_spoilt_document_is_an_error(days: object) -> None:
    """Days that nobody can have set, and collections that there are not."""
    for name, stored in (("hauls", days), ("users", 3)):
        with pytest.raises(ConfigError, match=f"'{name}'"):
            policies.days_by_collection({"days": {name: stored}})


def test_a_spoilt_document_deletes_nothing(visits: Visits) -> None:
    """A policy that nobody can have set is an error, not a default."""
    add_actions(visits, 200 * DAY)
    with visits.database.write() as db:
        db.add(RetentionConfig(document={"days": {"audit_log": -1}}))
    with pytest.raises(ConfigError, match="nothing is deleted"):
        sweep(visits.database)
    assert visits.count(AuditEntry) == 1


def _release(visits: Visits, session: Any) -> None:
    visits.lose_files(session, 100 * DAY)
    visits.change(Price, seen_at=utc_now() - 400 * DAY)


def _record_pages(visits: Visits) -> None:
    with visits.database.write() as db:
        file = WarcFile(folder="/warcs", path="a.warc.gz", state="sealed", created_at=db.now)
        db.add(file)
        db.flush()
        record = Record(
            warc_file_id=file.id, offset=0, kind="response", url=PRODUCT, url_key=stored_key(PRODUCT)
        )
        db.add(record)
        db.flush()
        db.execute(update(Page).values(record_id=record.id))


def test_a_session_takes_along_what_its_own_warc_had(visits: Visits) -> None:
    """The row of the file that is gone, and its records; the file of a recorded crawl is still there."""
    session = visits.visit()
    with visits.database.write() as db:
        artifact = db.scalar(select(Artifact.id).limit(1))
        for path, artifact_id in (("a.warc.gz", artifact), ("b.warc.gz", None)):
            file = WarcFile(
                folder="/warcs", path=path, session_id=session, artifact_id=artifact_id, created_at=db.now
            )
            db.add(file)
            db.flush()
            db.add(Record(warc_file_id=file.id, offset=0, url=PRODUCT, url_key=stored_key(PRODUCT)))
    _release(visits, session)
    sweep(visits.database)
    assert visits.count(CrawlSession) == 0
    assert [file.path for file in visits.rows(WarcFile)] == ["b.warc.gz"]
    assert visits.count(Record) == 1


@pytest.mark.parametrize("needed_by", ["artifact", "price", "running", "warc", None])
def test_a_session_stays_while_it_is_named(visits: Visits, needed_by: str | None) -> None:
    """By an artifact, by a price, by a page in a WARC file, or because it has not ended."""
    session = visits.visit()
    _release(visits, session)
    changes: dict[str, Callable[[], None]] = {
        "artifact": lambda: visits.change(Artifact, Artifact.type == "visible_text", deleted_at=None),
        "price": lambda: visits.change(Price, seen_at=utc_now()),
        "running": lambda: visits.change(CrawlSession, status="running"),
        "warc": lambda: _record_pages(visits),
    }
    changes.get(needed_by or "", lambda: None)()
    sweep(visits.database)
    assert visits.count(CrawlSession) == (1 if needed_by else 0)
    assert visits.count(Page) == visits.count(CrawlSession)


def test_a_row_of_the_very_moment_of_the_cutoff_stays(visits: Visits) -> None:
    """It is exactly as old as its days; a microsecond later it is older."""
    moment = utc_now().replace(microsecond=500)
    add_actions(visits, DAY)
    visits.change(AuditEntry, timestamp=moment)
    [entries] = COLLECTIONS["audit_log"]
    with visits.database.read() as db:
        for cutoff, due in ((moment, 0), (moment + timedelta(microseconds=1), 1)):
            assert lookup.count(db, AuditEntry, entries.is_expired(cutoff, None)) == due


def ended_run(database: Database) -> int:
    """A run that was completed."""
    store = RunStore(database, load_settings(), "me")
    run_id = store.open(RunOrder(Source.of_url("https://shop.example/"))).id
    [task], _ = store.lease("shop.example", 10)
    assert store.end_task(task, TaskEnd(outcome=TaskOutcome.REDIRECTED))
    assert store.end() == "completed"
    return run_id


@pytest.mark.parametrize("is_visited", [False, True])
def test_a_run_goes_with_its_tasks_when_no_visit_names_it(database: Database, *, is_visited: bool) -> None:
    """It stays as long as a session of its does."""
    run_id = ended_run(database)
    retained = next(each for each in COLLECTIONS["scrape_metadata"] if each.table is Run)
    with database.write() as db:
        now = db.now
        if is_visited:
            db.add(
                CrawlSession(
                    kind="run", run_id=run_id, url="https://shop.example/", domain="shop.example",
                    mode="standard", retention_policy="standard", status="completed",
                    crawl_policy_version="v1.2", config_snapshot={}, created_at=now,
                )
            )  # fmt: skip
            db.flush()
        cutoff = now + timedelta(days=1)
        keys = [key for _, key in db.execute(retained.oldest(cutoff, None, 100))]
        assert retained.remove(db, keys) == (0 if is_visited else 1)
        assert db.scalar(select(func.count()).select_from(Task)) == (1 if is_visited else 0)
