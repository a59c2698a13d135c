"""What a process writes of a run, on both databases."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import select, update

from crawler.access.process import this_process
from crawler.access.scope import Denial
from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import Run, RunWorker, ScrapeRecord, Task
from crawler.errors import ConfigError, NotFoundError, UsageError
from crawler.runs import rows, tasks
from crawler.runs import store as module
from crawler.runs.sources import Source
from crawler.runs.store import RunOrder, RunOverError, RunStore, leave, request_stop, rules_of
from crawler.runs.task_ends import Release, TaskEnd
from tests.unit.runs.queues import (
    LATER,
    NOON,
    SECOND,
    SOON,
    Queue,
    a_new_run,
    a_run,
    join,
    load,
    page,
    written,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.config import Settings

HOME, OTHER = "https://shop.example/", "https://other.example/"
DOMAIN = "shop.example"
SOURCE = Source("shop", "The shop", (HOME, OTHER), (DOMAIN, "other.example"), max_pages=4, max_retries=2)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """No wait between tries."""
    return load_settings({"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", "TASK_BACKOFF_MIN_SECONDS": "0"})


@pytest.fixture
def on_postgresql(postgres_database: str) -> Generator[Database]:
    """Where several transactions write at once."""
    opened = Database(postgres_database)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database, settings: Settings) -> RunStore:
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


def finish_all(store: RunStore) -> None:
    """Do what there is to do."""
    for domain in (DOMAIN, "other.example"):
        for task in store.lease(domain, 10)[0]:
            assert store.end_task(task, TaskEnd())


def test_a_new_run_begins_with_its_start_pages(store: RunStore, database: Database) -> None:
    """It keeps the source as it was, and this process is at it."""
    at_work = store.open(RunOrder(SOURCE))
    assert (at_work.source, at_work.resumed, at_work.scope.denials) == (SOURCE, False, ())
    assert at_work.jitter_seconds == 1  # by default
    run = run_of(database)
    assert (run.status, run.source, run.planned, run.max_pages) == ("running", "shop", 2, 4)
    assert Source.of_plan(run.plan) == SOURCE
    assert workers(database) == ["first"]
    view = store.view(set(), 9, counted=True)
    assert (view.stop_requested, view.left.is_drained) == (False, False)
    assert sorted(view.left.domains) == ["other.example", DOMAIN]
    counts = {"pending": 2, "in_progress": 0, "finished": 0, "error": 0, "refused": 0}
    assert (view.left.counts, store.view(set(), 9).left.counts) == (counts, {})
    assert store.view({DOMAIN}, 9).left.domains == ["other.example"]
    assert (at_work.max_attempts, store.leases.rules.max_attempts) == (2, 2)


def test_each_domain_has_its_turn(store: RunStore) -> None:
    """Where a run has more domains than a process visits at once, the alphabet decides nothing."""
    names = [f"{letter}.example" for letter in "abcde"]
    urls = tuple(f"https://{name}/" for name in names)
    store.open(RunOrder(Source("five", "Five shops", urls, tuple(names))))
    assert [store.view((), 2).left.domains for _ in range(3)] == [names[:2], names[2:4], [names[4], names[0]]]
    assert store.view((), 0).left.domains == []
    assert store.view(names, 2).left.domains == []
    assert store.view((), 2).left.domains == names[1:3]


def test_a_stopped_run_is_resumed_as_it_was_planned(
    store: RunStore, second: RunStore, database: Database
) -> None:
    """Whatever the source says by now; what it has learnt is known again."""
    first = store.open(RunOrder(SOURCE))
    store.deny([Denial(DOMAIN, "/account/**", "led to a login")])
    assert [denial.pattern for denial in store.view(set(), 1).learnt] == ["/account/**"]
    assert store.end() == "stopped"
    assert run_of(database).completed_at
    changed = Source("shop", "Renamed", (HOME,), (DOMAIN,))
    again = second.open(RunOrder(changed, resume=True))
    assert (again.id, again.resumed, again.source) == (first.id, True, SOURCE)
    assert again.scope.judge(f"{HOME}account/x") == "filtered by path rules"
    run = run_of(database)
    assert (run.status, run.completed_at, run.stop_requested_at) == ("running", None, None)


def test_a_recorded_run_does_not_go_on_unrecorded(
    store: RunStore, second: RunStore, database: Database
) -> None:
    """Nothing is changed by who is refused."""
    store.settings = store.settings.model_copy(update={"page_store": "warc"})
    run = store.open(RunOrder(SOURCE))
    store.end()
    for order in (RunOrder(run_id=run.id), RunOrder(SOURCE, resume=True)):
        with pytest.raises(ConfigError, match="is kept in WARC files"):
            second.open(order)
    assert (run_of(database).status, workers(database)) == ("stopped", [])
    assert store.open(RunOrder(run_id=run.id)).resumed


def test_a_run_that_is_over_or_unknown_is_refused(
    store: RunStore, second: RunStore, database: Database
) -> None:
    """With its status, before anything is started for it as well."""
    run = store.open(RunOrder(SOURCE))
    finish_all(store)
    store.end()
    with pytest.raises(RunOverError, match=f"run {run.id} is completed") as refused:
        second.open(RunOrder(run_id=run.id))
    assert refused.value.exit_code == 5
    with pytest.raises(NotFoundError):
        second.open(RunOrder(run_id=999))
    with pytest.raises(UsageError):
        second.open(RunOrder())
    assert workers(database) == []


def test_who_lost_a_task_writes_nothing(store: RunStore, second: RunStore, database: Database) -> None:
    """Its lease ran out, and somebody else has it."""
    run = store.open(RunOrder(SOURCE))
    second.open(RunOrder(run_id=run.id))
    [task], _ = store.lease(DOMAIN, 5)
    assert store.renew([task.lease]) == [task.lease]
    with database.write() as db:
        db.execute(update(Task).where(Task.id == task.lease.id).values(lease_expires_at=Task.created_at))
    [theirs], _ = second.lease(DOMAIN, 5)
    assert store.renew([task.lease]) == []
    assert store.end_task(task, TaskEnd(Cause.TIMEOUT, "late")) is None
    assert store.end_task(task, TaskEnd()) is None
    assert store.give_back([task], Release.LEFT) == 0
    assert second.end_task(theirs, TaskEnd())


def test_a_task_is_led_elsewhere(store: RunStore, database: Database) -> None:
    """What the run knows is another task's; on another domain it becomes one, within the run's limit."""
    store.open(RunOrder(SOURCE))
    [task], _ = store.lease(DOMAIN, 5)
    assert store.has_own_task(task, OTHER)
    assert not store.has_own_task(task, f"{HOME}new")
    assert store.has_own_task(task, f"{OTHER}new")
    assert store.has_own_task(task, f"{OTHER}last")
    assert not store.has_own_task(task, f"{OTHER}too-many")
    with database.read() as db:
        assert db.scalars(select(Task.url).order_by(Task.id)).all() == [
            HOME, OTHER, f"{OTHER}new", f"{OTHER}last",
        ]  # fmt: skip


def test_who_was_taken_for_dead_says_again_that_it_lives(
    store: RunStore, second: RunStore, database: Database
) -> None:
    """So that a wish to stop waits for it; but not in a run that is over."""
    run = store.open(RunOrder(SOURCE))
    with database.write() as db:
        leave(db, run.id, "first")
    store.renew([])
    assert workers(database) == ["first"]
    finish_all(store)
    second.open(RunOrder(run_id=run.id))
    assert second.end() == "completed"
    with database.write() as db:
        leave(db, run.id, "first")
    store.renew([])
    assert workers(database) == []


def test_a_run_that_failed_says_why_and_can_be_resumed(
    store: RunStore, second: RunStore, database: Database
) -> None:
    """Unless somebody else is at it still, or all was done in spite of it."""
    run = store.open(RunOrder(SOURCE))
    assert store.end(failed="the gate is away") == "failed"
    assert (run_of(database).last_error, workers(database)) == ("the gate is away", [])
    assert second.open(RunOrder(SOURCE, resume=True)).id == run.id
    assert run_of(database).last_error is None
    finish_all(second)
    assert second.end(failed="the gate is away") == "completed"


def test_hooks_hear_once_that_a_run_is_completed(database: Database, settings: Settings) -> None:
    """And of no other end; a run with nothing left is not resumed, a new one begins."""
    heard: list[tuple[int, str]] = []

    def completed(_db: Session, run_id: int, source: Source, _now: datetime) -> None:
        heard.append((run_id, source.code))

    first, again = (RunStore(database, settings, owner, completed) for owner in ("first", "second"))
    run = first.open(RunOrder(SOURCE, resume=True))
    assert again.open(RunOrder(run_id=run.id)).resumed
    assert (run.resumed, workers(database)) == (False, ["first", "second"])
    assert (first.end(), again.end(), heard) == ("running", "stopped", [])
    again.open(RunOrder(run_id=run.id))
    finish_all(again)
    assert [again.end(), again.end()] == ["completed", "completed"]
    assert heard == [(run.id, "shop")]
    assert again.open(RunOrder(SOURCE, resume=True)).id > run.id


def test_rules_of_leases_come_from_settings_and_source(settings: Settings) -> None:
    """A lease's deadline lies behind the end of the longest session."""
    rules = rules_of(settings)
    assert rules.max_attempts == settings.task_max_retries
    assert rules.deadline_seconds > settings.session_max_seconds
    assert rules_of(settings, SOURCE).max_attempts == 2
    given = load_settings({"DATABASE_URL": "", "TASK_BACKOFF_MULTIPLIER": "1.5"})
    assert (rules.multiplier, rules_of(given).multiplier) == (2, 1.5)


