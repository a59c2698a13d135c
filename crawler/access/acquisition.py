"""The way into a domain: note or skip the delay, take the lock, wait the delay out under it, and leave.

An acquisition is driven from outside, so that crawls (which sleep without blocking) and commands share it:

    acquisition = DomainAcquisition(acquisitions, waiter)
    while isinstance(step := acquisition.advance(), Wait):
        sleep(step.milliseconds / 1000)
    …
    acquisition.leave()  # in a finally, whatever became of it
"""

from __future__ import annotations

import math
import random
import time
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

from attrs import frozen

from crawler import logs
from crawler.access.gate import (
    Busy,
    Gate,
    GateTimes,
    GateUnavailableError,
    Held,
    LocalGateUnavailableError,
    Release,
)
from crawler.access.local_gate import LocalGate
from crawler.access.process import is_ours, is_own, new_token
from crawler.capture.failures import Cause
from crawler.errors import LockedError
from crawler.leases.backoff import Backoff
from crawler.leases.renewer import RENEWALS_PER_LEASE, Renewer

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.access.gate import DomainState
    from crawler.config import Settings
    from crawler.db.engine import Database

DEBUG = "debug"
LOOK_AGAIN_MS = 200
SHORT_DELAY_SECONDS = 5.0  # a longer delay is not waited out under the lock where there are other domains
JITTER_SECONDS = 0.5
OUTAGE_AGAIN_MS = 500  # while the gate does not answer
RELEASE_AGAIN_SECONDS = 1.0
# Why an acquisition waits.
IN_LINE = "in_line"  # another session of this process is in the domain, or came first
QUEUE = "queue"  # a session elsewhere is in the domain, and it costs no attempt to wait for it
BACKOFF = "backoff"  # an attempt failed
OUTAGE = "outage"  # the gate does not answer
DELAY = "delay"  # the lock is ours, the delay is not over
# Why the lock was not to be had, beside the gate's own codes.
LOCKED = "locked"

log = logs.get_logger(__name__)


class DomainLockTimeoutError(LockedError):
    """The domain's lock was not to be had."""

    code = "domain_lock_timeout"

    def __init__(self, reason: str) -> None:
        """Keep what stood in the way: another session, or why the gate did not answer."""
        super().__init__("Domain lock timeout")
        self.cause = Cause.DOMAIN_HELD if reason in {LOCKED, IN_LINE} else Cause(reason)


