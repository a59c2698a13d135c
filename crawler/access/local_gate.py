"""The domain gate on the database: the same rules for all processes of one machine, without a Redis."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sqlalchemy import and_, bindparam, case, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from crawler.access.gate import (
    LOCK_BROKEN,
    MIN_DELAY,
    Busy,
    DomainState,
    GateTimes,
    Held,
    LocalGateUnavailableError,
    Release,
)
from crawler.access.process import is_gone, new_token, this_process
from crawler.db.engine import Database, DatabaseUnavailableError
from crawler.db.models.domains import DomainGate
from crawler.db.types import UtcTime
from crawler.db.upsert import insert_into
from crawler.errors import LockedError
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Row, Table, Update

    from crawler.db.engine import Transaction

    GateRow: TypeAlias = Row[Any] | DomainGate

MILLISECOND = timedelta(milliseconds=1)
LONG_AGO_MS = 10**15
# Built once: building a statement costs more than running it.
_GATES = cast("Table", DomainGate.__table__)
_LOOK = select(_GATES).where(_GATES.c.domain == bindparam("its_domain"))
_LOCK = _LOOK.with_for_update()
_NOW = bindparam("now", type_=UtcTime)
_EXTEND = (
    update(_GATES)
    .where(
        _GATES.c.domain == bindparam("its_domain"),
        _GATES.c.token == bindparam("its_token"),
        _GATES.c.expires_at > _NOW,
    )
    .values(expires_at=bindparam("until"))
)
# A start that lies in the future stays: its session still waits.
_STAMP = case((_GATES.c.last_end_at > _NOW, _GATES.c.last_end_at), else_=_NOW)
_EXTEND_AND_STAMP = _EXTEND.values(last_end_at=_STAMP)


class LocalGate:
    """One short transaction a call, decided on the database's clock.

    A lock whose process is gone is free at once, where that process ran among ours; another machine
    that shares the database waits for the lock to expire.
    """

    def __init__(self, database: Database, times: GateTimes) -> None:
        self.shared = not database.is_sqlite
        self.times = times
        self._database = database

    def acquire(self, domain: str, session_id: str, token: str = "", *, waits: bool = True) -> Held | Busy:
        """Take the lock if it is free, expired, ours already, or left by a process that is gone."""
        token = token or new_token(session_id)
        # A waiting session asks often: it only reads, and so never stands in the way of writers.
        with self._read() as db:
            row = _row(db, domain)
            if row is not None and (busy := self._busy(row, db.now)) and busy.value != token:
                return busy
        return self._take(domain, session_id, token, waits=waits)

    def extend(self, held: Held) -> bool:
        """Give the lock its full time again, if it still has our token."""
        with self._write() as db:
            until = db.now + self.times.lock_ttl_ms * MILLISECOND
            its = {"its_domain": held.domain, "its_token": held.token, "now": db.now, "until": until}
            statement = _EXTEND_AND_STAMP if self.times.stamps else _EXTEND
            return db.connection().execute(statement, its).rowcount == 1

    def release(self, held: Held) -> Release:
        """Free the lock if it has our token, and note the end."""
        return self._free(held.domain, held.token)

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Keep the longer of the delay that stands and this one."""
        delay_ms = self.times.bounded(seconds)
        if not delay_ms:
            return
        with self._write() as db:
            row = _locked_row(db, domain)
            until = db.now + delay_ms * MILLISECOND
            if row.delay_until is None or row.delay_until < until:
                _change(db, domain, delay_until=until, delay_reason=reason)

    def states(self) -> Sequence[DomainState]:
        """Every row that is held or delayed."""
        with self._read() as db:
            rows = db.connection().execute(select(_GATES).order_by(_GATES.c.domain))
            shown = [self._shown(row, db.now) for row in rows]
        return [state for state in shown if state.is_of_interest]

    def state(self, domain: str) -> DomainState:
        """What one row says."""
        with self._read() as db:
            return self._shown(_row(db, domain) or DomainGate(domain=domain), db.now)

    def break_lock(self, domain: str, value: str) -> bool:
        """Free the lock as its holder would, and hold everyone off until a living one has heard of it."""
        with self._write() as db:
            row, now = _locked_row(db, domain), db.now
            if row.token != value or row.expires_at is None or row.expires_at <= now:
                return False
            heard_at, busy = now + self.times.heard_ms * MILLISECOND, self._busy(row, now)
            is_renewed = busy is not None and busy.expires_in_ms >= self.times.renewed_ms
            is_later = is_renewed and (row.delay_until is None or row.delay_until < heard_at)
            delay = {"delay_until": heard_at, "delay_reason": LOCK_BROKEN} if is_later else {}
            _change(db, domain, **_freed(self.times, row, now), **delay)
            return True

    def close(self) -> None:
        """Leave the database to whoever opened it."""

    def _take(self, domain: str, session_id: str, token: str, *, waits: bool) -> Held | Busy:
        with self._write() as db:
            row, now = _locked_row(db, domain), db.now
            busy = self._busy(row, now)
            if busy and busy.value != token:
                return busy
            wait_ms, reason = _wait(self.times, row, now, again=busy is not None) if waits else (0, MIN_DELAY)
            _change(
                db, domain, token=token, holder=this_process(),
                expires_at=now + self.times.lock_ttl_ms * MILLISECOND,
                last_end_at=now + wait_ms * MILLISECOND if self.times.stamps else row.last_end_at,
            )  # fmt: skip
            return Held(domain, session_id, token, wait_ms, reason)

    def _free(self, domain: str, token: str) -> Release:
        with self._write() as db:
            row, now = _locked_row(db, domain), db.now
            is_ours = row.token == token and row.expires_at is not None and row.expires_at > now
            freed = _freed(self.times, row, now)
            if not is_ours and (busy := self._busy(row, now)):
                _change(db, domain, last_end_at=row.last_end_at if busy.wait_ms else freed["last_end_at"])
                return Release.FOREIGN
            _change(db, domain, **freed)
            return Release.RELEASED if is_ours else Release.EXPIRED

    def _busy(self, row: GateRow, now: datetime) -> Busy | None:
        """Who keeps the domain from being taken; None when nobody does."""
        if row.token is None or row.expires_at is None or row.expires_at <= now or is_gone(row.holder):
            return None
        _, delay_left = _left(self.times, row, now)
        return Busy(
            row.domain, row.token, -_ms_since(row.expires_at, now),
            wait_ms=starts_in_ms(self.times, _ms_since(row.last_end_at, now)),
            wait_reason=row.delay_reason or "" if delay_left else MIN_DELAY,
        )  # fmt: skip

    def _shown(self, row: GateRow, now: datetime) -> DomainState:
        busy = self._busy(row, now)
        throttle_left, delay_left = _left(self.times, row, now)
        return DomainState(
            row.domain,
            value=busy.value if busy else None,
            expires_in_ms=busy.expires_in_ms if busy else 0,
            throttled_for_ms=busy.wait_ms if busy else throttle_left,
            delayed_for_ms=delay_left,
            delay_reason=row.delay_reason if delay_left else None,
        )

    @contextmanager
    def _read(self) -> Generator[Transaction]:
        with _available(), self._database.read() as db:
            yield db

    @contextmanager
    def _write(self) -> Generator[Transaction]:
        with _available(), self._database.write() as db:
            yield db