def test_pauses_between_pages_are_the_sources_or_the_settings(database: Database) -> None:
    """Of up to a second where neither says otherwise."""
    settings = load_settings({"DATABASE_URL": "", "TASK_JITTER_SECONDS": "3"})
    sources = (SOURCE, evolve(SOURCE, jitter_seconds=2.5), evolve(SOURCE, jitter_seconds=0))
    stores = [RunStore(database, settings, "first") for _ in sources]
    longest = [store.open(RunOrder(each)).jitter_seconds for store, each in zip(stores, sources, strict=True)]
    assert longest == [3, 2.5, 0]


def test_a_wish_to_stop_is_seen_and_kept(store: RunStore, database: Database) -> None:
    """Even where nothing is left to do, for whoever wished it may mean to go on later."""
    run = store.open(RunOrder(SOURCE))
    finish_all(store)
    with database.write() as db:
        assert request_stop(db, run.id, db.now)
    view = store.view(set(), 9)
    assert (view.stop_requested, view.left.is_drained) == (True, True)
    assert store.end() == "stopped"


def test_a_drained_run_is_completed(database: Database) -> None:
    """SPEC D77, D95: when nothing is pending and nothing in progress, and only then."""
    queue = Queue(database, a_run(database, page(1)))
    assert not written(database, module.end_if_drained, queue.run_id, NOON)
    [lease] = queue.acquire()
    assert not written(database, module.end_if_drained, queue.run_id, NOON)
    queue.finish(lease)
    assert written(database, module.end_if_drained, queue.run_id, SOON)
    assert not written(database, module.end_if_drained, queue.run_id, LATER)
    run = load(database, queue.run_id)
    assert (run.status, run.completed_at) == ("completed", SOON)


