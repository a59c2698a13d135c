"""Keeps what is ours for a while: renewed from a thread of its own, which no busy event loop can hold up."""

from __future__ import annotations

import math
import time
from threading import Condition, Thread, current_thread
from typing import TYPE_CHECKING, Generic, TypeVar

from attrs import define

from crawler.capture.failures import Cause
from crawler.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

T = TypeVar("T")
RENEWALS_PER_LEASE = 3
# While nobody answers it is asked this often within the time of one renewal.
TRIES_PER_RENEWAL = 4
CLOSE_SECONDS = 5.0

log = get_logger(__name__)


@define(eq=False)
class _Kept(Generic[T]):
    """A thing, and until when it is ours; times are the renewer's."""

    thing: T
    valid_until: float  # if it was never renewed again
    ends_at: float  # however often it is renewed


class Renewer(Generic[T]):
    """Renews what it was told to keep until that is forgotten, lost, or has been kept for long enough.

    `renew` says which of the things are still ours; what it raises means that nobody can tell. It gets
    all of them, none too, so that it can show that this process lives; or one at a time, so that one
    that fails tells nothing about the others. `on_lost` is called once for each thing: with `too_long` where
    it was kept for as long as may be, else with `lock_lost`. Both run in this renewer's thread: what may be
    slow has a renewer of its own, and costs the things of others nothing.
    """

    def __init__(
        self,
        name: str,
        renew: Callable[[list[T]], Collection[T]],
        on_lost: Callable[[T, Cause], object] = lambda _thing, _why: None,
        *,
        lasts: float,
        runs_out: bool = True,
        one_by_one: bool = False,
        on_failure: Callable[[list[T], Exception, float], object] | None = None,
    ) -> None:
        """A renewal `lasts` so many seconds; what does not run out is lost only if `renew` says so.

        `on_failure` hears what `renew` raised, of which things, and for how many seconds they are ours still.
        """
        self._renew = renew
        self._on_lost = on_lost
        self._on_failure = on_failure or self._log_failure
        self._interval = lasts / RENEWALS_PER_LEASE
        self._lasts = lasts if runs_out else math.inf
        self._one_by_one = one_by_one
        self._kept: dict[T, _Kept[T]] = {}
        self._next_at = math.inf  # when to renew again
        self._changed = Condition()
        self._is_closed = False
        self._is_failing = False
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin with a round at once; otherwise it begins when there is something to keep."""
        with self._changed:
            self._next_at = -math.inf
            self._go_on()

    def keep(self, things: Iterable[T], *, since: float | None = None, ends_at: float = math.inf) -> None:
        """Renew things that are ours since then, and have them end at that time."""
        since = time.monotonic() if since is None else since
        with self._changed:
            for thing in things:
                self._kept[thing] = _Kept(thing, since + self._lasts, ends_at)
            self._next_at = min(self._next_at, since + self._interval)
            self._go_on()

    def forget(self, things: Iterable[T]) -> None:
        """Renew these no more, nor find them lost; a loss found just before may still be told."""
        with self._changed:
            for thing in things:
                self._kept.pop(thing, None)

    def is_ours(self, thing: T) -> bool:
        """Whether a thing is ours at this moment, by its date: for who woke up before this thread."""
        kept = self._kept.get(thing)
        return kept is not None and time.monotonic() < min(kept.valid_until, kept.ends_at)

    def close(self) -> None:
        """Stop; what is still kept runs out by itself."""
        with self._changed:
            self._is_closed = True
            self._kept.clear()
            self._changed.notify()
        if self._thread.is_alive() and self._thread is not current_thread():
            self._thread.join(CLOSE_SECONDS)

    def _go_on(self) -> None:
        if self._thread.ident is None and not self._is_closed:
            self._thread.start()
        self._changed.notify()

    def _run(self) -> None:
        while self._wait():
            now = time.monotonic()
            self._lose([each for each in list(self._kept.values()) if now >= each.ends_at], Cause.TOO_LONG)
            if now >= self._next_at:
                self._renew_all()

    def _wait(self) -> bool:
        """Sleep until there is something to do; False when there never will be."""
        with self._changed:
            while not self._is_closed:
                ends = (each.ends_at for each in self._kept.values())
                left = min(self._next_at, *ends, math.inf) - time.monotonic()
                if left <= 0:
                    return True
                self._changed.wait(None if math.isinf(left) else left)
        return False

    def _renew_all(self) -> None:
        """One round. A call that fails is enough to know: the others would only wait for the same."""
        with self._changed:
            kept = list(self._kept.values())
            self._next_at = time.monotonic() + self._interval  # what is kept from here on may be due sooner
        for batch in [[each] for each in kept] if self._one_by_one else [kept]:
            began = time.monotonic()
            try:
                ours = set(self._renew([each.thing for each in batch]))
            except Exception as error:  # ruff: ignore[blind-except] - the thread goes on, whatever it is
                self._come_back_soon(batch, error)
                break
            self._is_failing = False
            for each in batch:
                each.valid_until = began + self._lasts
            self._lose([each for each in batch if each.thing not in ours], Cause.LOCK_LOST)
        now = time.monotonic()
        self._lose([each for each in kept if now >= each.valid_until], Cause.LOCK_LOST)

    def _come_back_soon(self, failed: list[_Kept[T]], error: Exception) -> None:
        """Try again before anything runs out; next time it is the others' turn first."""
        now = time.monotonic()
        with self._changed:
            for each in failed:
                if self._kept.get(each.thing) is each:
                    self._kept[each.thing] = self._kept.pop(each.thing)
            ends = [each.valid_until for each in self._kept.values() if each.valid_until > now]
            self._next_at = min(self._next_at, now + self._interval / TRIES_PER_RENEWAL, *ends)
        valid_until = min((each.valid_until for each in failed), default=math.inf)
        self._on_failure([each.thing for each in failed], error, max(0, valid_until - now))

    def _lose(self, gone: list[_Kept[T]], why: Cause) -> None:
        """Tell it, unless the thing was forgotten while it was asked for."""
        with self._changed:
            lost = [each.thing for each in gone if self._kept.get(each.thing) is each]
            for thing in lost:
                del self._kept[thing]
        for thing in lost:
            try:
                self._on_lost(thing, why)
            except Exception:  # the others are still to be kept
                log.exception("lease.loss_unheard", renewer=self._thread.name, reason=why.value)

    def _log_failure(self, things: list[T], error: Exception, _seconds: float) -> None:
        """Said once: there are more tries before anything runs out."""
        if self._is_failing:
            return
        self._is_failing = True
        log.warning("lease.renewal_failed", renewer=self._thread.name, count=len(things), error=str(error))
