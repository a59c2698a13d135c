"""Everything that is waited for on a page: that it is ready, scrolled through, settled (SPEC F150).

A page's time is read from a clock that is handed in, so that hours of it pass in milliseconds of a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.config import Settings

LOOK_SECONDS = 0.1
SHARE_OF_A_WINDOW = 0.8
QUIET_AFTER_A_STEP = 0.5


class Clock(Protocol):
    """Tells the time, and lets it pass."""

    def now(self) -> float:
        """Seconds, from whenever."""

    async def sleep(self, seconds: float) -> None:
        """Come back later; or not at all, where nobody waits any more."""


@frozen
class Look:
    """What a page is like at one moment."""

    is_loaded: bool = False
    under_way: int = 0  # requests
    traffic: int = 0  # changes when a request begins or ends
    shape: tuple[int, ...] = ()  # changes with what is in it


@frozen
class Limits:
    """How quiet a page has to be, and how long that is waited for; seconds."""

    idle: float
    stable: float
    least: float = 0.0  # after it was loaded
    most: float = 15.0

    @classmethod
    def ready(cls, settings: Settings) -> Self:
        """Of a page that has just come."""
        return cls(
            settings.render_idle_ms / 1000,
            settings.render_stable_ms / 1000,
            settings.render_min_ms / 1000,
            settings.render_ready_max_ms / 1000,
        )

    @classmethod
    def within(cls, milliseconds: int) -> Self:
        """Of one that was quiet already."""
        return cls(QUIET_AFTER_A_STEP, QUIET_AFTER_A_STEP, most=milliseconds / 1000)


async def until_quiet(look: Callable[[], Awaitable[Look]], limits: Limits, clock: Clock) -> tuple[str, ...]:
    """Wait until a page is quiet; what it still was not when that had lasted too long."""
    begun = clock.now()
    idle_since = stable_since = begun
    loaded_at: float | None = None
    last: Look | None = None
    while True:
        seen, now = await look(), clock.now()
        if last is not None and (seen.under_way or seen.traffic != last.traffic):
            idle_since = now
        if last is not None and seen.shape != last.shape:
            stable_since = now
        if loaded_at is None and seen.is_loaded:
            loaded_at = now
        waits = {
            "load": loaded_at is None or now - loaded_at < limits.least,
            "network": bool(seen.under_way) or now - idle_since < limits.idle,
            "dom": now - stable_since < limits.stable,
        }
        missing = tuple(name for name, is_missing in waits.items() if is_missing)
        if not missing or now - begun >= limits.most:
            return missing
        last = seen
        await clock.sleep(LOOK_SECONDS)


@frozen
class Place:
    """Where a window stands on its page."""

    bottom: int  # of the window, in pixels of the page
    height: int  # of the page

    @property
    def is_bottom(self) -> bool:
        """Whether there is nothing further down."""
        return self.bottom >= self.height - 1


class Scrollable(Protocol):
    """A window that can be moved over its page."""

    async def down(self, share: float) -> Place:
        """Move it down by a share of its height; where it is then."""

    async def top(self) -> None:
        """Move it back to where it began."""

    async def look(self) -> Look:
        """What the page is like."""


@frozen
class Scroll:
    """How a page is scrolled through."""

    steps: int
    wait_ms: int  # at most, after each step
    bottom_ms: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As the operator wants it."""
        return cls(settings.render_scroll_steps, settings.render_scroll_wait_ms, settings.render_bottom_ms)


async def scroll_through(window: Scrollable, how: Scroll, clock: Clock) -> int:
    """Go down the page step by step, stay at its bottom, and come back; how many steps that took.

    A page that grows at its bottom is followed as far as the steps go.
    """
    steps, quiet = 0, Limits.within(how.wait_ms)
    while steps < how.steps:
        steps += 1
        place = await window.down(SHARE_OF_A_WINDOW)
        await until_quiet(window.look, quiet, clock)
        if not place.is_bottom:
            continue
        await clock.sleep(how.bottom_ms / 1000)
        if (await window.down(0)).is_bottom:
            break
    await window.top()
    return steps
