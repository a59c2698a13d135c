"""The domain gate on the database: the same rules for all processes of one machine, without a Redis."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError

from crawler.access import rules
from crawler.access.gate import (
    MIN_DELAY,
    Busy,
    GateEntry,
    GateTimes,
    Held,
    LocalGateUnavailableError,
    Release,
)
from crawler.access.process import is_gone, new_token, this_process
from crawler.db.engine import Database, DatabaseUnavailableError
from crawler.db.models.domains import DomainGate
from crawler.db.upsert import insert_into
from crawler.errors import LockedError
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from datetime import datetime

    from sqlalchemy import Row, Table, Update
    from sqlalchemy.orm import Session

    from crawler.db.engine import Transaction

    GateRow: TypeAlias = Row[Any] | DomainGate

MILLISECOND = timedelta(milliseconds=1)
# Built once: building a statement costs more than running it.
_GATES = cast("Table", DomainGate.__table__)
_LOOK = select(_GATES).where(_GATES.c.domain == bindparam("its_domain"))
_LOCK = _LOOK.with_for_update()
_EXTEND = (
    update(_GATES)
    .where(
        _GATES.c.domain == bindparam("its_domain"),
        _GATES.c.token == bindparam("its_token"),
        _GATES.c.expires_at > bindparam("now"),
    )
    .values(expires_at=bindparam("until"))
)


class LocalGate:
    """One short transaction a call, decided on the database's clock.

    A lock whose process is gone is free at once, where that process ran among ours; another machine
    that shares the database waits for the lock to expire.
    """

    def __init__(self, database: Database, times: GateTimes) -> None:
        self.shared = not database.is_sqlite
        self._database = database
        self._times = times

    def acquire(self, domain: str, session_id: str, token: str = "") -> Held | Busy:
        """Take the lock if it is free, expired, ours already, or left by a process that is gone."""
        token = token or new_token(session_id)
        # A waiting session asks often: it only reads, and so never stands in the way of writers.
        busy = self._busy(domain, token)
        return busy or self._take(domain, session_id, token)

    def extend(self, held: Held) -> bool:
        """Give the lock its full time again, if it still has our token."""
        with self._write() as session:
            now = session.now
            until = now + self._times.lock_ttl_ms * MILLISECOND
            its = {"its_domain": held.domain, "its_token": held.token, "now": now, "until": until}
            return session.connection().execute(_EXTEND, its).rowcount == 1

    def release(self, held: Held) -> Release:
        """Free the lock if it has our token, and note the end."""
        return self._free(held.domain, held.token)

    def throttle_left_ms(self, domain: str) -> int:
        """What is left of the longer of the delays."""
        entry = self.entry(domain)
        return max(entry.throttled_for_ms, entry.delayed_for_ms)

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Keep the longer of the delay that stands and this one."""
        delay_ms = self._times.bounded(seconds)
        if not delay_ms:
            return
        with self._write() as session:
            row = _locked_row(session, domain)
            until = session.now + delay_ms * MILLISECOND
            if row.delay_until is None or row.delay_until < until:
                _change(session, domain, delay_until=until, delay_reason=reason)

    def entries(self) -> Sequence[GateEntry]:
        """Every row that is held or delayed."""
        with self._read() as session:
            now = session.now
            rows = session.connection().execute(select(_GATES).order_by(_GATES.c.domain))
            shown = [self._shown(row, now) for row in rows]
        return [entry for entry in shown if entry.is_of_interest]

    def entry(self, domain: str) -> GateEntry:
        """What one row says."""
        with self._read() as session:
            row = _row(session, domain) or DomainGate(domain=domain)
            return self._shown(row, session.now)

    def break_lock(self, domain: str, value: str) -> bool:
        """Free the lock as its holder would."""
        return self._free(domain, value) is Release.RELEASED

    def close(self) -> None:
        """Leave the database to whoever opened it."""

    def _busy(self, domain: str, token: str) -> Busy | None:
        with self._read() as session:
            row = _row(session, domain)
            holder = _holder(row, session.now) if row else None
            return holder if holder and holder.value != token else None

    def _take(self, domain: str, session_id: str, token: str) -> Held | Busy:
        with self._write() as session:
            row = _locked_row(session, domain)
            now = session.now
            busy = _holder(row, now)
            if busy and busy.value != token:
                return busy
            _change(
                session, domain, token=token, holder=str(this_process()),
                expires_at=now + self._times.lock_ttl_ms * MILLISECOND,
            )  # fmt: skip
            throttle_left, delay_left = self._left(row, now)
            if delay_left > throttle_left:
                return Held(domain, session_id, token, delay_left, row.delay_reason or "")
            return Held(domain, session_id, token, throttle_left, MIN_DELAY)

    def _free(self, domain: str, token: str) -> Release:
        with self._write() as session:
            row = _locked_row(session, domain)
            now = session.now
            # The site was touched either way, so the end is noted either way.
            end = now if self._times.stamps else row.last_end_at
            holder = _holder(row, now)
            if holder and holder.value != token:
                _change(session, domain, last_end_at=end)
                return Release.FOREIGN
            _change(session, domain, last_end_at=end, token=None, holder=None, expires_at=None)
            return Release.RELEASED if holder else Release.EXPIRED

    def _left(self, row: GateRow, now: datetime) -> tuple[int, int]:
        """What is left of the least delay and of the delay that the site asked for."""
        ended_ms = None if row.last_end_at is None else _ceil_ms(row.last_end_at - now)
        return (
            rules.throttle_left_ms(ended_ms, 0, self._times.min_delay_ms),
            max(0, _ceil_ms(row.delay_until - now)) if row.delay_until else 0,
        )

    def _shown(self, row: GateRow, now: datetime) -> GateEntry:
        holder = _holder(row, now)
        throttle_left, delay_left = self._left(row, now)
        return GateEntry(
            row.domain,
            value=holder.value if holder else None,
            expires_in_ms=holder.expires_in_ms if holder else 0,
            throttled_for_ms=throttle_left,
            delayed_for_ms=delay_left,
            delay_reason=row.delay_reason if delay_left else None,
        )

    @contextmanager
    def _read(self) -> Generator[Transaction]:
        with _available(), self._database.read() as session:
            yield session

    @contextmanager
    def _write(self) -> Generator[Transaction]:
        with _available(), self._database.write() as session:
            yield session


