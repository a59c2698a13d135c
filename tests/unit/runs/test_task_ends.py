"""Every end of a task is on record, by whatever it came to; what a person should see is an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from sqlalchemy import select

from crawler.capture.failures import Cause
from crawler.db.models import CrawlException, ScrapeRecord, Task
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import task_ends, tasks
from crawler.runs.task_ends import DIED_UNDER_IT, Release, TaskEnd, TaskOutcome, note_expired
from tests.unit.runs.queues import DOMAIN, NOON, SECOND, a_run, page, rows_of

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database
    from crawler.runs.tasks import LeasedTask

PAGE = UUID(int=7)
RULES = LeaseRules(max_attempts=2, jitter_seconds=0)


class Run:
    """A run of one task, and two tries."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.leases = Leases(Task, RULES, note_expired, ahead=True)
        self.id = a_run(database, page(1))

    def lease(self, now: datetime = NOON, owner: str = "one") -> LeasedTask | None:
        """Take the task, if it can be had."""
        with self.database.write() as db:
            found, _ = tasks.lease(db, self.leases, self.id, DOMAIN, owner=owner, now=now, limit=1)
        return found[0] if found else None

    def taken(self, now: datetime = NOON) -> LeasedTask:
        """The task, which can be had."""
        task = self.lease(now)
        assert task
        return task

    def begin(self, task: LeasedTask) -> None:
        """Begin with it."""
        with self.database.write() as db:
            assert self.leases.begin(db, [task.lease], NOON)

    def end(self, task: LeasedTask, came: TaskEnd) -> TaskOutcome | None:
        """End it."""
        with self.database.write() as db:
            return task_ends.end(db, self.leases, task, came, now=NOON)

    def row(self) -> Task:
        """As it stands."""
        [row] = rows_of(self.database, self.id)
        return row

    def records(self) -> list[tuple[str, str, str | None, int]]:
        """What is on record: status, outcome, cause, and attempts so far."""
        with self.database.read() as db:
            rows = list(db.scalars(select(ScrapeRecord).order_by(ScrapeRecord.id)))
        task = self.row()
        for row in rows:
            assert (row.kind, row.subject_id, row.domain, row.url) == ("task", str(task.id), DOMAIN, task.url)
            assert (row.details["run"], row.details["depth"], row.details["kind"]) == (self.id, 0, "page")
        return [(row.status, row.details["outcome"], row.cause, row.details["attempts"]) for row in rows]

    def noted(self) -> list[tuple[str, str, dict[str, Any]]]:
        """What a person is shown."""
        with self.database.read() as db:
            return [(row.stage, row.message, row.context) for row in db.scalars(select(CrawlException))]


@pytest.fixture
def run(database: Database) -> Run:
    """On both databases."""
    return Run(database)


def stand(task: Task) -> tuple[object, ...]:
    """What a task says of how it ended."""
    return task.status, task.outcome, task.cause, task.last_error, task.page_id


def test_a_page_is_stored(run: Run) -> None:
    """The task says which."""
    assert run.end(run.taken(), TaskEnd(page_id=PAGE)) is TaskOutcome.STORED
    assert stand(run.row()) == ("finished", "stored", None, None, PAGE)
    assert run.records() == [("finished", "stored", None, 1)]
    assert not run.noted()


@pytest.mark.parametrize("cause", [Cause.FILTERED, Cause.ROBOTS_REFUSED])
def test_what_may_not_be_fetched_is_refused_once(run: Run, cause: Cause) -> None:
    """On record, and nothing for a person to look at."""
    assert run.end(run.taken(), TaskEnd(cause, "by a rule")) is TaskOutcome.REFUSED
    assert stand(run.row()) == ("error", None, cause, "by a rule", None)
    assert run.records() == [("error", "refused", cause, 1)]
    assert not run.noted()


def test_a_failure_is_tried_again_then_given_up(run: Run) -> None:
    """SPEC D72, D73: both attempts are on record; the last one is an exception that says why."""
    assert run.end(run.taken(), TaskEnd(Cause.TIMEOUT, "too slow")) is TaskOutcome.RETRIED
    assert stand(run.row()) == ("pending", None, "timeout", "too slow", None)
    assert not run.noted()
    last = TaskEnd(Cause.HTTP_ERROR, "HTTP 500", http_status=500)
    assert run.end(run.taken(NOON + SECOND), last) is TaskOutcome.FAILED
    assert stand(run.row()) == ("error", None, "http_error", "HTTP 500", None)
    assert run.records() == [("pending", "retried", "timeout", 1), ("error", "error", "http_error", 2)]
    context = {"cause": "http_error", "http_status": 500, "attempts": 2}
    assert run.noted() == [("fetch", "HTTP 500", context)]


def test_a_failure_that_will_not_mend_is_given_up_at_once(run: Run) -> None:
    """Where it came and could not be read, the exception says so; without words it has the cause's."""
    assert run.end(run.taken(), TaskEnd(Cause.UNREADABLE, is_final=True)) is TaskOutcome.FAILED
    assert stand(run.row())[:4] == ("error", None, "unreadable", "unreadable")
    context = {"cause": "unreadable", "http_status": None, "attempts": 1}
    assert run.noted() == [("parse", Cause.UNREADABLE.summary, context)]


