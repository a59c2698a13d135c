"""Things on loan to one process at a time: one discipline for a crawl's tasks and for any other queue.

Who leases a thing may write for it until somebody else leases it: every write checks owner and epoch, and
the epoch rises with each lease. A process that was taken for dead, and was only slow, changes nothing.
"""

from __future__ import annotations

import random
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from attrs import evolve, frozen
from sqlalchemy import (
    Integer,
    and_,
    bindparam,
    case,
    inspect,
    literal,
    not_,
    null,
    select,
    text,
    tuple_,
    update,
)

from crawler.capture.failures import Cause
from crawler.db.models.leased import IS_ERROR, IS_IN_PROGRESS, IS_PENDING, Leased
from crawler.db.types import UtcTime
from crawler.leases.rules import LeaseRules, stored_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, RowMapping, Select, Table, Update
    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningUpdate

EXPIRED = "lease expired"
_BATCH = 500  # ids in one statement; both databases take more, plans grow with them
_FREED: dict[str, Any] = {"lease_owner": None, "lease_expires_at": None, "lease_deadline_at": None}
# Of a lease's columns a new holder learns these; the others it has just written.
_TOLD = {"priority", "attempts", "deaths", "lease_epoch", "last_error"}
_UNTOLD = set(Leased.__annotations__) - _TOLD
_NOW = bindparam("now", type_=UtcTime)


@frozen
class Lease:
    """The right to write for a thing, as its holder knows it; each new lease makes it void."""

    id: int
    owner: str
    epoch: int
    attempts: int  # this one included, which counts once it is begun
    deaths: int = 0  # of workers that had begun it

    @property
    def is_suspect(self) -> bool:
        """Whether a worker died while it was at it, perhaps because of it: it is tried alone."""
        return self.deaths > 0