class Log(Protocol):
    """Takes events to the log and to the session's rows; it must not raise."""

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Note what happened."""

    def warn(self, event_type: str, message: str, **details: Any) -> None:
        """Note what went wrong without ending anything."""

    def error(self, event_type: str, message: str, **details: Any) -> None:
        """Note what ends something."""


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
class Waiter:
    """The session that wants in."""

    session_id: str
    domain: str
    log: Log
    on_lost: Callable[[Held, Cause], object]  # called in the renewer's thread, once
    mode: str = "standard"
    # Of a session that is in a domain already, the way into that one: its time holds for this one too. It
    # does not stand in line: those who hold one domain and wait for another could wait for ever.
    beside: DomainAcquisition | None = None
    # Asks a single time, and tells nothing if it is not let in: it has other domains to go to.
    once: bool = False

    def tell(self, level: str, event: str, event_type: str = "lock", **fields: Any) -> None:
        """Note an event with the two fields that each of them carries (SPEC A36)."""
        getattr(self.log, level)(event_type, event, session_id=self.session_id, domain=self.domain, **fields)


def open_gate(settings: Settings, database: Database) -> Gate:
    """The gate on `REDIS_URL`, or the one on the database where there is none."""
    times = GateTimes(
        lock_ttl_ms=settings.domain_lock_ttl_seconds * 1000,
        min_delay_ms=settings.domain_min_delay_ms,
        throttle_ttl_ms=settings.domain_throttle_ttl_seconds * 1000,
        max_delay_ms=settings.domain_max_delay_seconds * 1000,
        stamps=not settings.disable_throttle,
    )
    if settings.redis_url:
        from crawler.access.redis_gate import RedisGate  # ruff: ignore[import-outside-top-level] - slow to load

        return RedisGate(settings.redis_url, times)
    return LocalGate(database, times)


class Acquisitions:
    """What all acquisitions of a process share: the gate, who waits for what, and the renewal of locks."""

    def __init__(
        self,
        gate: Gate,
        settings: Settings,
        *,
        chance: Callable[[], float] = random.random,  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.gate = gate
        self.settings = settings
        self.chance = chance
        self.monotonic = monotonic
        self.backoff = Backoff(settings.domain_lock_backoff_base_ms / 1000, jitter=JITTER_SECONDS)
        self.renewer: Renewer[DomainAcquisition] = Renewer(
            "domain-locks", self._extend, _tell_loss, on_failure=_tell_failure,
            lasts=gate.times.lock_ttl_ms / 1000, one_by_one=True,
        )  # fmt: skip
        self.has_answered = False  # the gate, ever: one that never did is no outage, but a wrong address
        self._lines: dict[str, list[DomainAcquisition]] = {}
        self._guard = Lock()
        self._owed: Renewer[Held] = Renewer(
            "owed-releases", self._release_owed, lasts=RELEASE_AGAIN_SECONDS * RENEWALS_PER_LEASE,
            runs_out=False, one_by_one=True, on_failure=lambda *_: None,
        )  # fmt: skip

    @classmethod
    def open(cls, settings: Settings, database: Database) -> Self:
        """With the gate that the settings ask for."""
        return cls(open_gate(settings, database), settings)

    def first_in_line(self, acquisition: DomainAcquisition) -> DomainAcquisition:
        """Whose turn it is at a domain; who asks stands in line from then on."""
        with self._guard:
            line = self._lines.setdefault(acquisition.waiter.domain, [])
            if acquisition not in line:
                line.append(acquisition)
            return line[0]

    def leave_line(self, acquisition: DomainAcquisition) -> None:
        """Let the next one come up; leaving twice is no matter."""
        domain = acquisition.waiter.domain
        with self._guard:
            line = self._lines.get(domain, [])
            if acquisition in line:
                line.remove(acquisition)
            if not line:
                self._lines.pop(domain, None)

    def long_delay(self, state: DomainState, mode: str = "standard") -> float:
        """Return the seconds that are left of a domain's delay; 0 if it is short, or the session skips it.

        A worker with other domains to visit does not take the lock only to wait for so long.
        """
        settings = self.settings
        if settings.disable_locks or settings.disable_throttle or mode == DEBUG:
            return 0
        seconds = max(state.throttled_for_ms, state.delayed_for_ms) / 1000
        return seconds if seconds > SHORT_DELAY_SECONDS else 0

    def release_later(self, held: Held) -> None:
        """Release a lock as soon as the gate answers again, or leave it to expire."""
        now = time.monotonic()
        self._owed.keep([held], since=now, ends_at=now + self.gate.times.lock_ttl_ms / 1000)

    def close(self) -> None:
        """Renew no more, and let go of the gate; locks stay until they run out."""
        self.renewer.close()
        self._owed.close()
        self.gate.close()

    def _release_owed(self, owed: list[Held]) -> list[Held]:
        """Return none: each is released, or the gate raises and it is tried again."""
        for held in owed:
            outcome = self.gate.release(held)
            log.info(
                "lock.release.late", session_id=held.session_id, domain=held.domain, outcome=outcome.value
            )
        return []

    def _extend(self, held: list[DomainAcquisition]) -> list[DomainAcquisition]:
        """Those whose lock is still ours; without locks, and after a release, there is none to be lost."""
        return [each for each in held if not (lock := each.held) or not lock.token or self.gate.extend(lock)]


class DomainAcquisition:
    """One session's way into one domain, step by step; each step makes at most one call to the gate."""

    def __init__(self, acquisitions: Acquisitions, waiter: Waiter) -> None:
        self.waiter = waiter
        self.held: Held | None = None
        # When the session's time is over.
        self.ends_at: float = waiter.beside.ends_at if waiter.beside else math.inf
        self._in = acquisitions
        self._step: Callable[[], Wait | Entered] = self._begin
        self._pause = (-math.inf, BACKOFF)  # until when it waits, and why
        self._queue_until: float | None = None
        self._missed = 0
        self._token = ""  # of the present try for the lock, through all its attempts
        # Since when the gate gave no answer: the lock may be ours without our knowing.
        self._unanswered_since: float | None = None
        self._waits_along = False  # while the holder waits a delay out
        self._has_entered = False

    def advance(self) -> Wait | Entered:
        """Go as far as one call to the gate takes us; a wait that is not over yet goes on."""
        until, why = self._pause
        left = until - self._in.monotonic()
        return Wait(math.ceil(left * 1000), why) if left > 0 else self._step()

    def leave(self) -> None:
        """Give back whatever was taken; may be called at any point, and again."""
        held, self.held = self.held, None
        self._step, self._pause = _was_left, (-math.inf, BACKOFF)
        try:
            if held is not None:
                self._in.renewer.forget([self])
                self._release(held)
            elif self._unanswered_since is not None:
                self._unanswered_since = None
                unsure = Held(self.waiter.domain, self.waiter.session_id, self._token)
                try:
                    self._in.gate.release(unsure)
                except GateUnavailableError:
                    self._in.release_later(unsure)
        finally:
            self._in.leave_line(self)

    def lost(self, held: Held, why: Cause) -> None:
        """Pass a loss on; before the first fetch there is nothing to be stopped, only to be tried again."""
        if self._has_entered or why is Cause.TOO_LONG:
            self.waiter.on_lost(held, why)
        else:
            self.held = None

    def _begin(self) -> Wait | Entered:
        if not self.waiter.once:
            _tell_skip(self.waiter, self._in.settings)
        self._step = self._stand_in_line
        return self._stand_in_line()

    def _stand_in_line(self) -> Wait | Entered:
        waiter, is_locked = self.waiter, not self._in.settings.disable_locks
        # Without locks there is no line, except that who asks once finds a domain free once.
        if waiter.once or (is_locked and not waiter.beside):
            first = self._in.first_in_line(self)
            if first is not self:
                return self._miss(IN_LINE) if waiter.once else self._wait_behind(first)
        if not is_locked:
            # There is no way in to go, only a session whose time is looked after.
            return self._take(Held(waiter.domain, waiter.session_id, token=""), self._in.monotonic())
        self._step = self._try
        return self._try()

    def _try(self) -> Wait | Entered:
        waiter, asked_at = self.waiter, self._in.monotonic()
        # The same token for all attempts: the one before may have succeeded, and its answer got lost.
        self._token = self._token or new_token(waiter.session_id)
        waits = not _skip_reason(waiter, self._in.settings)
        try:
            answer = self._in.gate.acquire(waiter.domain, waiter.session_id, self._token, waits=waits)
        except GateUnavailableError as error:
            now, since = self._in.monotonic(), self._unanswered_since
            is_first, since = since is None, now if since is None else since
            self._unanswered_since = since
            if waiter.once:
                raise
            longest = self._in.gate.times.lock_ttl_ms
            if isinstance(error, LocalGateUnavailableError):
                # The sessions cannot be written either, and the crawl waits no longer for that.
                longest = min(longest, round(self._in.settings.store_patience_seconds * 1000))
            if self._in.has_answered and now - since < longest / 1000:  # an outage, which costs no attempt
                if is_first:
                    told = {"reason": error.code, "error": str(error)}
                    waiter.tell("warn", "lock.gate.wait", wait_ms=longest, **told)
                return self._wait_for(OUTAGE_AGAIN_MS, OUTAGE)
            return self._miss(error.code, error=str(error))
        self._unanswered_since, self._in.has_answered = None, True
        if isinstance(answer, Held):
            return self._take(answer, asked_at)
        aside = None if waiter.once else self._wait_aside(answer)
        return aside or self._miss(LOCKED, holder=answer.value, expires_in_ms=answer.expires_in_ms)

    def _take(self, held: Held, asked_at: float) -> Wait | Entered:
        self.held, waiter, wait_ms = held, self.waiter, held.wait_ms
        if waiter.once:
            _tell_skip(waiter, self._in.settings)
        if waiter.beside is None:
            self.ends_at = asked_at + wait_ms / 1000 + self._in.settings.session_max_seconds
        self._in.renewer.keep([self], since=asked_at, ends_at=self.ends_at)
        if wait_ms:
            waiter.tell("info", "throttle.wait", wait_ms=wait_ms, reason=held.wait_reason)
        if held.token:
            _, host, pid, *_ = self._token.split(":")
            waiter.tell("info", "lock.acquire.success", worker_id=f"{host}:{pid}", attempt=self._missed + 1)
        self._step = self._enter
        return self._wait_for(wait_ms, DELAY) if wait_ms else self._enter()

    def _enter(self) -> Wait | Entered:
        if (held := self.held) and held.wait_ms and not self._has_entered:
            # The process may have been stopped for longer than the lock lasts.
            with suppress(GateUnavailableError):  # as far as we know it is ours; its renewal goes on
                if not self._in.gate.extend(held):
                    self._in.renewer.forget([self])
                    self.held = None
        if (held := self.held) is None:  # lost before the first fetch
            self._token, self._step = "", self._try
            return self._miss(Cause.LOCK_LOST)
        self._has_entered = True
        return Entered(held)

    def _wait_behind(self, first: DomainAcquisition) -> Wait:
        """Wait for a session of this process, in the order of coming."""
        until, why = first._pause
        if why == DELAY and (held := first.held):
            left_ms = math.ceil((until - self._in.monotonic()) * 1000)
            self._wait_along(max(left_ms, 0), held.wait_reason)
        return self._wait_for(LOOK_AGAIN_MS, IN_LINE)

    def _wait_aside(self, busy: Busy) -> Wait | None:
        """A wait that costs no attempt, where the holder only waits itself, or is one that we wait for."""
        look_again_ms = LOOK_AGAIN_MS + int(self._in.chance() * LOOK_AGAIN_MS)
        self._wait_along(busy.wait_ms if is_ours(busy.value) else 0, busy.wait_reason)
        if self._waits_along:
            return self._wait_for(min(busy.wait_ms, look_again_ms), QUEUE)
        if self.waiter.beside:
            return None
        if is_own(busy.value):
            return self._wait_for(LOOK_AGAIN_MS, IN_LINE)
        wait_seconds = self._in.settings.domain_queue_wait_seconds
        if not wait_seconds or not is_ours(busy.value):
            return None
        now = self._in.monotonic()
        if self._queue_until is None:
            self._queue_until = now + wait_seconds
            self.waiter.tell("info", "lock.queue.wait", wait_ms=wait_seconds * 1000, holder=busy.value)
        return self._wait_for(look_again_ms, QUEUE) if now < self._queue_until else None

    def _wait_along(self, left_ms: int, reason: str) -> None:
        """Tell once that the holder waits a delay out, and we with it."""
        if left_ms and not self._waits_along:
            self.waiter.tell("info", "throttle.wait", wait_ms=left_ms, reason=reason)
        self._waits_along = left_ms > 0

    def _miss(self, reason: str, **fields: Any) -> Wait:
        """Count a failed attempt; wait for the next one, or give up after the last (SPEC A10-A12, A27)."""
        if self.waiter.once:
            self._in.leave_line(self)
            raise DomainLockTimeoutError(reason)
        self._missed += 1
        most = self._in.settings.domain_lock_max_retries
        if self._missed >= most:
            self.waiter.tell(
                "error", "lock.acquire.timeout", "timeout",
                max_retries_exceeded=True, attempts=self._missed, reason=reason, **fields,
            )  # fmt: skip
            self._in.leave_line(self)
            raise DomainLockTimeoutError(reason)
        wait_ms = round(self._in.backoff.delay(self._missed, self._in.chance()) * 1000)
        self.waiter.tell(
            "warn", "lock.acquire.retry",
            attempt=self._missed, max_retries=most, wait_ms=wait_ms, reason=reason, **fields,
        )  # fmt: skip
        return self._wait_for(wait_ms, BACKOFF)

    def _release(self, held: Held) -> None:
        if not held.token:
            return
        tell = self.waiter.tell
        try:
            outcome = self._in.gate.release(held)
        except GateUnavailableError as error:
            tell(
                "error", "lock.release.failed",
                reason=error.code, error=str(error), expires_in_ms=self._in.gate.times.lock_ttl_ms,
            )  # fmt: skip
            self._in.release_later(held)
            return
        if outcome is Release.RELEASED:
            tell("info", "lock.release.success")
        elif outcome is Release.EXPIRED:
            tell("warn", "lock.release.stale", reason="expired")
        else:
            tell("warn", "lock.release.stale", reason="foreign", lock_value_mismatch=True)

    def _wait_for(self, milliseconds: int, why: str) -> Wait:
        self._pause = (self._in.monotonic() + milliseconds / 1000, why)
        return Wait(milliseconds, why)


