"""One domain of a run in this process: what is leased of it, and what of that may go out now. No I/O."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.runs.tasks import LeasedTask
    from crawler.sessions.visit import Visit

LARGEST_WINDOW = 100


@define(eq=False)
class DomainSlot:
    """The tasks that this process has of one domain, whose lock its visit holds.

    The window is how many it leases ahead. It begins small, since what is leased here nobody else can
    take, and grows when the site answers faster than leases come.
    """

    visit: Visit
    at_once: int  # how many requests the downloader may have of this domain
    leave_at: float  # on the loop's clock; the domain is let go of then, and asked for again
    window: int = 0
    jitter_seconds: float = 0.0  # the longest pause between an answer and the next request
    is_resting: bool = False  # such a pause is not over
    ready: deque[LeasedTask] = field(factory=deque)
    open: dict[int, LeasedTask] = field(factory=dict)  # leased and not ended, the ready ones too
    at_site: set[int] = field(factory=set)  # handed out, and not answered yet
    is_leaving: bool = False
    is_dry: bool = False  # the last lease brought nothing, and nothing has happened since
    changed: asyncio.Event = field(factory=asyncio.Event)

    def __attrs_post_init__(self) -> None:
        """Begin with what keeps the downloader busy, and no more."""
        self.window = self.window or 2 * (self.at_once + 1)

    @property
    def domain(self) -> str:
        """Whose lane it is."""
        return self.visit.order.domain

    def wanted(self) -> int:
        """How many tasks to lease now; nothing until half of the window is free."""
        room = self.window - len(self.open)
        return 0 if self.is_dry or room * 2 < self.window else room

    def put(self, tasks: Iterable[LeasedTask], asked: int) -> None:
        """Take in what was leased; a lane that ran empty although there was more looks further ahead."""
        got = list(tasks)
        self.is_dry = not got
        if len(got) == asked and not self.ready:
            self.window = min(2 * self.window, LARGEST_WINDOW)
        self.open.update((task.lease.id, task) for task in got)
        self.ready.extend(got)

    @property
    def may_hand_out(self) -> bool:
        """Whether there is a task that may go out now.

        One more than the site takes at once lies ready in the downloader, except where pauses come between.
        """
        most = self.at_once + (not self.jitter_seconds)
        return bool(self.ready) and not (self.is_leaving or self.is_resting) and len(self.at_site) < most

    def take(self) -> LeasedTask | None:
        """The next task that may go out now."""
        if not self.may_hand_out:
            return None
        task = self.ready.popleft()
        self.at_site.add(task.lease.id)
        return task

    def answered(self, task_id: int, wake: Callable[[], None]) -> None:
        """The site has answered, or never will: the next request may go, after the pause that is due."""
        self.at_site.discard(task_id)
        if self.jitter_seconds:
            self.is_resting = True
            pause = random.uniform(0, self.jitter_seconds)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
            asyncio.get_running_loop().call_later(pause, self._rested, wake)
        elif self.ready:
            wake()

    def _rested(self, wake: Callable[[], None]) -> None:
        self.is_resting = False
        wake()

    def drop(self, ids: Iterable[int]) -> None:
        """Forget what is no longer ours; what is on its way already is refused when it is stored."""
        lost = set(ids)
        for task in [task for task in self.ready if task.lease.id in lost]:
            self.ready.remove(task)
            self.open.pop(task.lease.id, None)
        self.changed.set()

    def give_up(self) -> list[LeasedTask]:
        """What was leased and not begun; it goes back."""
        untouched = list(self.ready)
        self.ready.clear()
        for task in untouched:
            self.open.pop(task.lease.id, None)
        return untouched

    def leave(self) -> None:
        """Hand nothing out any more."""
        self.is_leaving = True
        self.changed.set()

    def ended(self, task_id: int) -> None:
        """A task's end is stored, or will be somebody else's."""
        self.open.pop(task_id, None)
        self.at_site.discard(task_id)
        self.changed.set()

    def moistened(self) -> None:
        """There may be something to lease again."""
        self.is_dry = False
        self.changed.set()


async def news(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but not for long; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    event.clear()
    return True