class Leases:
    """Leases on the rows of one table; times come in, and each call is part of its caller's transaction.

    Every statement is built once and names columns only: no row becomes an object.
    """

    def __init__(
        self,
        model: type[Leased],
        rules: LeaseRules,
        on_expired: Callable[[Session, Sequence[RowMapping], datetime], None] | None = None,
        *,
        ahead: bool = False,
    ) -> None:
        """Lease by these rules; `on_expired` writes along what is to be known of what ran out.

        Things that are leased `ahead` are begun later, by `begin`, and several at a time; others with their
        lease, each by itself.
        """
        self.rules = rules
        self._ahead = ahead
        self._on_expired = on_expired
        self._table = cast("Table", inspect(model).local_table)

    def allowing(self, attempts: int) -> Self:
        """Return leases of the same table that allow so many attempts, if the rules allow fewer."""
        more = copy(self)
        more.rules = evolve(self.rules, max_attempts=max(self.rules.max_attempts, attempts))
        return more

    def acquire(
        self,
        db: Session,
        *,
        owner: str,
        now: datetime,
        limit: int,
        within: tuple[ColumnElement[bool], ...] = (),
        values: Mapping[str, Any] | None = None,
    ) -> list[tuple[RowMapping, Lease]]:
        """Lease up to `limit` things that are due, the most urgent first, and before that free what expired.

        `within` narrows both. Clauses that are built once, with `bindparam`s that `values` fills, spare each
        call the building of statements.
        """
        given = dict(values or {})
        self.reclaim(db, now=now, within=within, values=given)
        parameters = {
            **given, "now": now, "owner": owner, "how_many": limit,
            "expires": now + self.rules.lease, "deadline": now + self.rules.deadline,
        }  # fmt: skip
        rows = db.connection().execute(_taking(self._table, within, self._ahead), parameters).mappings()
        return [
            (row, Lease(row["id"], owner, row["lease_epoch"], row["attempts"] + self._ahead, row["deaths"]))
            for row in sorted(rows, key=_urgency)  # what an UPDATE returns comes in no order
        ]

    def reclaim(
        self,
        db: Session,
        *,
        now: datetime,
        within: tuple[ColumnElement[bool], ...] = (),
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """Put back what expired, or end it where it was its last attempt (SPEC D82, D87).

        What was only leased is due at once, at no cost. What was begun has a worker's death on it; one that
        was begun with others, any of which may have been to blame, is due at once too, to be tried alone.
        What was begun alone has cost an attempt, and rests a little.
        On PostgreSQL, rows that somebody is just writing are passed over instead of waited for.
        """
        parameters = {
            **(values or {}), "now": now, "cap": self.rules.max_attempts,
            "rested": now + self.rules.rest_after_expiry,
        }  # fmt: skip
        expired = (
            db.connection()
            .execute(_reclaiming(self._table, within, self._ahead), parameters)
            .mappings()
            .all()
        )
        if expired and self._on_expired is not None:
            self._on_expired(db, expired, now)

    def begin(self, db: Session, leases: Sequence[Lease], now: datetime) -> set[int]:
        """Count an attempt of things that are about to be tried; the ids of those that are ours.

        This is written before anything is done with them: what kills its worker is known to have been begun.
        """
        begun: set[int] = set()
        for group in _grouped(leases):
            begun |= set(db.connection().execute(_beginning(self._table), {**group, "now": now}).scalars())
        return begun

    def take_back(
        self,
        db: Session,
        *,
        reason: str,
        now: datetime,
        within: tuple[ColumnElement[bool], ...],
        values: Mapping[str, Any],
    ) -> Sequence[RowMapping]:
        """Put back, as if it were untouched, what those hold who are gone; `within` says which."""
        parameters = {**values, "now": now, "reason": stored_error(reason)}
        return db.connection().execute(_taking_back(self._table, within), parameters).mappings().all()

    def retry(
        self,
        db: Session,
        *,
        now: datetime,
        within: tuple[ColumnElement[bool], ...],
        values: Mapping[str, Any],
    ) -> Sequence[RowMapping]:
        """Have things tried again that ended as errors, as if for the first time; `within` says which."""
        return (
            db.connection().execute(_retrying(self._table, within), {**values, "now": now}).mappings().all()
        )

    def renew(self, db: Session, leases: Sequence[Lease], now: datetime) -> set[int]:
        """Move expiries on, never beyond the deadline; the ids of those that are still their owner's.

        It waits for nobody: a row that another transaction is writing keeps its expiry, and counts as
        ours until that transaction's end. So renewing never blocks whoever finishes several things at once.
        """
        ours: set[int] = set()
        for group in _grouped(leases):
            parameters = {**group, "now": now, "expires": now + self.rules.lease}
            connection = db.connection()
            kept = set(connection.execute(_renewing(self._table), parameters).scalars())
            if len(kept) < len(group["ids"]):
                kept |= set(connection.execute(_renewable(self._table), parameters).scalars())
            ours |= kept
        return ours

    def finish(self, db: Session, lease: Lease, now: datetime, **facts: Any) -> bool:
        """Mark a thing as done, with what came of it; False when it is no longer ours."""
        return self.finish_all(db, [(lease, facts)], now)

    def finish_all(self, db: Session, done: Sequence[tuple[Lease, dict[str, Any]]], now: datetime) -> bool:
        """Mark things as done, each with the same kinds of facts; False when one is no longer ours.

        Then those of the others that are written have to be taken back.
        """
        rows = [
            {
                **_right(lease), **facts, "last_error": None, "cause": None, "attempts": lease.attempts,
                "status": "finished", "finished_at": now, "updated_at": now,
            }
            for lease, facts in done
        ]  # fmt: skip
        columns = tuple(name for name in rows[0] if name not in _RIGHT)
        return db.connection().execute(_ending(self._table, columns), rows).rowcount == len(rows)

    def fail(
        self,
        db: Session,
        lease: Lease,
        error: str,
        now: datetime,
        *,
        cause: str | None = None,
        final: bool = False,
        chance: Callable[[], float] = random.random,  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
    ) -> Literal["pending", "error"] | None:
        """Let a thing rest and be tried again, or end it after its last attempt; None when it is not ours."""
        # Whoever can say that it failed has lived: nobody died of it.
        facts: dict[str, Any] = {
            "last_error": stored_error(error), "cause": cause, "attempts": lease.attempts, "deaths": 0,
        }  # fmt: skip
        if final or self.rules.is_last(lease.attempts):
            return "error" if self._end(db, lease, now, status="error", finished_at=now, **facts) else None
        again = now + self.rules.backoff(lease.attempts, chance())
        return "pending" if self._end(db, lease, now, status="pending", next_run_at=again, **facts) else None

    def release(self, db: Session, leases: Sequence[Lease], reason: str, now: datetime) -> set[int]:
        """Put untouched things back, due at once, no attempt counted; the ids of those that were ours."""
        released: set[int] = set()
        for group in _grouped(leases):
            parameters = {**group, "now": now, "reason": stored_error(reason)}
            released |= set(db.connection().execute(_releasing(self._table), parameters).scalars())
        return released

    def _end(self, db: Session, lease: Lease, now: datetime, **values: Any) -> bool:
        parameters = {**_right(lease), "updated_at": now, **values}
        statement = _ending(self._table, ("updated_at", *values))
        return db.connection().execute(statement, parameters).rowcount == 1


_RIGHT = ("its_id", "its_owner", "its_epoch")


def _right(lease: Lease) -> dict[str, Any]:
    """By what a row is found that is still its owner's."""
    return dict(zip(_RIGHT, (lease.id, lease.owner, lease.epoch), strict=True))


def _urgency(row: RowMapping) -> tuple[int, int]:
    return -row["priority"], row["id"]


def _grouped(leases: Sequence[Lease]) -> list[dict[str, Any]]:
    """Leases as parameters: one set an owner, and no set too large."""
    groups = []
    for owner in {lease.owner for lease in leases}:
        rights = [(lease.id, lease.epoch) for lease in leases if lease.owner == owner]
        for begin in range(0, len(rights), _BATCH):
            some = rights[begin : begin + _BATCH]
            groups.append({"its_owner": owner, "ids": [one for one, _ in some], "rights": some})
    return groups


# ── statements, built once for each table ──


@lru_cache(maxsize=64)
def _taking(table: Table, within: tuple[ColumnElement[bool], ...], ahead: bool) -> Update:  # ruff: ignore[boolean-type-hint-positional-argument] - a key of the cache
    at = table.c
    picked = (
        select(at.id)
        .where(text(IS_PENDING), at.next_run_at <= _NOW, *within)
        .order_by(at.priority.desc(), at.id)
        # Written into the statement: a planner that does not know the number expects a tenth of the table.
        .limit(bindparam("how_many", type_=Integer, literal_execute=True))
        .with_for_update(skip_locked=True)
        .cte("picked")
    )
    return (
        update(table)
        .where(at.id.in_(select(picked.c.id)))
        .values(
            status=literal("in_progress"),
            lease_owner=bindparam("owner"),
            lease_epoch=at.lease_epoch + 1,
            lease_expires_at=bindparam("expires"),
            lease_deadline_at=bindparam("deadline"),
            **({"begun_at": null()} if ahead else {"begun_at": _NOW, "attempts": at.attempts + 1}),
            updated_at=_NOW,
        )
        .returning(*_told(table))
    )


@lru_cache(maxsize=64)
def _beginning(table: Table) -> ReturningUpdate[Any]:
    at = table.c
    attempts = at.attempts + 1 - _was_begun(table)  # once, where this is written again
    begun = update(table).where(_are_held(table))
    return begun.values(begun_at=_NOW, attempts=attempts, updated_at=_NOW).returning(at.id)


def _told(table: Table) -> list[ColumnElement[Any]]:
    """What is said of a thing that changes hands: what it is, and of its lease what is not known already."""
    return [column for column in table.c if column.name not in _UNTOLD]


@lru_cache(maxsize=64)
def _reclaiming(table: Table, within: tuple[ColumnElement[bool], ...], ahead: bool) -> Update:  # ruff: ignore[boolean-type-hint-positional-argument] - a key of the cache
    at = table.c
    expired = (
        select(at.id)
        .where(text(IS_IN_PROGRESS), at.lease_expires_at <= _NOW, *within)
        .with_for_update(skip_locked=True)
        .cte("expired")
    )
    was_begun = at.begun_at.is_not(None)
    was_alone = and_(was_begun, at.deaths > 0) if ahead else was_begun
    was_last = and_(was_alone, at.attempts >= bindparam("cap"))
    return (
        update(table)
        .where(at.id.in_(select(expired.c.id)))
        .values(
            status=case((was_last, "error"), else_="pending"),
            finished_at=case((was_last, _NOW), else_=null()),
            next_run_at=case((was_alone, bindparam("rested", type_=UtcTime)), else_=_NOW),
            attempts=at.attempts - case((and_(was_begun, not_(was_alone)), 1), else_=0),
            deaths=at.deaths + _was_begun(table),
            last_error=EXPIRED,
            cause=Cause.LEASE_EXPIRED.value,
            updated_at=_NOW,
            **_FREED,
        )
        .returning(*_told(table), at.status)
    )


def _are_held(table: Table) -> ColumnElement[bool]:
    """The rows of a batch that are still their owner's."""
    at = table.c
    return and_(
        at.id.in_(bindparam("ids", expanding=True)),  # by which the rows are found
        tuple_(at.id, at.lease_epoch).in_(bindparam("rights", expanding=True)),
        at.lease_owner == bindparam("its_owner"),
        text(IS_IN_PROGRESS),
    )


@lru_cache(maxsize=64)
def _renewable(table: Table) -> Select[Any]:
    return select(table.c.id).where(_are_held(table), table.c.lease_deadline_at > _NOW)


@lru_cache(maxsize=64)
def _renewing(table: Table) -> Update:
    at = table.c
    free = _renewable(table).with_for_update(skip_locked=True).cte("free")
    expires = bindparam("expires", type_=UtcTime)
    return (
        update(table)
        .where(at.id.in_(select(free.c.id)))
        .values(
            lease_expires_at=case((at.lease_deadline_at < expires, at.lease_deadline_at), else_=expires),
            updated_at=_NOW,
        )
        .returning(at.id)
    )


@lru_cache(maxsize=64)
def _releasing(table: Table) -> ReturningUpdate[Any]:
    return update(table).where(_are_held(table)).values(_put_back(table)).returning(table.c.id)


@lru_cache(maxsize=64)
def _taking_back(table: Table, within: tuple[ColumnElement[bool], ...]) -> ReturningUpdate[Any]:
    held = update(table).where(text(IS_IN_PROGRESS), *within)
    deaths = table.c.deaths + _was_begun(table)
    return held.values({**_put_back(table), "deaths": deaths}).returning(*_told(table))


@lru_cache(maxsize=64)
def _retrying(table: Table, within: tuple[ColumnElement[bool], ...]) -> ReturningUpdate[Any]:
    afresh = {
        "status": literal("pending"), "attempts": literal(0), "deaths": literal(0), "next_run_at": _NOW,
        "finished_at": null(), "updated_at": _NOW,
    }  # fmt: skip
    return update(table).where(text(IS_ERROR), *within).values(afresh).returning(*_told(table))


def _was_begun(table: Table) -> ColumnElement[int]:
    return case((table.c.begun_at.is_not(None), 1), else_=0)


def _put_back(table: Table) -> dict[str, Any]:
    """The columns of something whose lease has cost it nothing."""
    return {
        "status": literal("pending"), "attempts": table.c.attempts - _was_begun(table), "next_run_at": _NOW,
        "last_error": bindparam("reason"), "cause": null(), "updated_at": _NOW, **_FREED,
    }  # fmt: skip


@lru_cache(maxsize=64)
def _ending(table: Table, columns: tuple[str, ...]) -> Update:
    """One thing's way out of its lease, with the columns that are written besides."""
    at = table.c
    return (
        update(table)
        .where(
            at.id == bindparam("its_id"),
            at.lease_owner == bindparam("its_owner"),
            at.lease_epoch == bindparam("its_epoch"),
            text(IS_IN_PROGRESS),
        )
        .values({**_FREED, **{column: bindparam(column) for column in columns}})
    )
