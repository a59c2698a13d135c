"""What components of a crawl are tested with: requests, answers and visits, and no crawl."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from attrs import define, field
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from crawler.config import load_settings
from crawler.crawl.context import SESSION
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from crawler.capture.failures import Cause
    from crawler.capture.items import PageCapture

T = TypeVar("T")
HOME = "https://shop.example/"


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """What some work comes to; the thread's own loop is pytest's."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def a_visit(domain: str = "shop.example", **order: Any) -> Visit:
    """A session that has begun."""
    session_id = uuid4()
    told = SessionOrder(f"https://{domain}/", domain, **order)
    return Visit(Fence(session_id, "me", 1), told, Journal(str(session_id), domain))


def lines_of(visit: Visit) -> list[tuple[str, dict[str, Any]]]:
    """What a visit's log says: the events, with their details."""
    return [(line.message, line.details) for line in visit.journal.take()]


@define(eq=False)
class Visits:
    """Visits that are there without a gate or a store."""

    running: dict[str, Visit] = field(factory=dict)
    known: dict[str, Visit] = field(factory=dict)
    listeners: list[Callable[..., None]] = field(factory=list)
    held_elsewhere: set[str] = field(factory=set)  # domains
    admitted: list[str] = field(factory=list)
    delays: list[tuple[str, float, str]] = field(factory=list)  # that were asked for
    stopped: list[tuple[str, Cause]] = field(factory=list)
    stored: list[PageCapture] = field(factory=list)
    keeping: Callable[[PageCapture], Any] | None = None
    closed: list[bool] = field(factory=list)

    def add(self, visit: Visit) -> Visit:
        """One more visit."""
        self.running[visit.id] = self.known[visit.id] = visit
        return visit

    async def open(self) -> None:
        """There is nothing to be opened."""

    async def admit(self, visit: Visit, domain: str) -> bool:
        """Whether a visit may fetch from a domain."""
        self.admitted.append(domain)
        return domain not in self.held_elsewhere

    async def begin_if_free(self, order: SessionOrder) -> Visit | None:
        """Begin a session in a domain that is free."""
        return None if order.domain in self.held_elsewhere else self.add(a_visit(order.domain))

    async def end(self, visit: Visit) -> None:
        """End it."""
        del self.running[visit.id]

    @property
    def threads(self) -> Any:
        """What blocks, run here."""

        async def run(function: Callable[..., T], *args: Any) -> T:  # ruff: ignore[unused-async] - as the real one
            return function(*args)

        return SimpleNamespace(run=run)

    @property
    def stores(self) -> Any:
        """Who holds a domain."""
        return SimpleNamespace(gate=SimpleNamespace(state=lambda _domain: SimpleNamespace(value="another")))

    @property
    def slots(self) -> Any:
        """As many sessions as are wanted."""
        return nullcontext()

    @property
    def domains(self) -> Any:
        """What the sessions hold."""
        return SimpleNamespace(has=lambda visit, domain: visit.order.domain == domain)

    async def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Remember it."""
        self.delays.append((domain, seconds, reason))

    async def keep(self, capture: PageCapture) -> Any:
        """Store a page as the test says."""
        self.stored.append(capture)
        return self.keeping(capture) if self.keeping else None

    def stop(self, session_id: str, cause: Cause, **_details: Any) -> None:
        """Remember it."""
        self.stopped.append((session_id, cause))
        self.running[session_id].stop(cause)

    async def close(self, *, completed: bool) -> None:
        """Remember it."""
        self.closed.append(completed)

    def tell(self, event: str, **fields: Any) -> None:
        """As the real ones do."""
        for listener in self.listeners:
            listener(event, **fields)


@define(eq=False)
class Parts:
    """The parts of a crawl that a component gets."""

    crawler: Any
    visits: Visits
    context: Any

    def make(self, component: Callable[..., T]) -> T:
        """The component, as Scrapy would have made it."""
        return component(self.crawler, self.context)


def crawl_parts(*, vitrine: dict[str, Any] | None = None, **settings: Any) -> Parts:
    """A crawl that does not run; `vitrine` are our settings, the others Scrapy's."""
    visits, crawler = Visits(), get_crawler(settings_dict=settings)
    engine: Any = SimpleNamespace(running=True, _slot=SimpleNamespace(closing=None))
    crawler.engine = engine
    context = SimpleNamespace(
        visits=visits,
        settings=load_settings(vitrine or {}),
        readers=None,
        run_worker=None,
        wake=lambda: None,
        records_sessions=False,
        is_recorded=lambda _session: False,
        has_own_warc=lambda _session: False,
    )
    return Parts(crawler, visits, context)


def a_request(url: str = HOME, visit: Visit | None = None, **options: Any) -> Request:
    """A request, of a visit if one is given."""
    meta = options.pop("meta", {})
    return Request(url, meta={**({SESSION: visit.id} if visit else {}), **meta}, **options)


def an_answer(request: Request, body: bytes = b"<h1>Jug</h1>", status: int = 200, **headers: str) -> Response:
    """What a site answers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HtmlResponse(request.url, status=status, headers=named, body=body, request=request)
