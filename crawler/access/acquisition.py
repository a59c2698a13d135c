"""The way into a domain: note or skip the delay, take the lock, wait the delay out under it, and leave.

An entry is driven from outside, so that crawls (which sleep without blocking) and commands share it:

    entry = entrance.entry(visitor)
    while isinstance(step := entry.advance(), Wait):
        sleep(step.milliseconds / 1000)
    …
    entry.leave()  # in a finally, whatever became of it
"""

from __future__ import annotations

import math
import random
import time
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

from crawler.access.gate import Busy, Gate, GateUnavailableError, Held, Release
from crawler.access.keeper import Keeper, Lost
from crawler.access.process import is_own, new_token, this_process
from crawler.access.rules import backoff_ms, is_ours
from crawler.errors import LockedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.config import Settings


class Place:
    """One session's place in the line for a domain."""

    def __init__(self, line: Line, domain: str) -> None:
        self._line = line
        self.domain = domain

    def is_first(self) -> bool:
        """Whether it is this session's turn."""
        return self._line.first(self.domain) is self

    def leave(self) -> None:
        """Let the next one come up; leaving twice is no matter."""
        self._line.drop(self)


class Line:
    """Who waits for which domain in this process, in the order of coming."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._places: dict[str, list[Place]] = {}

    def join(self, domain: str) -> Place:
        """The last place in the line for a domain."""
        place = Place(self, domain)
        with self._guard:
            self._places.setdefault(domain, []).append(place)
        return place

    def first(self, domain: str) -> Place | None:
        """Whose turn it is."""
        with self._guard:
            places = self._places.get(domain)
            return places[0] if places else None

    def drop(self, place: Place) -> None:
        """Take a place out of its line."""
        with self._guard:
            places = self._places.get(place.domain, [])
            if place in places:
                places.remove(place)
            if not places:
                self._places.pop(place.domain, None)


# ── the way into a domain: note or skip the delay, take the lock, wait the delay out under it, and leave ──


DEBUG = "debug"
LOOK_AGAIN_MS = 200
# Why an entry waits.
IN_LINE = "in_line"  # another session of this process is in the domain, or came first
QUEUE = "queue"  # a session elsewhere is in the domain, and DOMAIN_QUEUE_WAIT_SECONDS is not over
BACKOFF = "backoff"  # an attempt failed
DELAY = "delay"  # the lock is ours, the delay is not over
# Why the lock was not to be had, beside the gate's own codes.
LOCKED = "locked"


class DomainLockTimeoutError(LockedError):
    """The domain's lock was not to be had."""

    code = "domain_lock_timeout"

    def __init__(self, cause: str) -> None:
        """Keep what stood in the way: `locked`, or why the gate did not answer."""
        super().__init__("Domain lock timeout")
        self.cause = cause


class Emit(Protocol):
    """Takes an event to the log and to the session's rows; it must not raise."""

    def __call__(self, event: str, level: str, **fields: Any) -> None:
        """Note one event; the levels are `info`, `warn` and `error`."""


@frozen
class Wait:
    """Come back after that long."""

    milliseconds: int
    why: str


@frozen
class Entered:
    """The domain is ours, and every delay is over."""

    held: Held


@frozen
class Visitor:
    """The session that wants in."""

    session_id: str
    domain: str
    emit: Emit
    on_lost: Callable[[Held, Lost], None]  # called in the keeper's thread, once
    beat: Callable[[Held], None] | None = None  # called while the domain is held, in a thread of its own
    mode: str = "standard"
    # A further host of a session that holds one already. It does not stand in line: those who hold one
    # domain and wait for another could wait for each other for ever.
    further: bool = False
    # Asks a single time, and tells nothing if it is not let in: it has other domains to go to.
    once: bool = False

    def tell(self, event: str, level: str, **fields: Any) -> None:
        """Emit an event with the two fields that each of them carries (SPEC A36)."""
        self.emit(event, level, session_id=self.session_id, domain=self.domain, **fields)


@frozen
class Entrance:
    """What all entries of a process share."""

    gate: Gate
    keeper: Keeper
    settings: Settings
    random: Callable[[], float] = random.random  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
    monotonic: Callable[[], float] = time.monotonic
    line: Line = field(factory=Line, init=False)

    def entry(self, visitor: Visitor) -> Entry:
        """The way in for one session and one domain."""
        return Entry(self, visitor)


