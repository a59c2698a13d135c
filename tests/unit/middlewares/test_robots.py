"""robots.txt: what it forbids, the delay that it asks for, and a site that cannot say."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest, NotConfigured
from scrapy.http import TextResponse

from crawler.crawl.answers import RobotsDelayedError, RobotsUnavailableError, SessionStoppedError
from crawler.crawl.context import TASK, CrawlContext
from crawler.leases.backoff import Backoff
from crawler.middlewares import robots as module
from crawler.middlewares.robots import RobotsMiddleware
from tests.unit.components import a_request, a_visit, awaited, crawl_parts, lines_of
from tests.unit.runs.queues import leased

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from scrapy import Request

    from crawler.sessions.visit import Visit
    from tests.unit.components import Parts

URL = "https://shop.example/p/1"


class Site:
    """Answers for robots.txt, one after the other; the last one stays."""

    def __init__(self, *answers: tuple[int, bytes] | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.slots: dict[str, Any] = {}
        self.downloader = self  # where Scrapy's engine has its slots

    def _get_slot(self, _request: Request) -> tuple[str, Any]:
        slot = self.slots.setdefault("shop.example", SimpleNamespace(delay=1.0, jitter=0.5))
        return "shop.example", slot

    async def download_async(self, request: Request) -> TextResponse:
        """As Scrapy's engine has it."""
        self.asked += 1
        await asyncio.sleep(0.01)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        return TextResponse(request.url, status=status, body=body, request=request)


def obedient(parts: Parts, site: Site, monkeypatch: pytest.MonkeyPatch) -> RobotsMiddleware:
    """The middleware of a crawl of this site."""
    parts.crawler.engine = site
    monkeypatch.setattr(CrawlContext, "of", lambda _: parts.context)
    return RobotsMiddleware.from_crawler(parts.crawler)


@pytest.fixture
def parts() -> Parts:
    """A crawl that obeys."""
    return crawl_parts(vitrine={"DOMAIN_MAX_DELAY_SECONDS": "20"}, ROBOTSTXT_OBEY=True, USER_AGENT="vitrine")


@pytest.mark.parametrize(
    ("answer", "is_allowed"),
    [
        ((200, b"User-agent: *\nDisallow: /p/"), False),
        ((200, b"User-agent: *\nDisallow: /cart"), True),
        ((200, b"User-agent: *\nDisallow: /p/\nUser-agent: vitrine\nAllow: /"), True),
        ((404, b"not found"), True),
        ((401, b""), True),
        ((500, b"User-agent: *\nAllow: /"), False),
        ((503, b""), False),
    ],
)
def test_what_it_forbids_is_not_fetched(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, bytes], *, is_allowed: bool
) -> None:
    """While a site's server fails all is forbidden (RFC 9309); a site without rules allows all."""
    middleware = obedient(parts, Site(answer), monkeypatch)
    if is_allowed:
        assert awaited(middleware.process_request(a_request(URL))) is None
    else:
        with pytest.raises(IgnoreRequest, match=r"robots\.txt"):
            awaited(middleware.process_request(a_request(URL)))


