"""A gate that answers as it is told, for tests of those who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from crawler.access.gate import Busy, GateTimes, GateUnavailableError, Held, Release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.access.gate import DomainState

AWAY = GateUnavailableError("Redis at redis:6379 does not answer")
TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)


@define
class FakeGate:
    """Its answers are taken one by one, the last one again and again; an error is raised."""

    acquires: Sequence[Held | Busy | GateUnavailableError] = ()
    extends: Sequence[bool | GateUnavailableError] = (True,)
    releases: Sequence[Release | GateUnavailableError] = (Release.RELEASED,)
    calls: list[str] = field(factory=list)
    tokens: list[str] = field(factory=list)
    shared: bool = True
    times: GateTimes = TIMES

    def acquire(self, domain: str, session_id: str, token: str = "", *, waits: bool = True) -> Held | Busy:
        """The next answer, or a lock; without a wait for who does not wait."""
        self.tokens.append(token)
        self.calls.append("acquire")
        if not self.acquires:
            return Held(domain, session_id, f"vitrine:{session_id}")
        answer, self.acquires = self.acquires[0], self.acquires[1:] or self.acquires
        if isinstance(answer, GateUnavailableError):
            raise answer
        return answer if waits or isinstance(answer, Busy) else evolve(answer, wait_ms=0)

    def extend(self, held: Held) -> bool:
        """The next answer."""
        self.calls.append("extend")
        answer, self.extends = self.extends[0], self.extends[1:] or self.extends
        if isinstance(answer, GateUnavailableError):
            raise answer
        return answer

    def release(self, held: Held) -> Release:
        """The next answer."""
        self.calls.append("release")
        answer, self.releases = self.releases[0], self.releases[1:] or self.releases
        if isinstance(answer, GateUnavailableError):
            raise answer
        return answer

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Forget it."""

    def states(self) -> Sequence[DomainState]:
        """None."""
        return []

    def state(self, domain: str) -> DomainState:
        """Nobody asks for it."""
        raise NotImplementedError

    def break_lock(self, domain: str, value: str) -> bool:
        """Nothing to break."""
        return False

    def close(self) -> None:
        """Nothing to close."""
