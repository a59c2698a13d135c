"""A session at work in this process: what came of its pages, and why it has to stop."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import Factory, define, evolve, field, frozen

from crawler.capture.failures import Cause, Summary
from crawler.capture.items import MEDIA
from crawler.evidence.files import SPIDER_PAGE
from crawler.sessions.outcome import Outcome, PageResult, Status, outcome_of
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from crawler.sessions.journal import Journal
    from crawler.sessions.rows import Fence, SessionOrder


MAX_REASON_CHARS = 100


def _nobody() -> None:
    """Nobody waits for the visit yet."""


@define(eq=False)
class Outstanding:
    """Counts what is not back yet, for who waits for the last of it."""

    count: int = 0
    over: asyncio.Event = field(factory=asyncio.Event)  # set when nothing is out any more

    def add(self) -> None:
        """One more is out."""
        self.count += 1
        self.over.clear()

    def remove(self) -> None:
        """One is back."""
        self.count -= 1
        if self.count <= 0:
            self.over.set()

    async def all_back(self) -> None:
        """Wait for the last of it."""
        if self.count:
            await self.over.wait()


@frozen
class ProductPage:
    """What is known of the product page that a session looks for."""

    url: str | None = None
    missing: Cause | None = Cause.NO_CANDIDATES  # why there is none; None also where none is looked for


@define(eq=False)
class Visit:
    """One session from its start to its end; all of it belongs to the event loop's thread."""

    fence: Fence
    order: SessionOrder
    journal: Journal
    # The session's id as text, as it stands in requests and logs.
    id: str = field(init=False, default=Factory(attrgetter("journal.session_id"), takes_self=True))
    pdp: ProductPage = field(factory=ProductPage)
    final_url: str | None = None  # where the start page was found in the end
    crawl_delays: dict[str, float] = field(factory=dict)  # what robots.txt asks for, by domain
    # The pages that are stored; beside them, where requests became none, None for an answer and causes.
    kept: dict[UUID | Cause | None, PageResult] = field(factory=dict)
    requests: Outstanding = field(factory=Outstanding)  # at the site
    work: Outstanding = field(factory=Outstanding)  # its way through the site, and pages not stored yet
    stopped: Outcome | None = None  # set once, by whatever ends the session before its time
    wake: Callable[[], object] = _nobody  # called when it was stopped

    def stop(self, cause: Cause, summary: Summary = Summary.CRAWL_FAILED) -> bool:
        """End the session early; the first reason stays. True when this was the first."""
        if self.stopped is not None:
            return False
        self.stopped = Outcome(Status.FAILED, summary, cause)
        return True

    def expect(self) -> None:
        """Count as a visit of which nothing came, until something does: its spider tells nobody."""
        self.kept[Cause.LOST] = PageResult("page", Cause.LOST)

    def heard(self) -> None:
        """Count no more as a visit of which nothing came."""
        self.kept.pop(Cause.LOST, None)

    def came(self, cause: Cause | None, url: str, **details: str) -> None:
        """Note what came of a request of a spider that knows of no visits: an answer, or why none."""
        self.heard()
        self.lacks(cause)
        if cause is not None:
            self.journal.warn("navigation", "page.failed", url=url, cause=cause, **details)

    def lacks(self, cause: Cause | None) -> None:
        """Note that a request became no page that is stored, whatever became of it."""
        self.kept[cause] = PageResult("page", cause)

    def end_with_spider(self, reason: str) -> None:
        """Have the session end as its pages say, with the reason for which the spider was closed."""
        self.heard()
        outcome = self.outcome
        if self.stopped is None and outcome.status is not Status.FAILED:
            why = redacted(" ".join(reason.split()))[:MAX_REASON_CHARS]
            self.stopped = evolve(outcome, summary=f"{Summary.STOPPED_BY_SPIDER}: {why}")

    @property
    def outcome(self) -> Outcome:
        """How the session ends, by what became of its pages."""
        pages = self.results
        has_viewports = self.order.run_id is None and any(
            page.page_type not in {SPIDER_PAGE, MEDIA} for page in pages
        )
        return outcome_of(pages, self.pdp.missing, has_viewports=has_viewports or bool(self.pdp.missing))

    @property
    def results(self) -> list[PageResult]:
        """What its end is told by; what was not to be fetched, or not heard of, if there is no more."""
        firm = [page for key, page in self.kept.items() if not self._is_weak(key)]
        return firm or list(self.kept.values())

    def _is_weak(self, key: UUID | Cause | None) -> bool:
        """Whether that says nothing beside pages: of a run, which tries its tasks again, no attempt does."""
        is_of_a_run = self.order.run_id is not None
        return isinstance(key, Cause) and (is_of_a_run or key is Cause.LOST or key.traits.is_refusal)
