"""What a process writes of a run, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.access.scope import Denial
from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.db.models import CrawlException, Run, RunWorker, Task
from crawler.errors import NotFoundError, UsageError
from crawler.runs import rows
from crawler.runs.sources import Source
from crawler.runs.store import RunOrder, RunOverError, RunStore, rules_of, scope_of, task_of
from crawler.runs.task_ends import Outcome, Release, TaskEnd

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database

HOME, OTHER = "https://shop.example/", "https://other.example/"
DOMAIN = "shop.example"
SOURCE = Source("shop", "The shop", (HOME, OTHER), (DOMAIN, "other.example"), max_pages=4, max_retries=2)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """No wait between tries."""
    return load_settings({"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", "TASK_BACKOFF_MIN_SECONDS": "0"})


@pytest.fixture
def book(database: Database, settings: Settings) -> RunStore:
    """The first process's."""
    return RunStore(database, settings, "first")


@pytest.fixture
def second(database: Database, settings: Settings) -> RunStore:
    """The second process's."""
    return RunStore(database, settings, "second")


def run_of(database: Database) -> Run:
    """The newest run as it stands."""
    with database.read() as db:
        return db.scalars(select(Run).order_by(Run.id.desc()).limit(1)).one()


def workers(database: Database) -> list[str]:
    """The processes that are at a run."""
    with database.read() as db:
        return list(db.scalars(select(RunWorker.owner).order_by(RunWorker.owner)))


def finish_all(book: RunStore) -> None:
    """Do what there is to do."""
    for domain in (DOMAIN, "other.example"):
        for task in book.lease(domain, 10):
            assert book.end_task(task, TaskEnd())


# ── opened ──


def test_a_new_run_begins_with_its_start_pages(book: RunStore, database: Database) -> None:
    """It keeps the source as it was, and this process is at it."""
    at_work = book.open(RunOrder(SOURCE))
    assert (at_work.source, at_work.resumed, at_work.denials) == (SOURCE, False, ())
    run = run_of(database)
    assert (run.status, run.source, run.planned, run.max_pages) == ("running", "shop", 2, 4)
    assert Source.of_plan(run.plan) == SOURCE
    assert workers(database) == ["first"]
    view = book.view(set(), 9)
    assert (view.stop_requested, view.drained, sorted(view.waiting)) == (
        False,
        False,
        ["other.example", DOMAIN],
    )
    assert book.view({DOMAIN}, 9).waiting == ["other.example"]
    assert book.leases.rules.max_attempts == 2


def test_each_domain_has_its_turn(book: RunStore) -> None:
    """Where a run has more domains than a process visits at once, the alphabet decides nothing."""
    names = [f"{letter}.example" for letter in "abcde"]
    urls = tuple(f"https://{name}/" for name in names)
    book.open(RunOrder(Source("five", "Five shops", urls, tuple(names))))
    assert [book.view((), 2).waiting for _ in range(3)] == [names[:2], names[2:4], [names[4], names[0]]]
    assert book.view((), 0).waiting == []
    assert book.view(names, 2).waiting == []
    assert book.view((), 2).waiting == names[1:3]


def test_a_stopped_run_is_resumed_as_it_was_planned(
    book: RunStore, second: RunStore, database: Database
) -> None:
    """Whatever the source says by now; what it has learnt is known again."""
    first = book.open(RunOrder(SOURCE))
    book.deny([Denial(DOMAIN, "/account/**", "led to a login")])
    assert [denial.pattern for denial in book.view(set(), 1).learnt] == ["/account/**"]
    assert book.end() == "stopped"
    assert run_of(database).completed_at
    changed = Source("shop", "Renamed", (HOME,), (DOMAIN,))
    again = second.open(RunOrder(changed, resume=True))
    assert (again.id, again.resumed, again.source) == (first.id, True, SOURCE)
    assert scope_of(again.source, again.denials).judge(f"{HOME}account/x") == "filtered by path rules"
    run = run_of(database)
    assert (run.status, run.completed_at, run.stop_requested_at) == ("running", None, None)


