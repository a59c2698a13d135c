"""Leases beside a model of them, on SQLite and PostgreSQL, whatever happens in whatever order.

The model is a few lines of Python on dictionaries. After each step the table says what the model says.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select
from sqlalchemy.orm import Session

from crawler.db.models import Task
from crawler.leases.rows import Lease, Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import store, tasks
from tests.unit.runs.queues import NOON, SECOND, page

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database

RULES = LeaseRules(
    lease_seconds=30, deadline_seconds=70, max_attempts=3,
    backoff_min_seconds=1, backoff_max_seconds=3, jitter_seconds=0,
)  # fmt: skip
DOMAINS = ("a.example", "b.example")
OWNERS = ("one", "two", "three")
HISTORIES = int(os.environ.get("LEASE_HISTORIES", "2000"))  # in a soak, of 100 steps; 20,000 take hours
HORIZON = 31  # seconds after which a silent owner has lost everything


@define
class Expected:
    """A task as it should stand."""

    domain: str
    priority: int
    next_run_at: datetime
    status: str = "pending"
    attempts: int = 0
    epoch: int = 0
    owner: str | None = None
    expires_at: datetime | None = None
    deadline_at: datetime | None = None
    error: str | None = None
    is_begun: bool = False
    deaths: int = 0

    def leave(self, status: str, **facts: Any) -> None:
        """Go back, or to its end, without an owner."""
        self.status, self.owner, self.expires_at, self.deadline_at = status, None, None, None
        for name, value in facts.items():
            setattr(self, name, value)


class LeaseMachine(RuleBasedStateMachine):
    """Everything happens within one transaction, which is rolled back in the end."""

    issued: Bundle[Lease] = Bundle("issued")

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.stack = ExitStack()
        connection = self.stack.enter_context(database.engine.connect())
        self.stack.callback(connection.rollback)
        self.db = self.stack.enter_context(Session(connection))
        self.leases = Leases(Task, RULES, ahead=True)
        self.now = NOON
        self.run_id = store.create(self.db, "shop", {}, max_pages=None, now=NOON)
        self.model: dict[int, Expected] = {}
        self.numbers: set[tuple[int, int]] = set()
        self.done: set[int] = set()

    def teardown(self) -> None:
        """Leave no trace."""
        self.stack.close()

    # ── what may happen ──

    @rule(domain=st.sampled_from(DOMAINS), priority=st.integers(0, 2))
    def enqueue(self, domain: str, priority: int) -> None:
        """A page is found, and found again."""
        found = page(len(self.model), domain, priority=priority)
        assert tasks.add(self.db, self.run_id, [found, found], self.now) == 1
        assert tasks.add(self.db, self.run_id, [found], self.now) == 0
        newest = select(Task.id).order_by(Task.id.desc()).limit(1)
        self.model[self.db.scalars(newest).one()] = Expected(domain, priority, self.now)

    @rule(
        target=issued, owner=st.sampled_from(OWNERS), domain=st.sampled_from(DOMAINS), limit=st.integers(0, 4)
    )
    def lease(self, owner: str, domain: str, limit: int) -> Any:
        """Somebody leases tasks of a domain."""
        self._expect_freed(domain)
        expected = self._due(domain)[:limit]
        for number in expected:
            task = self.model[number]
            task.status, task.owner = "in_progress", owner
            task.epoch, task.is_begun = task.epoch + 1, False
            task.expires_at, task.deadline_at = self.now + RULES.lease, self.now + RULES.deadline
        found, _ = tasks.lease(
            self.db, self.leases, self.run_id, domain, owner=owner, now=self.now, limit=limit
        )
        taken = [task.lease for task in found]
        assert [lease.id for lease in taken] == expected
        numbers = {(lease.id, lease.epoch) for lease in taken}
        assert not numbers & self.numbers, "a right was given out twice"
        self.numbers |= numbers
        return multiple(*taken)

    @rule(leases=st.lists(issued, max_size=4))
    def begin(self, leases: list[Lease]) -> None:
        """Somebody begins with tasks that it has or had, perhaps not for the first time."""
        expected = {lease.id for lease in leases if self._is_ours(lease)}
        for number in expected:
            task = self.model[number]
            task.attempts += not task.is_begun
            task.is_begun = True
        assert self.leases.begin(self.db, leases, self.now) == expected

    @rule(leases=st.lists(issued, max_size=4))
    def renew(self, leases: list[Lease]) -> None:
        """Somebody says that it lives, of tasks that it has or had."""
        expected = {lease.id for lease in leases if self._is_renewable(lease)}
        for number in expected:
            task = self.model[number]
            assert task.deadline_at
            task.expires_at = min(self.now + RULES.lease, task.deadline_at)
        assert self.leases.renew(self.db, leases, self.now) == expected

    @rule(lease=issued)
    def finish(self, lease: Lease) -> None:
        """Somebody is done."""
        expected = self._is_ours(lease)
        if expected:
            self.model[lease.id].leave("finished", error=None, attempts=lease.attempts)
            self.done.add(lease.id)
        assert self.leases.finish(self.db, lease, self.now, outcome="stored") is expected

    @rule(lease=issued, final=st.booleans())
    def fail(self, lease: Lease, *, final: bool) -> None:
        """Something went wrong."""
        expected = None
        if self._is_ours(lease):
            task = self.model[lease.id]
            task.attempts, task.deaths = lease.attempts, 0
            expected = "error" if final or task.attempts == RULES.max_attempts else "pending"
            rest = {1: 1, 2: 2}.get(task.attempts, 0) * SECOND
            due = self.now + rest if expected == "pending" else task.next_run_at
            task.leave(expected, error="no answer", next_run_at=due)
        assert self.leases.fail(self.db, lease, "no answer", self.now, final=final) == expected

    @rule(leases=st.lists(issued, max_size=4))
    def release(self, leases: list[Lease]) -> None:
        """Somebody stops."""
        expected = {lease.id for lease in leases if self._is_ours(lease)}
        for number in expected:
            task = self.model[number]
            attempts = task.attempts - task.is_begun
            task.leave("pending", error="stopped", attempts=attempts, next_run_at=self.now)
        assert self.leases.release(self.db, leases, "stopped", self.now) == expected

    @rule(seconds=st.sampled_from([0.5, 1, 2, 5, 29, 30, 31, 70]))
    def tick(self, seconds: float) -> None:
        """Time goes by."""
        self.now += seconds * SECOND

    @rule(dead=st.sampled_from(OWNERS))
    def crash(self, dead: str) -> None:
        """One falls silent for good, while the others go on renewing and lose nothing to expiry."""
        for _ in range(0, HORIZON, 10):
            self.tick(10)
            alive = [self._lease_of(n, t) for n, t in self.model.items() if t.owner not in {None, dead}]
            self.renew(alive)
        for domain in DOMAINS:
            self.reclaim(domain)
        for task in self.model.values():
            assert task.owner != dead
            if task.owner:
                assert task.deadline_at
                assert task.deadline_at > self.now

    @rule(domain=st.sampled_from(DOMAINS))
    def reclaim(self, domain: str) -> None:
        """Somebody asks who has no room for more: only what expired is freed."""
        self._expect_freed(domain)
        taken, _ = tasks.lease(self.db, self.leases, self.run_id, domain, owner="x", now=self.now, limit=0)
        assert taken == []

    # ── what must hold ──

    @invariant()
    def the_table_says_what_the_model_says(self) -> None:
        """Task by task; no more attempts than allowed, no expiry beyond the deadline, no end undone."""
        for row in self._rows():
            task = self.model[row["id"]]
            assert row["status"] == task.status
            assert (row["attempts"], row["lease_epoch"]) == (task.attempts, task.epoch)
            assert row["deaths"] == task.deaths
            assert (row["lease_owner"], row["last_error"]) == (task.owner, task.error)
            assert (row["lease_expires_at"], row["lease_deadline_at"]) == (task.expires_at, task.deadline_at)
            assert row["next_run_at"] == task.next_run_at
            assert (row["finished_at"] is not None) == (task.status in {"finished", "error"})
            assert (row["status"] == "finished") == (row["id"] in self.done)
            assert row["attempts"] <= RULES.max_attempts
            if row["status"] == "in_progress":
                assert row["lease_expires_at"] <= row["lease_deadline_at"]

    @invariant()
    def nothing_is_lost(self) -> None:
        """Whatever was enqueued is pending, in progress, finished or given up."""
        counted = tasks.counts(self.db, self.run_id)
        assert sum(counted.values()) == len(self.model)
        assert counted["finished"] == len(self.done)

    @invariant()
    def what_is_to_do_is_told(self) -> None:
        """Which domains wait, when each is due next, and whether anything is left."""
        due = [d for d in DOMAINS if self._due(d) or self._expired(d)]
        assert sorted(tasks.waiting_domains(self.db, self.run_id, self.now)) == due
        for domain in DOMAINS:
            times = self._times(domain)
            told = tasks.domain_due_at(self.db, self.run_id, domain)
            assert told == min(times, default=None) or (told in times and told <= self.now)
        assert tasks.is_drained(self.db, self.run_id) == (not any(map(self._times, DOMAINS)))

    # ── the model ──

    def _is_ours(self, lease: Lease) -> bool:
        task = self.model[lease.id]
        return (task.status, task.owner, task.epoch) == ("in_progress", lease.owner, lease.epoch)

    def _is_renewable(self, lease: Lease) -> bool:
        deadline = self.model[lease.id].deadline_at
        return self._is_ours(lease) and deadline is not None and self.now < deadline

    def _due(self, domain: str) -> list[int]:
        waiting = [
            (-task.priority, number)
            for number, task in self.model.items()
            if task.domain == domain and task.status == "pending" and task.next_run_at <= self.now
        ]
        return [number for _, number in sorted(waiting)]

    def _expired(self, domain: str) -> list[Expected]:
        of_domain = [task for task in self.model.values() if task.domain == domain]
        return [task for task in of_domain if task.expires_at and task.expires_at <= self.now]

    def _times(self, domain: str) -> list[datetime]:
        """The ends of rests and leases."""
        of_domain = [task for task in self.model.values() if task.domain == domain]
        rests = [task.next_run_at for task in of_domain if task.status == "pending"]
        return rests + [task.expires_at for task in of_domain if task.expires_at]

    def _expect_freed(self, domain: str) -> None:
        for task in self._expired(domain):
            was_alone = task.is_begun and task.deaths > 0
            was_last = was_alone and task.attempts == RULES.max_attempts
            task.attempts -= task.is_begun and not was_alone
            task.deaths += task.is_begun
            due = self.now + SECOND if was_alone else self.now
            task.leave("error" if was_last else "pending", error="lease expired", next_run_at=due)

    def _lease_of(self, number: int, task: Expected) -> Lease:
        assert task.owner
        attempts = task.attempts + (not task.is_begun)
        return Lease(number, task.owner, task.epoch, attempts)

    def _rows(self) -> list[Any]:
        query = select(Task.__table__).where(Task.run_id == self.run_id)
        return list(self.db.connection().execute(query).mappings())


def torture(database: Database, examples: int, steps: int) -> None:
    """So many histories of so many steps."""

    class Machine(LeaseMachine):
        def __init__(self) -> None:
            super().__init__(database)

    effort = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None,
        suppress_health_check=list(HealthCheck), database=None,
    )  # fmt: skip
    run_state_machine_as_test(Machine, settings=effort)


def test_leases_hold_in_any_order_of_events(database: Database) -> None:
    """One living owner; what is finished stays so; who is stale changes nothing; nothing is lost."""
    torture(database, *((40, 35) if database.is_sqlite else (8, 25)))


@pytest.mark.soak(minutes=90)
def test_leases_hold_for_long(database: Database) -> None:
    """The same, in longer histories and more of them; each is quicker on SQLite."""
    torture(database, HISTORIES if database.is_sqlite else HISTORIES // 4, 100)