def test_a_run_does_not_end_while_somebody_adds_to_it(on_postgresql: Database) -> None:
    """Who would end it waits for who has the news, and then sees it."""
    database = on_postgresql
    run_id = a_run(database)
    said: list[bool] = []
    ender = threading.Thread(
        target=lambda: said.append(written(database, module.end_if_drained, run_id, NOON))
    )
    with database.write() as db:
        tasks.add(db, run_id, [page(1)], NOON)
        ender.start()
        ender.join(0.3)
        assert ender.is_alive()
    ender.join()
    assert said == [False]
    assert load(database, run_id).status == "running"


def test_the_last_worker_stops_the_run(database: Database) -> None:
    """SPEC D94, D97: with the time of its end; until then others go on."""
    run_id = a_run(database)
    join(database, run_id, "one", "two")
    join(database, run_id, "dead", until=SOON)
    assert not written(database, module.leave_and_end, run_id, "one", SOON)
    assert load(database, run_id).status == "running"
    assert written(database, module.leave_and_end, run_id, "two", SOON)
    run = load(database, run_id)
    assert (run.status, run.completed_at) == ("stopped", SOON)
    assert not written(database, module.leave_and_end, run_id, "two", LATER)


def test_two_who_stop_at_once_stop_the_run(on_postgresql: Database) -> None:
    """Neither leaves it to the other."""
    database = on_postgresql
    for turn in range(3):
        run_id = a_run(database)
        join(database, run_id, "one", "two")
        at_once = threading.Barrier(2)
        said: list[bool] = []

        def leave(owner: str, run_id: int, at_once: threading.Barrier, said: list[bool]) -> None:
            at_once.wait()
            said.append(written(database, module.leave_and_end, run_id, owner, NOON))

        workers = [threading.Thread(target=leave, args=(o, run_id, at_once, said)) for o in ("one", "two")]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(said) == [False, True], turn
        assert load(database, run_id).status == "stopped"


@pytest.mark.parametrize("is_started", [False, True])
def test_a_run_that_nobody_is_at_stops_when_asked(database: Database, *, is_started: bool) -> None:
    """There is nobody who would see the wish."""
    run_id = a_run(database) if is_started else a_new_run(database)
    assert written(database, module.request_stop, run_id, SOON)
    run = load(database, run_id)
    assert (run.status, run.completed_at) == ("stopped", SOON)
    assert not written(database, module.request_stop, run_id, LATER)