def test_where_nothing_can_be_resumed_a_run_begins(book: RunStore, second: RunStore) -> None:
    """So that a scheduled command needs no two forms."""
    first = book.open(RunOrder(SOURCE, resume=True))
    assert not first.resumed
    finish_all(book)
    assert book.end() == "completed"
    assert second.open(RunOrder(SOURCE, resume=True)).id > first.id


def test_a_run_that_is_over_or_unknown_is_refused(
    book: RunStore, second: RunStore, database: Database
) -> None:
    """With its status, before anything is started for it as well."""
    run = book.open(RunOrder(SOURCE))
    finish_all(book)
    book.end()
    with pytest.raises(RunOverError, match=f"run {run.id} is completed") as refused:
        second.open(RunOrder(run_id=run.id))
    assert refused.value.exit_code == 5
    with pytest.raises(NotFoundError):
        second.open(RunOrder(run_id=999))
    with pytest.raises(UsageError):
        second.open(RunOrder())
    assert workers(database) == []


def test_processes_join_a_run(book: RunStore, second: RunStore, database: Database) -> None:
    """The last one to leave ends it; until then it goes on."""
    run = book.open(RunOrder(SOURCE))
    assert second.open(RunOrder(run_id=run.id)).resumed
    assert workers(database) == ["first", "second"]
    assert book.end() == "running"
    assert second.end() == "stopped"


# ── its tasks ──


def test_a_task_is_led_to_its_end(book: RunStore, database: Database) -> None:
    """Leased, failed, tried again, given up; then a person is told once."""
    book.open(RunOrder(SOURCE))
    [task] = book.lease(DOMAIN, 5)
    assert book.renew([task.lease]) == {task.lease.id}
    assert book.end_task(task, TaskEnd(Cause.TIMEOUT, "too slow")) is Outcome.RETRIED
    due = book.next_due(DOMAIN)
    assert due
    assert due.total_seconds() <= 1
    make_due(database)
    [task] = book.lease(DOMAIN, 5)
    assert task.lease.attempts == 2
    with database.read() as db:
        assert not db.scalars(select(CrawlException)).all()
    assert book.end_task(task, TaskEnd(Cause.CRASHED, "too odd")) is Outcome.FAILED
    with database.read() as db:
        [noted] = db.scalars(select(CrawlException))
    assert (noted.stage, noted.url, noted.message, noted.context) == (
        "parse", HOME, "too odd", {"cause": "crashed", "http_status": None, "attempts": 2},
    )  # fmt: skip
    assert book.next_due(DOMAIN) is None


def make_due(database: Database) -> None:
    """Let all rests be over."""
    with database.write() as db:
        db.execute(update(Task).values(next_run_at=Task.created_at))


def test_who_lost_a_task_writes_nothing(book: RunStore, second: RunStore, database: Database) -> None:
    """Its lease ran out, and somebody else has it."""
    run = book.open(RunOrder(SOURCE))
    second.open(RunOrder(run_id=run.id))
    [task] = book.lease(DOMAIN, 5)
    with database.write() as db:
        db.execute(update(Task).where(Task.id == task.lease.id).values(lease_expires_at=Task.created_at))
    [theirs] = second.lease(DOMAIN, 5)
    assert book.renew([task.lease]) == set()
    assert book.end_task(task, TaskEnd(Cause.TIMEOUT, "late")) is None
    assert book.end_task(task, TaskEnd()) is None
    assert book.give_back([task], Release.LEFT) == 0
    assert second.end_task(theirs, TaskEnd())


def test_what_is_given_back_costs_no_attempt(book: RunStore) -> None:
    """And is due at once."""
    book.open(RunOrder(SOURCE))
    given_up = book.lease(DOMAIN, 5)
    assert book.give_back(given_up, Release.STOPPED) == 1
    [task] = book.lease(DOMAIN, 5)
    assert task.lease.attempts == 1


