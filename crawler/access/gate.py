"""The port of the domain gate: one holder a domain, a delay between holders, longer delays on request."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Sequence


class GateUnavailableError(CrawlerError):
    """The store of the domain locks does not answer."""

    code = "redis_unavailable"


@frozen
class Held:
    """A lock, as its holder knows it."""

    domain: str
    session_id: str
    token: str  # the lock's whole value, unique per acquisition
    wait_ms: int  # what is left of the delay, to be waited out under the lock


@frozen
class Busy:
    """Somebody else holds the domain."""

    domain: str
    value: str  # the holder's lock value
    expires_in_ms: int  # how long the lock lasts if nobody renews it


class Release(Enum):
    """What releasing a lock found."""

    RELEASED = "released"
    EXPIRED = "expired"  # the lock was gone
    FOREIGN = "foreign"  # somebody else holds it, and keeps it


@frozen
class GateEntry:
    """What the gate knows of one domain, for people."""

    domain: str
    value: str | None  # the lock's value, None when it is free
    expires_in_ms: int
    throttled_for_ms: int  # what is left of the delay after the last session
    delayed_for_ms: int  # what is left of a delay that the site asked for
    delay_reason: str | None


class Gate(Protocol):
    """Each call is one step in the store, decided on the store's own clock."""

    shared: bool  # whether other machines see these locks

    def acquire(self, domain: str, session_id: str) -> Held | Busy:
        """Take the lock if it is free. Taking a lock that this very call already took is no conflict."""

    def extend(self, held: Held) -> bool:
        """Give the lock its full time again; False when it is no longer ours."""

    def release(self, held: Held) -> Release:
        """Free the lock if it is ours, and in the same step note that a session ended now."""

    def throttle_left_ms(self, domain: str) -> int:
        """What is left of the delays of a domain, lock or no lock."""

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Hold everyone off a domain for that long (within the configured bound); never shortens."""

    def entries(self) -> Sequence[GateEntry]:
        """Every domain that is held or delayed, by name."""

    def entry(self, domain: str) -> GateEntry:
        """What is known of one domain; a free one when nothing is."""

    def break_lock(self, domain: str, value: str) -> bool:
        """Free a lock that still has this value, whoever holds it; an operator's last resort."""