def test_a_stop_gives_back_what_dead_workers_hold(database: Database) -> None:
    """SPEC D96: at once, not when their leases have run out; and the run's end is on record."""
    queue = Queue(database, a_run(database, page(1), page(2)))
    queue.acquire(owner="dead", limit=1)
    join(database, queue.run_id, "dead", until=SOON)
    assert written(database, module.request_stop, queue.run_id, LATER)
    run = load(database, queue.run_id)
    assert (run.status, run.completed_at) == ("stopped", LATER)
    assert [(task.status, task.attempts) for task in queue.rows()] == [("pending", 0)] * 2
    [record] = run_records(database)
    assert (record.subject_id, record.status, record.timestamp) == (str(run.id), "stopped", LATER)
    assert record.details["tasks"] == {"pending": 2, "in_progress": 0, "finished": 0, "error": 0}


def test_a_stop_leaves_the_living_what_they_have(database: Database) -> None:
    """They give it back themselves, and end the run; the dead count no more."""
    queue = Queue(database, a_run(database, page(1), page(2)))
    queue.acquire(owner="dead", limit=1)
    queue.acquire(owner="alive", limit=1)
    join(database, queue.run_id, "dead", until=SOON)
    join(database, queue.run_id, "alive")
    assert written(database, module.request_stop, queue.run_id, SOON)
    assert load(database, queue.run_id).status == "running"
    assert [task.status for task in queue.rows()] == ["pending", "in_progress"]
    assert workers(database) == ["alive"]
    assert not run_records(database)


def test_a_worker_whose_process_is_gone_is_dead_at_once(database: Database) -> None:
    """On its own machine that can be seen, however long it said that it would live."""
    queue = Queue(database, a_run(database, page(1)))
    queue.acquire(owner="killed")
    *this_machine, _pid, _started = this_process().split("|")
    gone = "|".join([*this_machine, str(2**22 - 1), "1"])
    with database.write() as db:
        db.add(RunWorker(run_id=queue.run_id, owner="killed", alive_until=LATER, process=gone))
    with database.read() as db:
        assert rows.living_workers(db, queue.run_id, NOON) == []
    assert written(database, module.request_stop, queue.run_id, NOON)
    assert load(database, queue.run_id).status == "stopped"
    assert [task.status for task in queue.rows()] == ["pending"]


def run_records(database: Database) -> list[ScrapeRecord]:
    """What is on record of runs."""
    with database.read() as db:
        return list(db.scalars(select(ScrapeRecord).where(ScrapeRecord.kind == "run")))


def test_a_failure_ends_the_run_of_the_last_worker(database: Database) -> None:
    """With its reason; while others are at it, it goes on."""
    run_id = a_run(database)
    join(database, run_id, "one", "two")
    assert not written(database, module.leave_and_end, run_id, "one", SOON, failed="disk full")
    assert written(database, module.leave_and_end, run_id, "two", SOON, failed="disk\0full")
    run = load(database, run_id)
    assert (run.status, run.completed_at) == ("failed", SOON)
    assert run.last_error == "disk\N{REPLACEMENT CHARACTER}full"


def test_a_run_that_was_left_goes_on(database: Database) -> None:
    """SPEC D86: its workers died, perhaps after somebody had wished it to stop; what they held comes back."""
    queue = Queue(database, a_run(database, page(1)))
    join(database, queue.run_id, "dead", until=SOON)
    written(database, module.request_stop, queue.run_id, NOON)
    [lost] = queue.acquire(owner="dead")
    assert written(database, module.reopen, queue.run_id, LATER)
    join(database, queue.run_id, "one", until=LATER + SECOND)
    assert not load(database, queue.run_id).stop_requested_at
    with database.read() as db:
        assert rows.living_workers(db, queue.run_id, NOON) == ["one"]
    [again] = queue.acquire(LATER)
    assert again.id == lost.id


def test_a_run_at_work_is_joined_as_it_is(database: Database) -> None:
    """A wish to stop it is not lost by a second worker's coming."""
    run_id = a_run(database)
    join(database, run_id, "one")
    written(database, module.request_stop, run_id, NOON)
    assert written(database, module.reopen, run_id, SOON)
    assert written(database, module.request_stop, run_id, SOON)
    assert load(database, run_id).stop_requested_at == NOON  # the first wish counts


def test_a_completed_run_is_over(database: Database) -> None:
    """It is neither reopened nor stopped; one that has not begun is started instead."""
    run_id = a_run(database)
    written(database, module.end_if_drained, run_id, NOON)
    assert not written(database, module.reopen, run_id, SOON)
    assert not written(database, module.request_stop, run_id, SOON)
    assert load(database, run_id).status == "completed"
    assert not written(database, module.reopen, a_new_run(database), SOON)