def test_any_words_can_be_written(run: Run) -> None:
    """A site writes part of them; passwords go, in all three places."""
    odd = "\0\ud800 from http://me:secret@shop.example/"
    run.end(run.taken(), TaskEnd(Cause.CRASHED, odd, is_final=True))
    with run.database.read() as db:
        record = db.scalars(select(ScrapeRecord)).one()
    [(_, message, _)] = run.noted()
    for words in (run.row().last_error, record.details["error"], message):
        assert words
        assert "secret" not in words
        assert words.startswith("\N{REPLACEMENT CHARACTER}? from http://")


@pytest.mark.parametrize("reason", Release)
def test_what_is_given_back_costs_nothing(run: Run, reason: Release) -> None:
    """SPEC D88: it says why; an earlier failure's cause is not its reason."""
    run.end(run.taken(), TaskEnd(Cause.TIMEOUT, "too slow"))
    task = run.taken(NOON + SECOND)
    assert run.end(task, TaskEnd.given_back(reason)) is TaskOutcome.GIVEN_BACK
    assert stand(run.row()) == ("pending", None, None, reason.value, None)
    assert run.row().attempts == 1
    assert run.records()[1:] == [("pending", "given_back", None, 1)]
    assert run.taken(NOON + SECOND).lease.attempts == 2


def test_a_lease_that_ran_out_is_on_record(run: Run) -> None:
    """SPEC D87: by whoever finds it; the last one is an exception, since workers died under it."""
    now = NOON
    for attempts in (0, 1):
        run.begin(run.taken(now))
        now += RULES.lease
        with run.database.write() as db:
            run.leases.reclaim(db, now=now)
        assert stand(run.row()) == ("pending", None, "lease_expired", "lease expired", None)
        assert run.records()[-1] == ("pending", "expired", "lease_expired", attempts)
        assert not run.noted()
        now += SECOND
    run.begin(run.taken(now))
    assert run.lease(now + RULES.lease, owner="two") is None
    assert stand(run.row()) == ("error", None, "lease_expired", "lease expired", None)
    assert run.records()[2:] == [("error", "expired", "lease_expired", 2)]
    context = {"cause": "lease_expired", "http_status": None, "attempts": 2}
    assert run.noted() == [("fetch", DIED_UNDER_IT, context)]


def test_who_has_the_task_no_more_writes_nothing(run: Run) -> None:
    """Neither an end nor a record nor an exception."""
    slow = run.taken()
    quick = run.taken(NOON + RULES.lease)
    before = run.records()
    late = (
        TaskEnd(page_id=PAGE),
        TaskEnd(Cause.CRASHED, "odd", is_final=True),
        TaskEnd.given_back(Release.LEFT),
    )
    assert [run.end(slow, came) for came in late] == [None, None, None]
    assert (run.records(), run.noted()) == (before, [])
    assert run.end(quick, TaskEnd()) is TaskOutcome.STORED


def test_errors_are_tried_again_as_if_for_the_first_time(run: Run) -> None:
    """By whoever asks for it; that is on record, and what failed before says so still."""
    run.end(run.taken(), TaskEnd(Cause.HTTP_ERROR, "HTTP 404", http_status=404, is_final=True))
    with run.database.write() as db:
        assert task_ends.retry_errors(db, run.id, NOON) == 1
        assert task_ends.retry_errors(db, run.id, NOON) == 0
    assert stand(run.row())[0] == "pending"
    assert run.records()[1:] == [("pending", "retried", None, 0)]
    task = run.taken()
    assert (task.lease.attempts, run.row().finished_at) == (1, None)
    assert run.end(task, TaskEnd()) is TaskOutcome.STORED


def test_only_what_the_dead_hold_is_given_back(database: Database) -> None:
    """SPEC D96: of this run, at once, whatever is left of their leases; no attempt is counted."""
    run, other = Run(database), Run(database)
    with database.write() as db:
        tasks.add(db, run.id, [page(2)], NOON)
    dead, living = run.taken(), run.lease(owner="alive")
    assert living
    other.taken()
    with database.write() as db:
        assert task_ends.give_back_of_the_dead(db, run.id, ["alive"], NOON) == 1
    first, second = rows_of(database, run.id)
    assert (first.status, first.attempts, first.last_error, first.cause) == ("pending", 0, "stopped", None)
    assert (second.status, other.row().status) == ("in_progress", "in_progress")
    assert run.end(dead, TaskEnd()) is None
    assert run.end(living, TaskEnd()) is TaskOutcome.STORED
    with database.read() as db:
        records = list(db.scalars(select(ScrapeRecord).order_by(ScrapeRecord.id)))
    assert [(row.status, row.details["outcome"], row.details["error"]) for row in records] == [
        ("pending", "given_back", "stopped"), ("finished", "stored", None),
    ]  # fmt: skip