def test_its_rules_hold_for_all_who_wait_for_them(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spider's first requests are many at once, and its robots.txt comes after them."""
    site = Site((200, b"User-agent: *\nDisallow: /p/"))
    middleware = obedient(parts, site, monkeypatch)
    ends = awaited(_together(middleware.process_request(a_request(f"{URL}{number}")) for number in range(5)))
    assert [str(end) for end in ends] == ["Forbidden by robots.txt"] * 5
    assert awaited(middleware.process_request(a_request("https://shop.example/"))) is None
    assert site.asked == 1


async def _together(requests: Iterable[Coroutine[Any, Any, None]]) -> list[BaseException | None]:
    return await asyncio.gather(*requests, return_exceptions=True)


def test_without_an_answer_nothing_is_fetched_and_the_next_request_asks_again(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page fails as the connection did."""
    site = Site(DownloadTimeoutError("30 s"), (200, b""))
    middleware = obedient(parts, site, monkeypatch)
    with pytest.raises(DownloadTimeoutError):
        awaited(middleware.process_request(a_request(URL)))
    assert awaited(middleware.process_request(a_request(URL))) is None
    assert site.asked == 2


def of_a_task(url: str, visit: Visit) -> Request:
    """A request of a run's task."""
    return a_request(url, visit, meta={TASK: leased(1)})


@pytest.fixture
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN", Backoff(0.02))
    monkeypatch.setattr(module, "LOOK_AROUND_SECONDS", 0.01)


@pytest.mark.usefixtures("_quickly")
@pytest.mark.parametrize("away", [(503, b""), DownloadTimeoutError("30 s")])
def test_a_task_waits_for_rules_that_cannot_be_had(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, away: tuple[int, bytes] | Exception
) -> None:
    """They are asked for again, less and less often; then they hold like any other."""
    visit, site = parts.visits.add(a_visit()), Site(away, away, away, (200, b"User-agent: *\nDisallow: /p/"))
    parts.context.run_worker = SimpleNamespace(slots={})
    middleware = obedient(parts, site, monkeypatch)
    with pytest.raises(IgnoreRequest, match="Forbidden"):
        awaited(middleware.process_request(of_a_task(URL, visit)))
    assert site.asked == 4
    assert awaited(middleware.process_request(of_a_task("https://shop.example/", visit))) is None
    assert site.asked == 4


@pytest.mark.usefixtures("_quickly")
def test_rules_that_stay_away_fail_the_domains_tasks(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the patience, which all of them have together; no word of the site forbids anything."""
    visit, site = parts.visits.add(a_visit()), Site((503, b""))
    parts.context.run_worker = SimpleNamespace(slots={})
    middleware = obedient(parts, site, monkeypatch)
    middleware.patience = 0.1  # type: ignore[assignment]
    for _ in range(9):
        with pytest.raises(RobotsUnavailableError):
            awaited(middleware.process_request(of_a_task(URL, visit)))
    assert site.asked < 9


@pytest.mark.usefixtures("_quickly")
def test_nobody_waits_for_rules_whose_visit_is_over(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task goes back: others wait, or the run was stopped."""
    visit, site = parts.visits.add(a_visit()), Site((503, b""))
    parts.context.run_worker = SimpleNamespace(
        slots={"shop.example": SimpleNamespace(is_leaving=True)}, dispatcher=None
    )
    with pytest.raises(SessionStoppedError):
        awaited(obedient(parts, site, monkeypatch).process_request(of_a_task(URL, visit)))


def test_a_domain_is_given_back_while_its_rules_are_not_asked_for(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for the next try is longer than a domain is held; what was asked for meanwhile goes back."""
    monkeypatch.setattr(module, "AGAIN", Backoff(60.0))
    slot = SimpleNamespace(is_leaving=False, domain="shop.example")
    slot.leave = lambda: setattr(slot, "is_leaving", True)
    passed: dict[str, float] = {}
    dispatcher = SimpleNamespace(pass_by=passed.__setitem__)
    visit, site = parts.visits.add(a_visit()), Site((503, b""))
    parts.context.run_worker = SimpleNamespace(slots={slot.domain: slot}, dispatcher=dispatcher)
    with pytest.raises(RobotsDelayedError):
        awaited(obedient(parts, site, monkeypatch).process_request(of_a_task(URL, visit)))
    assert site.asked == 1
    assert passed == {slot.domain: pytest.approx(60, abs=30)}


def test_rules_are_old_after_a_day(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 9309: a run may take weeks."""
    site = Site((200, b""), (200, b"User-agent: *\nDisallow: /p/"))
    middleware = obedient(parts, site, monkeypatch)
    awaited(middleware.process_request(a_request(URL)))
    middleware._had_at["shop.example"] -= module.MAX_AGE_SECONDS + 1
    with pytest.raises(IgnoreRequest, match="Forbidden"):
        awaited(middleware.process_request(a_request(URL)))
    assert site.asked == 2


@pytest.mark.parametrize(("asked", "kept"), [(b"4", 4.0), (b"3600", 20.0)])
def test_its_delay_is_kept(parts: Parts, monkeypatch: pytest.MonkeyPatch, asked: bytes, kept: float) -> None:
    """Within the operator's bound: between requests here, and by the visit's end everywhere."""
    visit = parts.visits.add(a_visit())
    site = Site((200, b"User-agent: *\nCrawl-delay: " + asked))
    middleware = obedient(parts, site, monkeypatch)
    for _ in range(2):
        site.slots.clear()  # as Scrapy does with one that nobody has used for a minute
        awaited(middleware.process_request(request := a_request(URL, visit)))
        slot = site.slots["shop.example"]
        assert (slot.delay, slot.jitter) == (kept, 0.0)
        assert request.meta["autothrottle_dont_adjust_delay"] is True
    assert visit.crawl_delays == {"shop.example": kept}
    assert lines_of(visit) == [("robots.crawl_delay", {"seconds": kept})]


def test_an_operator_may_switch_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Scrapy's users know it."""
    with pytest.raises(NotConfigured):
        obedient(crawl_parts(ROBOTSTXT_OBEY=False), Site((200, b"")), monkeypatch)
