"""A run's requests stay within its scope, whatever the site redirects them to."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from crawler.access.scope import Denial, Scope
from crawler.crawl.answers import FilteredError, KnownUrlError
from crawler.crawl.context import TASK
from crawler.middlewares import scope as module
from crawler.middlewares.scope import ScopeMiddleware
from tests.unit.components import a_request, awaited, crawl_parts
from tests.unit.runs.queues import leased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.unit.components import Parts

ASKED = "https://shop.example/1"  # where the first task's page is


@define
class Run:
    """What a run knows of its site."""

    scope: Scope = field(factory=lambda: Scope.of(["shop.example"], deny=["/cart/**"]))
    source: Any = field(factory=lambda: SimpleNamespace(code="shop"))


@define
class RunStore:
    """What is stored of a run."""

    has_tasks: set[str] = field(factory=set)
    denied: list[str] = field(factory=list)

    def deny(self, learnt: Sequence[Denial]) -> None:
        """Keep what a login guards."""
        self.denied += [denial.pattern for denial in learnt]

    def has_own_task(self, _task: object, url: str) -> bool:
        """Whether the run comes to this URL by itself."""
        return url in self.has_tasks


@pytest.fixture
def parts() -> Parts:
    """A crawl of a run."""
    parts = crawl_parts()
    parts.context.run_worker = SimpleNamespace(run=Run(), store=RunStore(), slots={})
    return parts


def asked(parts: Parts, url: str, **task: Any) -> None:
    """The request of a task, led to `url`."""
    request = a_request(url, meta={TASK: leased(1, **task)})
    awaited(parts.make(ScopeMiddleware).process_request(request))


@pytest.mark.parametrize("url", [ASKED, "https://SHOP.example/1#top", "https://shop.example/elsewhere"])
def test_what_the_run_may_ask_for_goes_on(parts: Parts, url: str) -> None:
    """Redirected within the site or not."""
    asked(parts, url)


@pytest.mark.parametrize(
    "url", ["https://other.example/1", "https://shop.example/cart/1", "ftp://shop.example/1"]
)
def test_a_redirect_does_not_lead_out_of_the_scope(parts: Parts, url: str) -> None:
    """Neither to another site nor to what the source leaves out."""
    with pytest.raises(FilteredError, match="filtered"):
        asked(parts, url)


def test_of_two_that_are_led_to_one_url_the_second_waits(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the first has ended: by then the run knows the URL. It does not wait for ever."""
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.3)
    monkeypatch.setattr(module, "LOOK_AROUND_SECONDS", 0.01)
    target, middleware = "https://shop.example/target", parts.make(ScopeMiddleware)
    first, second = leased(1), leased(2)
    open_ones = {1: first, 2: second}
    worker = parts.context.run_worker
    worker.slots["shop.example"] = SimpleNamespace(line=SimpleNamespace(open=open_ones))
    awaited(middleware.process_request(a_request(target, meta={TASK: first})))

    async def second_comes() -> None:
        asyncio.get_running_loop().call_later(0.05, ended)
        await middleware.process_request(a_request(target, meta={TASK: second}))

    def ended() -> None:
        del open_ones[1]
        worker.store.has_tasks.add(target)

    with pytest.raises(KnownUrlError):
        awaited(second_comes())
    worker.store.has_tasks.clear()
    awaited(middleware.process_request(a_request(target, meta={TASK: leased(3)})))


def test_media_lie_anywhere(parts: Parts) -> None:
    """They belong to their page, whichever host serves them."""
    asked(parts, "https://cdn.example/1.png", kind="media")


def test_a_redirect_to_a_page_with_a_task_of_its_own_ends_there(parts: Parts) -> None:
    """It is fetched once; the task's own URL is no such page."""
    parts.context.run_worker.store.has_tasks = {ASKED, "https://shop.example/2"}
    asked(parts, ASKED)
    with pytest.raises(KnownUrlError):
        asked(parts, "https://shop.example/2")


def test_a_login_closes_what_lies_behind_it(parts: Parts) -> None:
    """Once it was met, neither it nor the page is asked for again."""
    login = "https://shop.example/login?next=%2F1"
    for _ in range(2):
        with pytest.raises(FilteredError):
            asked(parts, login)
    worker = parts.context.run_worker
    learnt = {"/login", "/1", "/1/**"}
    assert {denial.pattern for denial in worker.run.scope.denials} == set(worker.store.denied) == learnt
    assert len(worker.store.denied) == len(learnt)
    with pytest.raises(FilteredError):
        asked(parts, ASKED)


def test_a_request_of_no_task_is_nobodys_business_here(parts: Parts) -> None:
    """As those of robots.txt."""
    parts.context.run_worker = None
    awaited(parts.make(ScopeMiddleware).process_request(a_request("https://other.example/robots.txt")))
