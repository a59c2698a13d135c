"""No request leaves for a domain that its session does not hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from scrapy import signals
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from crawler.capture.failures import Cause
from crawler.crawl.answers import BadRequestUrlError, DomainHeldError, SessionStoppedError
from crawler.crawl.context import SESSION
from crawler.middlewares.domain_gate import LEAST_DELAY, DomainGateMiddleware
from crawler.spiders.visiting import VisitingSpider
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts

if TYPE_CHECKING:
    from scrapy import Request

    from tests.unit.components import Parts


@pytest.fixture
def parts() -> Parts:
    """A crawl with a gate."""
    return crawl_parts()


def test_a_request_of_a_visit_goes(parts: Parts) -> None:
    """One queue a domain, however its host is spelt."""
    visit = parts.visits.add(a_visit())
    request = a_request("https://www.shop.example:443/p/1", visit)
    assert awaited(parts.make(DomainGateMiddleware).process_request(request)) is None
    assert request.meta["download_slot"] == "shop.example"
    assert parts.visits.admitted == ["shop.example"]


def test_a_further_domain_is_asked_for(parts: Parts) -> None:
    """And where it cannot be had, that request fails."""
    parts.crawler.spidercls = VisitingSpider
    visit = parts.visits.add(a_visit())
    parts.visits.held_elsewhere.add("media.example")
    with pytest.raises(DomainHeldError) as refused:
        awaited(parts.make(DomainGateMiddleware).process_request(a_request("https://media.example/", visit)))
    assert refused.value.cause is Cause.DOMAIN_HELD
    assert visit.stopped is None


def test_nothing_is_asked_for_a_visit_that_is_over(parts: Parts) -> None:
    """Whether it was stopped, or is not here at all."""
    parts.crawler.spidercls = VisitingSpider
    stopped = parts.visits.add(a_visit())
    stopped.stop(Cause.LOCK_LOST)
    gate = parts.make(DomainGateMiddleware)
    for visit in (stopped, a_visit()):
        with pytest.raises(SessionStoppedError):
            awaited(gate.process_request(a_request(visit=visit)))
    assert not parts.visits.admitted


@pytest.mark.parametrize("url", ["ftp://shop.example/", "https://me:geheim@shop.example/", "https://"])
def test_a_url_that_is_never_fetched_is_refused(
    parts: Parts, caplog: pytest.LogCaptureFixture, url: str
) -> None:
    """Before any session is looked for; the log has it in one line, without its password."""
    with pytest.raises(BadRequestUrlError):
        awaited(parts.make(DomainGateMiddleware).process_request(a_request(url)))
    assert not parts.visits.running
    [said] = [record for record in caplog.records if record.getMessage() == "request.refused"]
    assert "geheim" not in str(vars(said))


def test_what_fails_is_told_to_the_session_of_a_spider_that_knows_none(parts: Parts) -> None:
    """What robots.txt forbids, a connection that broke; not what its own middlewares drop, nor our end."""
    visit = parts.visits.add(a_visit())
    gate, request = parts.make(DomainGateMiddleware), a_request(visit=visit)
    for error in (IgnoreRequest("seen already"), SessionStoppedError("over")):
        gate.process_exception(request, error)
    gate.process_exception(request.replace(callback=NO_CALLBACK), OSError("robots.txt"))
    assert visit.kept == {}
    for failure in (IgnoreRequest("Forbidden by robots.txt"), DownloadTimeoutError("slow")):
        gate.process_exception(request, failure)
    assert visit.kept.keys() == {Cause.ROBOTS_REFUSED, Cause.TIMEOUT}
    parts.crawler.spidercls = VisitingSpider
    parts.make(DomainGateMiddleware).process_exception(request, OSError("away"))
    assert Cause.CONNECTION_FAILED not in visit.kept


def test_a_request_of_a_session_that_is_over_joins_one_of_today(parts: Parts) -> None:
    """As one out of a JOBDIR, a redirect, or one whose meta was copied."""
    request = a_request(visit=a_visit())
    awaited(parts.make(DomainGateMiddleware).process_request(request))
    assert list(parts.visits.running) == [request.meta[SESSION]]


def test_a_file_is_an_answer_although_no_callback_has_it(parts: Parts) -> None:
    """A visit for pictures alone is not one of which nothing came; robots.txt is what it begins with."""
    visit = parts.visits.add(a_visit())
    visit.expect()
    gate = parts.make(DomainGateMiddleware)
    robots = a_request(visit=visit, callback=NO_CALLBACK, meta={"dont_obey_robotstxt": True})
    for request, heard in ((robots, False), (a_request(visit=visit, callback=NO_CALLBACK), True)):
        parts.crawler.signals.send_catch_log(
            signal=signals.response_received, request=request, response=an_answer(request), spider=None
        )
        assert (visit.kept == {}) is heard
    assert isinstance(gate, DomainGateMiddleware)  # the signals do not hold it


def test_a_spider_that_knows_no_sessions_gets_one_a_domain(parts: Parts) -> None:
    """It is the same for all requests of the domain."""
    gate = parts.make(DomainGateMiddleware)
    requests = [a_request(f"https://{host}/") for host in ("a.example", "www.a.example", "b.example")]

    async def ask() -> None:
        for request in requests:
            await gate.process_request(request)

    awaited(ask())
    one, same, other = (request.meta[SESSION] for request in requests)
    assert one == same != other
    assert set(parts.visits.running) == {one, other}


def test_a_request_waits_beside_the_engine_for_a_domain_that_is_held(parts: Parts) -> None:
    """It goes back to the scheduler as one that was seen and not asked for; nothing is fetched."""
    parts.visits.held_elsewhere.add("shop.example")
    gate, request = parts.make(DomainGateMiddleware), a_request(visit=a_visit(), priority=7)
    back = awaited(gate.process_request(request))
    assert back is not None
    assert (back.url, back.priority, back.dont_filter, SESSION in back.meta) == (request.url, 7, True, False)
    assert not parts.visits.running


def test_robots_txt_belongs_to_whose_request_caused_it(parts: Parts) -> None:
    """Scrapy asks for it in the task of that request, right behind the gate."""
    held, other = (parts.visits.add(a_visit(domain)) for domain in ("shop.example", "other.example"))
    gate = parts.make(DomainGateMiddleware)
    robots, page = (a_request(f"https://shop.example/{name}") for name in ("robots.txt", "p/1"))
    robots = robots.replace(callback=NO_CALLBACK, meta={"dont_obey_robotstxt": True})

    async def ask() -> None:
        await gate.process_request(a_request("https://other.example/", other))
        await gate.process_request(robots)
        await gate.process_request(page)

    awaited(ask())
    assert robots.meta[SESSION] == other.id
    assert page.meta[SESSION] == held.id


def test_a_visit_knows_how_many_requests_are_at_its_site(parts: Parts) -> None:
    """It does not end before the last of them is back."""
    visit = parts.visits.add(a_visit())
    gate = parts.make(DomainGateMiddleware)
    send = parts.crawler.signals.send_catch_log

    def told(signal: object, request: Request) -> int:
        send(signal=signal, request=request, spider=None)
        return visit.requests.count

    slots = {"shop.example": SimpleNamespace(delay=0), "slow.example": SimpleNamespace(delay=3)}
    parts.crawler.engine.downloader = SimpleNamespace(slots=slots)
    requests = [a_request("https://shop.example/", visit, meta={"download_slot": slot}) for slot in slots]
    assert [told(signals.request_reached_downloader, request) for request in requests] == [1, 2]
    del parts.visits.running[visit.id]  # it is ending
    assert [told(signals.request_left_downloader, request) for request in requests] == [1, 0]
    assert told(signals.request_left_downloader, a_request()) == 0
    # Without any, Scrapy sends all that it has at once.
    assert [slot.delay for slot in slots.values()] == [LEAST_DELAY, 3]
    assert isinstance(gate, DomainGateMiddleware)  # the signals do not hold it