class Entry:
    """One session's way into one domain, step by step; each step makes at most one call to the gate."""

    def __init__(self, entrance: Entrance, visitor: Visitor) -> None:
        self._in = entrance
        self._settings = entrance.settings
        self._visitor = visitor
        self._step: Callable[[], Wait | Entered] = self._begin
        self._wait = Wait(0, BACKOFF)
        self._wait_until = -math.inf
        self._place: Place | None = None
        self._queue_until: float | None = None
        self._missed = 0
        self._token = ""  # of the present try for the lock, through all its attempts
        self._is_unsure = False  # whether the lock may be ours without our knowing
        self._held: Held | None = None
        self._entered = False

    def advance(self) -> Wait | Entered:
        """Go as far as one call to the gate takes us; a wait that is not over yet goes on."""
        left = self._wait_until - self._in.monotonic()
        if left > 0:
            return Wait(math.ceil(left * 1000), self._wait.why)
        return self._step()

    def leave(self) -> None:
        """Give back whatever was taken; may be called at any point, and again."""
        held, self._held = self._held, None
        self._step, self._wait_until = self._outside, -math.inf
        try:
            if held is not None:
                self._in.keeper.forget(held)
                self._release(held)
            elif self._is_unsure:
                self._take_back()
        finally:
            self._leave_line()

    def _begin(self) -> Wait | Entered:
        if not self._visitor.once:
            self._tell_skip()
        # Without locks there is no line, except that who asks once finds a domain free once.
        if self._visitor.once or not (self._visitor.further or self._settings.disable_locks):
            self._place = self._in.line.join(self._visitor.domain)
        return self._go_on(self._stand_in_line)

    def _stand_in_line(self) -> Wait | Entered:
        if self._place and not self._place.is_first():
            return self._miss(IN_LINE) if self._visitor.once else self._wait_for(LOOK_AGAIN_MS, IN_LINE)
        return self._go_on(self._enter_unlocked if self._settings.disable_locks else self._try)

    def _try(self) -> Wait | Entered:
        asked_at = self._in.monotonic()
        # The same token for all attempts: the one before may have succeeded, and its answer got lost.
        self._token = self._token or new_token(self._visitor.session_id)
        try:
            answer = self._in.gate.acquire(self._visitor.domain, self._visitor.session_id, self._token)
        except GateUnavailableError as error:
            self._is_unsure = True
            if self._visitor.once:
                raise
            return self._miss(error.code, error=str(error))
        self._is_unsure = False
        if isinstance(answer, Held):
            return self._take(answer, asked_at)
        queue = self._queue(answer)
        return queue or self._miss(LOCKED, holder=answer.value, expires_in_ms=answer.expires_in_ms)

    def _take(self, held: Held, asked_at: float) -> Wait | Entered:
        self._held = held
        if self._visitor.once:
            self._tell_skip()
        wait_ms = 0 if self._skips_delay() else held.wait_ms
        self._in.keeper.keep(held, self._lost, beat=self._visitor.beat, since=asked_at, delay=wait_ms / 1000)
        if wait_ms:
            self._visitor.tell("throttle.wait", "info", wait_ms=wait_ms, reason=held.wait_reason)
        mark = this_process()
        self._visitor.tell(
            "lock.acquire.success", "info", worker_id=f"{mark.host}:{mark.pid}", attempt=self._missed + 1
        )
        if not wait_ms:
            return self._go_on(self._inside)
        self._step = self._end_delay
        return self._wait_for(wait_ms, DELAY)

    def _end_delay(self) -> Wait | Entered:
        """Look again whether the lock is ours: the process may have been stopped for longer than it lasts."""
        held = self._held
        if held and not self._still_ours(held):
            self._in.keeper.forget(held)
            self._held = None
        return self._go_on(self._inside)

    def _still_ours(self, held: Held) -> bool:
        try:
            return self._in.gate.extend(held)
        except GateUnavailableError:
            return True  # as far as we know; the keeper goes on asking

    def _inside(self) -> Wait | Entered:
        held = self._held
        if held is None:  # lost before the first fetch
            self._token = ""
            self._step = self._try
            return self._miss(Lost.LOCK.value)
        self._entered = True
        return Entered(held)

    def _outside(self) -> Entered:
        raise RuntimeError("this entry was left; a session that comes again needs a new one")

    def _enter_unlocked(self) -> Wait | Entered:
        """Without locks there is no way in to go, only a session whose time and heart are looked after."""
        if self._visitor.once:
            self._tell_skip()
        self._held = held = Held(self._visitor.domain, self._visitor.session_id, token="")
        self._in.keeper.keep(held, self._lost, beat=self._visitor.beat)
        return self._go_on(self._inside)

    def _queue(self, busy: Busy) -> Wait | None:
        """A wait that costs no attempt, where the holder is one that we wait for."""
        if self._visitor.further or self._visitor.once:
            return None
        if is_own(busy.value):
            return self._wait_for(LOOK_AGAIN_MS, IN_LINE)
        wait_seconds = self._settings.domain_queue_wait_seconds
        if not wait_seconds or not is_ours(busy.value):
            return None
        now = self._in.monotonic()
        if self._queue_until is None:
            self._queue_until = now + wait_seconds
            self._visitor.tell("lock.queue.wait", "info", wait_ms=wait_seconds * 1000, holder=busy.value)
        if now >= self._queue_until:
            return None
        return self._wait_for(LOOK_AGAIN_MS + int(self._in.random() * LOOK_AGAIN_MS), QUEUE)

    def _miss(self, cause: str, **fields: Any) -> Wait:
        """Count a failed attempt; wait for the next one, or give up after the last (SPEC A10-A12)."""
        if self._visitor.once:
            self._leave_line()
            raise DomainLockTimeoutError(cause)
        self._missed += 1
        most = self._settings.domain_lock_max_retries
        if self._missed >= most:
            self._visitor.tell(
                "lock.acquire.timeout",
                "error",
                max_retries_exceeded=True,
                max_retries=most,
                cause=cause,
                **fields,
            )
            self._leave_line()
            raise DomainLockTimeoutError(cause)
        wait_ms = backoff_ms(self._missed, self._settings.domain_lock_backoff_base_ms, self._in.random)
        self._visitor.tell(
            "lock.acquire.retry",
            "warn",
            attempt=self._missed,
            max_retries=most,
            wait_ms=wait_ms,
            cause=cause,
            **fields,
        )
        return self._wait_for(wait_ms, BACKOFF)

    def _release(self, held: Held) -> None:
        if not held.token:
            return
        tell = self._visitor.tell
        try:
            outcome = self._in.gate.release(held)
        except GateUnavailableError as error:
            expires_in = self._settings.domain_lock_ttl_seconds * 1000
            tell(
                "lock.release.failed", "error", reason=error.code, error=str(error), expires_in_ms=expires_in
            )
            return
        if outcome is Release.RELEASED:
            tell("lock.release.success", "info")
        elif outcome is Release.EXPIRED:
            tell("lock.release.stale", "warn", reason="expired")
        else:
            tell("lock.release.stale", "warn", reason="foreign", lock_value_mismatch=True)

    def _take_back(self) -> None:
        """Free a lock that an unanswered attempt may have taken; if this fails too, it expires."""
        with suppress(GateUnavailableError):
            self._in.gate.release(Held(self._visitor.domain, self._visitor.session_id, self._token))
        self._is_unsure = False

    def _lost(self, held: Held, why: Lost) -> None:
        """Pass a loss on; before the first fetch there is nothing to be stopped, only to be tried again."""
        if self._entered or why is Lost.TIME:
            self._visitor.on_lost(held, why)
        else:
            self._held = None

    def _leave_line(self) -> None:
        if self._place:
            self._place.leave()

    def _skips_delay(self) -> bool:
        return self._visitor.mode == DEBUG or self._settings.disable_throttle

    def _tell_skip(self) -> None:
        if self._settings.disable_locks:
            self._visitor.tell("throttle.skip", "info", reason="testing")
        elif self._skips_delay():
            reason = "debug_mode" if self._visitor.mode == DEBUG else "testing"
            self._visitor.tell("throttle.skip", "info", reason=reason)

    def _go_on(self, step: Callable[[], Wait | Entered]) -> Wait | Entered:
        self._step = step
        return step()

    def _wait_for(self, milliseconds: int, why: str) -> Wait:
        self._wait = Wait(milliseconds, why)
        self._wait_until = self._in.monotonic() + milliseconds / 1000
        return self._wait
