"""A run with tasks, for tests that need one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawler.db.models import Run, Task
from crawler.leases.rows import Lease, Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import store, tasks
from crawler.runs.tasks import LeasedTask, NewTask

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.db.engine import Database

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SOON, LATER = NOON + 10 * SECOND, NOON + 60 * SECOND
DOMAIN = "shop.example"


def page(number: int, domain: str = DOMAIN, **facts: Any) -> NewTask:
    """A page to fetch."""
    return NewTask(f"https://{domain}/{number}", domain, f"{domain}-{number}", **facts)


def leased(number: int, domain: str = DOMAIN, **facts: Any) -> LeasedTask:
    """A task that somebody has leased; no database knows it."""
    lease = Lease(number, "one", 1, facts.pop("attempts", 1))
    known = {"depth": 0, "priority": 0, "kind": "page", **facts}
    return LeasedTask(lease, 1, f"https://{domain}/{number}", f"{domain}-{number}", domain, **known)


def a_run(database: Database, *pages: NewTask, max_pages: int | None = None) -> int:
    """A running run with these pages."""
    with database.write() as db:
        run_id = store.create(db, "shop", {}, max_pages=max_pages, now=NOON)
        store.start(db, run_id, NOON)
        tasks.add(db, run_id, pages, NOON)
        return run_id


def a_new_run(database: Database, source: str = "shop") -> int:
    """A run that has yet to start."""
    with database.write() as db:
        return store.create(db, source, {"depth": 3}, max_pages=10, now=NOON)


def join(database: Database, run_id: int, *owners: str, until: datetime = LATER) -> None:
    """Have workers join a run."""
    with database.write() as db:
        assert all(store.join(db, run_id, owner, until) for owner in owners)


def load(database: Database, run_id: int) -> Run:
    """The run as it stands."""
    with database.read() as db:
        return db.get_one(Run, run_id)


def written(database: Database, act: Callable[..., bool], *arguments: object, **more: object) -> bool:
    """What an act on a run says, in a transaction of its own."""
    with database.write() as db:
        return act(db, *arguments, **more)


def rows_of(database: Database, run_id: int) -> list[Task]:
    """Its tasks as they stand."""
    with database.read() as db:
        return list(db.scalars(select(Task).where(Task.run_id == run_id).order_by(Task.id)))


class Queue:
    """A run's tasks and leases on them, each call in a transaction of its own."""

    def __init__(self, database: Database, run_id: int, rules: LeaseRules | None = None) -> None:
        self.database = database
        self.run_id = run_id
        self.leases = Leases(Task, rules or LeaseRules(), ahead=True)

    def acquire(self, now: datetime = NOON, *, owner: str = "one", limit: int = 10) -> list[Lease]:
        """Lease what is due."""
        with self.database.write() as db:
            found = self.leases.acquire(
                db, owner=owner, now=now, limit=limit, within=(Task.run_id == self.run_id,)
            )
        return [lease for _, lease in found]

    def begin(self, leases: list[Lease], now: datetime = NOON) -> set[int]:
        """Begin with tasks."""
        with self.database.write() as db:
            return self.leases.begin(db, leases, now)

    def renew(self, leases: list[Lease], now: datetime = NOON) -> set[int]:
        """Renew leases."""
        with self.database.write() as db:
            return self.leases.renew(db, leases, now)

    def finish(self, lease: Lease, now: datetime = NOON, **facts: Any) -> bool:
        """Finish a task."""
        with self.database.write() as db:
            return self.leases.finish(db, lease, now, **facts)

    def fail(self, lease: Lease, now: datetime = NOON, *, final: bool = False) -> str | None:
        """Fail a task, by a chance that adds nothing to its rest."""
        with self.database.write() as db:
            return self.leases.fail(db, lease, "no answer", now, final=final, chance=lambda: 0)

    def release(self, leases: list[Lease], now: datetime = NOON) -> int:
        """Put tasks back."""
        with self.database.write() as db:
            return len(self.leases.release(db, leases, "stopped", now))

    def rows(self) -> list[Task]:
        """The tasks as they stand."""
        return rows_of(self.database, self.run_id)