def _row(session: Session, domain: str) -> Row[Any] | None:
    return session.connection().execute(_LOOK, {"its_domain": domain}).first()


def _locked_row(session: Session, domain: str) -> Row[Any]:
    """The domain's row, made where there is none; on PostgreSQL it is ours until the commit."""
    connection, its = session.connection(), {"its_domain": domain}
    row = connection.execute(_LOCK, its).first()
    if row is not None:
        return row
    connection.execute(insert_into(session, DomainGate).values(domain=domain).on_conflict_do_nothing())
    return connection.execute(_LOCK, its).one()


def _change(session: Session, domain: str, **columns: Any) -> None:
    session.connection().execute(_update(tuple(columns)), {"its_domain": domain, **columns})


@cache
def _update(columns: tuple[str, ...]) -> Update:
    """A change of one domain's row, built once for each set of columns."""
    named: dict[str, Any] = {column: bindparam(column) for column in columns}
    return update(_GATES).where(_GATES.c.domain == bindparam("its_domain")).values(named)


def _holder(row: GateRow, now: datetime) -> Busy | None:
    """Who keeps the domain from being taken; None when nobody does."""
    if row.token is None or row.expires_at is None or row.expires_at <= now or is_gone(row.holder):
        return None
    return Busy(row.domain, row.token, _ceil_ms(row.expires_at - now))


def _ceil_ms(span: timedelta) -> int:
    return -(-span // MILLISECOND)


@contextmanager
def _available() -> Generator[None]:
    try:
        yield
    except (DatabaseUnavailableError, LockedError) as error:
        raise LocalGateUnavailableError(str(error), hint=error.hint) from error
    except (SQLAlchemyError, OSError) as error:  # it does not do its work: disk full, too busy, no table
        reason = redacted(str(getattr(error, "orig", error)).strip().partition("\n")[0])
        raise LocalGateUnavailableError(f"the database refuses the domain lock: {reason}") from error