def test_a_task_is_led_elsewhere(book: RunStore, database: Database) -> None:
    """What the run knows is another task's; on another domain it becomes one, within the run's limit."""
    book.open(RunOrder(SOURCE))
    [task] = book.lease(DOMAIN, 5)
    assert book.has_own_task(task, OTHER)
    assert not book.has_own_task(task, f"{HOME}new")
    assert book.has_own_task(task, f"{OTHER}new")
    assert book.has_own_task(task, f"{OTHER}last")
    assert not book.has_own_task(task, f"{OTHER}too-many")
    with database.read() as db:
        assert db.scalars(select(Task.url).order_by(Task.id)).all() == [
            HOME, OTHER, f"{OTHER}new", f"{OTHER}last",
        ]  # fmt: skip


def test_a_url_is_one_page_however_it_is_written() -> None:
    """Its identity is its canonical form; the task keeps what was found."""
    one, other = task_of("https://www.shop.example:443/a?b=1#c"), task_of("https://www.shop.example/a?b=1")
    assert one.url_sha256 == other.url_sha256
    assert one.domain == other.domain == DOMAIN
    assert task_of("https://shop.example/a?b=2").url_sha256 != one.url_sha256


def test_how_it_stands_is_counted(book: RunStore) -> None:
    """With the domain that has the most to do."""
    book.open(RunOrder(SOURCE))
    book.lease(DOMAIN, 1)
    counts, slowest = book.standing()
    assert (counts, slowest) == (
        {"pending": 1, "in_progress": 1, "finished": 0, "error": 0}, "other.example",
    )  # fmt: skip


# ── alive, and ended ──


def test_who_was_taken_for_dead_says_again_that_it_lives(
    book: RunStore, second: RunStore, database: Database
) -> None:
    """So that a wish to stop waits for it; but not in a run that is over."""
    run = book.open(RunOrder(SOURCE))
    with database.write() as db:
        rows.leave(db, run.id, "first")
    book.renew([])
    assert workers(database) == ["first"]
    finish_all(book)
    second.open(RunOrder(run_id=run.id))
    assert second.end() == "completed"
    with database.write() as db:
        rows.leave(db, run.id, "first")
    book.renew([])
    assert workers(database) == []


def test_a_run_that_failed_says_why_and_can_be_resumed(
    book: RunStore, second: RunStore, database: Database
) -> None:
    """Unless somebody else is at it still, or all was done in spite of it."""
    run = book.open(RunOrder(SOURCE))
    assert book.end(failed="the gate is away") == "failed"
    assert (run_of(database).last_error, workers(database)) == ("the gate is away", [])
    assert second.open(RunOrder(SOURCE, resume=True)).id == run.id
    assert run_of(database).last_error is None
    finish_all(second)
    assert second.end(failed="the gate is away") == "completed"


class Counting:
    """Writes along when a run ends."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def run_completed(self, db: Session, run_id: int, source: Source, now: datetime) -> None:
        """Remember it."""
        self.told.append((run_id, source.code))


def test_closers_hear_of_a_completed_run_once(database: Database, settings: Settings) -> None:
    """And of no other end."""
    closer = Counting()
    book = RunStore(database, settings, "first", (closer,))
    run = book.open(RunOrder(SOURCE))
    book.end()
    assert not closer.told
    again = RunStore(database, settings, "second", (closer,))
    again.open(RunOrder(run_id=run.id))
    finish_all(again)
    assert [again.end(), again.end()] == ["completed", "completed"]
    assert closer.told == [(run.id, "shop")]


def test_a_wish_to_stop_is_seen_and_kept(book: RunStore, database: Database) -> None:
    """Even where nothing is left to do, for whoever wished it may mean to go on later."""
    run = book.open(RunOrder(SOURCE))
    finish_all(book)
    with database.write() as db:
        assert rows.request_stop(db, run.id, db.now)
    view = book.view(set(), 9)
    assert (view.stop_requested, view.drained) == (True, True)
    assert book.end() == "stopped"


def test_the_rules_are_the_settings_and_the_sources(settings: Settings) -> None:
    """A lease's deadline lies behind the end of the longest session."""
    rules = rules_of(settings)
    assert rules.max_attempts == settings.task_max_retries
    assert rules.deadline_seconds > settings.session_max_seconds
    assert rules_of(settings, SOURCE).max_attempts == 2