def is_unused(now: datetime) -> ColumnElement[bool]:
    """Return the condition of rows without a lock and without a requested delay that still lasts."""
    is_over = or_(_GATES.c.delay_until.is_(None), _GATES.c.delay_until <= now)
    return and_(is_over, or_(_GATES.c.token.is_(None), _GATES.c.expires_at <= now))


def throttle_left_ms(times: GateTimes, since_stamp_ms: int) -> int:
    """What is left of the least delay; a stamp in the future counts as one just now (SPEC A23)."""
    return min(max(times.min_delay_ms - since_stamp_ms, 0), times.min_delay_ms)


def starts_in_ms(times: GateTimes, since_stamp_ms: int) -> int:
    """How long a holder with that stamp still waits; never longer than any delay lasts."""
    return min(max(-since_stamp_ms, 0), max(times.min_delay_ms, times.max_delay_ms))


def _row(db: Transaction, domain: str) -> Row[Any] | None:
    return db.connection().execute(_LOOK, {"its_domain": domain}).first()


def _locked_row(db: Transaction, domain: str) -> Row[Any]:
    """The domain's row, made where there is none; on PostgreSQL it is ours until the commit."""
    connection, its = db.connection(), {"its_domain": domain}
    row = connection.execute(_LOCK, its).first()
    if row is not None:
        return row
    connection.execute(insert_into(db, DomainGate).values(domain=domain).on_conflict_do_nothing())
    return connection.execute(_LOCK, its).one()


def _change(db: Transaction, domain: str, **columns: Any) -> None:
    db.connection().execute(_update(tuple(columns)), {"its_domain": domain, **columns})


@cache
def _update(columns: tuple[str, ...]) -> Update:
    """A change of one domain's row, built once for each set of columns."""
    named: dict[str, Any] = {column: bindparam(column) for column in columns}
    return update(_GATES).where(_GATES.c.domain == bindparam("its_domain")).values(named)


def _ms_since(moment: datetime | None, now: datetime) -> int:
    """Whole milliseconds that have passed since then, negative for what is to come; long ago for never."""
    return LONG_AGO_MS if moment is None else (now - moment) // MILLISECOND


@contextmanager
def _available() -> Generator[None]:
    try:
        yield
    except (DatabaseUnavailableError, LockedError) as error:
        raise LocalGateUnavailableError(str(error), hint=error.hint) from error
    except (SQLAlchemyError, OSError) as error:  # it does not do its work: disk full, too busy, no table
        reason = redacted(str(getattr(error, "orig", error)).strip().partition("\n")[0])
        raise LocalGateUnavailableError(f"the database refuses the domain lock: {reason}") from error


def _freed(times: GateTimes, row: GateRow, now: datetime) -> dict[str, Any]:
    """A row without a holder. The site was touched, so the end is noted, whoever's it is."""
    end = now if times.stamps else row.last_end_at
    return {"last_end_at": end, "token": None, "holder": None, "expires_at": None}


def _wait(times: GateTimes, row: GateRow, now: datetime, *, again: bool) -> tuple[int, str]:
    """How long a new holder waits, and why; one that asks again, until it said that it would start."""
    throttle_left, delay_left = _left(times, row, now)
    if again:
        throttle_left = starts_in_ms(times, _ms_since(row.last_end_at, now))
    elif row.token is not None and row.expires_at is not None and row.expires_at > now:
        # Its process is gone. It may have been at the site until a moment ago: between two signs
        # of life nobody can tell.
        throttle_left = throttle_left_ms(times, 0)
    if delay_left > throttle_left:
        return delay_left, row.delay_reason or ""
    return throttle_left, MIN_DELAY


def _left(times: GateTimes, row: GateRow, now: datetime) -> tuple[int, int]:
    """What is left of the least delay and of the delay that the site asked for."""
    return (
        throttle_left_ms(times, _ms_since(row.last_end_at, now)),
        max(0, -_ms_since(row.delay_until, now)),
    )
