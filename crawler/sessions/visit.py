"""A session at work in this process: what it holds, what came of its pages, and why it has to stop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from attrs import define, field

from crawler.capture.failures import Cause, Summary
from crawler.sessions.outcome import Outcome, PageResult, Status, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from crawler.access.acquisition import Entry
    from crawler.sessions.journal import Journal
    from crawler.sessions.rows import Fence, SessionOrder


def _nobody() -> None:
    """Nobody waits for the visit yet."""


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@define(eq=False)
class Visit:
    """One session from its start to its end; the crawl's code and the keeper's thread share it."""

    fence: Fence
    order: SessionOrder
    journal: Journal
    entries: dict[str, Entry] = field(factory=dict)  # what it holds, by domain
    crawl_delays: dict[str, float] = field(factory=dict)  # what robots.txt asks for, by domain
    pages: list[PageResult] = field(factory=list)
    kept: set[UUID] = field(factory=set)  # the pages that are in the book
    pdp_url: str | None = None
    final_url: str | None = None
    missing_pdp: Cause | None = Cause.NO_CANDIDATES  # until a product page is found
    low_confidence: bool = False
    under_way: int = 0  # requests that are at the site
    quiet: asyncio.Event = field(factory=_set_event)  # none is
    stopped: Outcome | None = None  # set once, by whatever ends the session before its time
    wake: Callable[[], object] = _nobody  # called in the event loop when it was stopped
    _lock: threading.Lock = field(factory=threading.Lock)

    @property
    def id(self) -> str:
        """The session's id as text, as it stands in requests and logs."""
        return str(self.fence.session_id)

    def stop(self, cause: Cause, summary: Summary = Summary.CRAWL_FAILED) -> bool:
        """End the session early; the first reason stays. True when this was the first."""
        with self._lock:
            if self.stopped is not None:
                return False
            self.stopped = Outcome(Status.FAILED, summary, cause)
            return True

    def count(self, change: int) -> None:
        """A request went to the site, or came back; called in the event loop."""
        self.under_way += change
        if self.under_way > 0:
            self.quiet.clear()
        else:
            self.quiet.set()

    def found(self, pdp_url: str) -> None:
        """Remember the session's product page."""
        self.pdp_url = pdp_url
        self.missing_pdp = None

    def outcome(self) -> Outcome:
        """How the session ended."""
        return self.stopped or outcome_of(self.pages, self.missing_pdp)
