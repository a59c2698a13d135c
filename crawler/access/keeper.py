"""Renews held locks from a thread of its own, which no busy event loop can hold up."""

from __future__ import annotations

import time
from enum import Enum
from queue import SimpleQueue
from threading import Condition, Lock, Thread, current_thread
from typing import TYPE_CHECKING, Self

from attrs import define

from crawler.access.gate import GateUnavailableError, Held
from crawler.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.access.gate import Gate
    from crawler.config import Settings

    Beat = Callable[[Held], None]


log = get_logger(__name__)


class Heartbeats:
    """A thread that calls hooks one after the other; a hook that is still to be called is not asked twice."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[tuple[Held, Beat] | None] = SimpleQueue()
        self._pending: set[Held] = set()
        self._guard = Lock()
        self._thread = Thread(target=self._run, name="session-heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def ask(self, held: Held, beat: Beat) -> None:
        """Have the hook called soon."""
        with self._guard:
            if held in self._pending:
                return
            self._pending.add(held)
        self._asked.put((held, beat))

    def close(self, timeout: float) -> None:
        """Call what was asked for, then stop."""
        self._asked.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            held, beat = asked
            try:
                beat(held)
            except Exception:  # the other sessions' hearts beat on
                log.exception("session.heartbeat.failed", session_id=held.session_id, domain=held.domain)
            with self._guard:
                self._pending.discard(held)


# ── renews held locks from a thread of its own, which no busy event loop can hold up ──


RENEWALS_PER_TTL = 3
# While the gate does not answer, it is asked this often within the time of one renewal.
TRIES_PER_RENEWAL = 4
CLOSE_SECONDS = 5.0


class Lost(Enum):
    """Why a session has to let go of a domain; the value is the session's cause code."""

    LOCK = "lock_lost"
    TIME = "too_long"


@define(eq=False)
class _Kept:
    """A lock and what is to be done about it; times are the keeper's."""

    held: Held
    on_lost: Callable[[Held, Lost], None]
    beat: Callable[[Held], None] | None
    next_at: float
    valid_until: float  # when the lock runs out if it was never renewed again
    ends_at: float  # when the session has taken too long


class Keeper:
    """Keeps any number of locks alive until they are forgotten, lost, or held for too long.

    `on_lost` is called once, in the keeper's thread; `beat` at each renewal, in another one.
    """

    def __init__(
        self,
        gate: Gate,
        ttl_seconds: float,
        session_max_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gate = gate
        self._ttl = ttl_seconds
        self._interval = ttl_seconds / RENEWALS_PER_TTL
        self._session_max = session_max_seconds
        self._monotonic = monotonic
        self._kept: dict[Held, _Kept] = {}
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._run, name="domain-keeper", daemon=True)
        self._heartbeats = Heartbeats()

    @classmethod
    def of(cls, gate: Gate, settings: Settings) -> Self:
        """A keeper with the times that the operator set."""
        return cls(gate, settings.domain_lock_ttl_seconds, settings.session_max_seconds)

    def keep(
        self,
        held: Held,
        on_lost: Callable[[Held, Lost], None],
        *,
        beat: Callable[[Held], None] | None = None,
        since: float | None = None,
        delay: float = 0,
    ) -> None:
        """Renew a lock that was taken at `since`.

        The session's time begins after its delay; all of its locks end with the time of the first.
        """
        with self._changed:
            since = self._monotonic() if since is None else since
            started = [k.ends_at for k in self._kept.values() if k.held.session_id == held.session_id]
            self._kept[held] = _Kept(
                held,
                on_lost,
                beat,
                next_at=since + self._interval,
                valid_until=since + self._ttl,
                ends_at=min(started, default=since + delay + self._session_max),
            )
            if self._thread.ident is None:
                self._thread.start()
                self._heartbeats.start()
            self._changed.notify()

    def forget(self, held: Held) -> None:
        """Renew it no more, and find no more that it is lost; a loss found just before may still be told."""
        with self._changed:
            self._kept.pop(held, None)

    def close(self) -> None:
        """Stop; what is still held runs out by itself."""
        with self._changed:
            self._closed = True
            self._kept.clear()
            self._changed.notify()
        if self._thread.is_alive() and self._thread is not current_thread():
            self._thread.join(CLOSE_SECONDS)
        self._heartbeats.close(CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closed:
            answers = True
            for kept in self._next_due():
                # One call that fails is enough to know: the others would only wait for the same.
                answers = self._look_after(kept, ask=answers) and answers

    def _next_due(self) -> list[_Kept]:
        """The locks whose time has come; waits for it when there is none."""
        with self._changed:
            times = {kept.held: min(kept.next_at, kept.ends_at) for kept in self._kept.values()}
            now = self._monotonic()
            due = [self._kept[held] for held, at in times.items() if at <= now]
            if not due and not self._closed:
                self._changed.wait(min(times.values()) - now if times else None)
            return due

    def _look_after(self, kept: _Kept, *, ask: bool) -> bool:
        """Renew one lock, or give it up; whether the gate answered, as far as it was asked."""
        now = self._monotonic()
        if now >= kept.ends_at:
            self._lose(kept, Lost.TIME)
            return True
        extended = self._extend(kept) if ask else None
        if extended:
            kept.next_at, kept.valid_until = now + self._interval, now + self._ttl
        elif extended is False or self._monotonic() >= kept.valid_until:
            self._lose(kept, Lost.LOCK)
        else:
            kept.next_at = min(now + self._interval / TRIES_PER_RENEWAL, kept.valid_until)
        if kept.beat and kept.held in self._kept:
            self._heartbeats.ask(kept.held, kept.beat)
        return extended is not None

    def _extend(self, kept: _Kept) -> bool | None:
        """Whether the lock is still ours; None where nobody can tell just now."""
        held = kept.held
        if not held.token:  # locks are disabled: there is only the session to look after
            return True
        try:
            return self._gate.extend(held)
        except GateUnavailableError as error:
            log.warning(
                "lock.extend.failed",
                session_id=held.session_id,
                domain=held.domain,
                reason=error.code,
                error=str(error),
                expires_in_ms=max(0, round((kept.valid_until - self._monotonic()) * 1000)),
            )
        except Exception:
            # Whatever it is, it must not end the thread that keeps the other locks.
            log.exception("lock.extend.crashed", session_id=held.session_id, domain=held.domain)
        return None

    def _lose(self, kept: _Kept, why: Lost) -> None:
        """Tell it, unless the lock was forgotten while the gate was asked."""
        with self._changed:
            if self._kept.get(kept.held) is not kept:
                return
            del self._kept[kept.held]
        held = kept.held
        log.error("lock.lost", session_id=held.session_id, domain=held.domain, reason=why.value)
        try:
            kept.on_lost(held, why)
        except Exception:  # the other locks are still to be kept
            log.exception("lock.lost.unheard", session_id=held.session_id, domain=held.domain)
