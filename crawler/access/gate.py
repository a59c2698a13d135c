"""The port of the domain gate: one holder a domain, a delay between holders, longer delays on request."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from crawler.capture.failures import Cause
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Sequence

NEVER = -1  # the `expires_in_ms` of a lock that somebody set without an expiry
MIN_DELAY = "min_delay"  # the reason of a wait that no site asked for
LOCK_BROKEN = "lock_broken"  # that of one in which the holder before learns that its lock is gone
RENEWALS_PER_LOCK = 3


class GateUnavailableError(CrawlerError):
    """The store of the domain locks does not answer."""

    code = Cause.REDIS_UNAVAILABLE.value


class LocalGateUnavailableError(GateUnavailableError):
    """The database that holds the domain locks does not answer."""

    code = Cause.DATABASE_UNAVAILABLE.value


@frozen
class GateTimes:
    """The times that a gate works with."""

    lock_ttl_ms: int
    min_delay_ms: int
    throttle_ttl_ms: int  # how long it is remembered when a domain was visited last, at least
    max_delay_ms: int  # the bound of what a site may ask for
    stamps: bool = True  # whether it is noted when a session starts, lives and ends

    def bounded(self, seconds: float) -> int:
        """A delay that a site asked for, in milliseconds and within the bound."""
        return max(0, min(round(seconds * 1000), self.max_delay_ms))

    @property
    def renewed_ms(self) -> int:
        """What a lock has left, at the least, while its holder lives and renews it."""
        return self.lock_ttl_ms // 2

    @property
    def heard_ms(self) -> int:
        """After that time such a holder knows that its lock was broken: its next renewal, somewhat late."""
        return self.lock_ttl_ms // RENEWALS_PER_LOCK + self.lock_ttl_ms // 12


@frozen
class Held:
    """A lock, as its holder knows it."""

    domain: str
    session_id: str
    token: str  # the lock's whole value, unique per acquisition; empty where locks are disabled
    wait_ms: int = 0  # what is left of the delay, to be waited out under the lock
    wait_reason: str = MIN_DELAY  # whose delay that is


@frozen
class Busy:
    """Somebody else holds the domain."""

    domain: str
    value: str  # the holder's lock value
    expires_in_ms: int  # how long the lock lasts if nobody renews it
    wait_ms: int = 0  # how long its holder still waits a delay out; 0 once it has begun
    wait_reason: str = MIN_DELAY


class Release(Enum):
    """What releasing a lock found."""

    RELEASED = "released"
    EXPIRED = "expired"  # the lock was gone
    FOREIGN = "foreign"  # somebody else holds it, and keeps it


@frozen
class DomainState:
    """What the gate knows of one domain, for people."""

    domain: str
    value: str | None  # the lock's value, None when it is free
    expires_in_ms: int
    throttled_for_ms: (
        int  # what is left of the delay after the last session; of a held one, what its holder waits
    )
    delayed_for_ms: int  # what is left of a delay that the site asked for
    delay_reason: str | None

    @property
    def is_of_interest(self) -> bool:
        """Whether a session would find the domain held or delayed."""
        return self.value is not None or self.throttled_for_ms > 0 or self.delayed_for_ms > 0


class Gate(Protocol):
    """Each call is one step in the store, decided on the store's own clock.

    The least delay counts from a stamp: the start of the last session, then its last sign of life, then its
    end (SPEC A14, A25). While a holder waits a delay out, its start lies in the future.
    """

    shared: bool  # whether other machines see these locks
    times: GateTimes

    def acquire(self, domain: str, session_id: str, token: str = "", *, waits: bool = True) -> Held | Busy:
        """Take the lock if it is free, or if it has this token already: an answer may have got lost.

        Stamps the start: after the delay that is left, or now where the session does not wait.
        """

    def extend(self, held: Held) -> bool:
        """Give the lock its full time again, and stamp that its session lives; False when it is not ours."""

    def release(self, held: Held) -> Release:
        """Free the lock if it is ours, and in the same step stamp that a session ended now."""

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Hold everyone off a domain for that long (within the configured bound); never shortens."""

    def states(self) -> Sequence[DomainState]:
        """Every domain that is held or delayed, by name."""

    def state(self, domain: str) -> DomainState:
        """What is known of one domain; a free one when nothing is."""

    def break_lock(self, domain: str, value: str) -> bool:
        """Free a lock that still has this value, whoever holds it; an operator's last resort.

        Where it is one of ours that is renewed, nobody enters before its holder has heard of it.
        """

    def close(self) -> None:
        """Let go of connections; locks stay."""