def _was_left() -> NoReturn:
    raise RuntimeError("this acquisition was left; a session that comes again needs a new one")


def _skip_reason(waiter: Waiter, settings: Settings) -> str:
    """Why a session does not wait a delay out; empty where it does (SPEC A16-A18, A39)."""
    if waiter.mode == DEBUG and not settings.disable_locks:
        return "debug_mode"
    return "testing" if settings.disable_locks or settings.disable_throttle else ""


def _tell_skip(waiter: Waiter, settings: Settings) -> None:
    if reason := _skip_reason(waiter, settings):
        waiter.tell("info", "throttle.skip", reason=reason)


def _tell_loss(acquisition: DomainAcquisition, why: Cause) -> None:
    """Called by the renewer."""
    waiter, held = acquisition.waiter, acquisition.held
    log.error("lock.lost", session_id=waiter.session_id, domain=waiter.domain, reason=why)
    if held is not None:
        acquisition.lost(held, why)


def _tell_failure(failed: list[DomainAcquisition], error: Exception, seconds: float) -> None:
    """Called by the renewer."""
    [waiter] = [each.waiter for each in failed]
    session = {"session_id": waiter.session_id, "domain": waiter.domain}
    if isinstance(error, GateUnavailableError):
        log.warning(
            "lock.extend.failed", **session,
            reason=error.code, error=str(error), expires_in_ms=round(seconds * 1000),
        )  # fmt: skip
    else:
        log.error("lock.extend.crashed", **session, exc_info=error)
