"""A session at work in this process: what came of its pages, and why it has to stop."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import Factory, define, field

from crawler.capture.failures import Cause, Summary
from crawler.sessions.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from crawler.sessions.journal import Journal
    from crawler.sessions.outcome import PageResult
    from crawler.sessions.rows import Fence, SessionOrder


def _nobody() -> None:
    """Nobody waits for the visit yet."""


@define(eq=False)
class Visit:
    """One session from its start to its end; all of it belongs to the event loop's thread."""

    fence: Fence
    order: SessionOrder
    journal: Journal
    # The session's id as text, as it stands in requests and logs.
    id: str = field(init=False, default=Factory(attrgetter("journal.session_id"), takes_self=True))
    crawl_delays: dict[str, float] = field(factory=dict)  # what robots.txt asks for, by domain
    kept: dict[UUID, PageResult] = field(factory=dict)  # the pages that are stored
    pdp_url: str | None = None
    final_url: str | None = None
    missing_pdp: Cause | None = Cause.NO_CANDIDATES  # until a product page is found
    under_way: int = 0  # requests that are at the site
    quiet: asyncio.Event = field(factory=asyncio.Event)  # set when the last of them has come back
    stopped: Outcome | None = None  # set once, by whatever ends the session before its time
    wake: Callable[[], object] = _nobody  # called when it was stopped

    def stop(self, cause: Cause, summary: Summary = Summary.CRAWL_FAILED) -> bool:
        """End the session early; the first reason stays. True when this was the first."""
        if self.stopped is not None:
            return False
        self.stopped = Outcome(Status.FAILED, summary, cause)
        return True

    def count(self, change: int) -> None:
        """A request went to the site, or came back."""
        self.under_way += change
        if self.under_way > 0:
            self.quiet.clear()
        else:
            self.quiet.set()

    def found(self, pdp_url: str) -> None:
        """Remember the session's product page."""
        self.pdp_url = pdp_url
        self.missing_pdp = None
