"""What the site spider may be told, and what it makes of answers: each ends its task in one way."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from attrs import define, field
from scrapy.exceptions import CloseSpider, DontCloseSpider, DropItem
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from crawler.capture.failures import Cause
from crawler.catalogue.run_pages import RunPage
from crawler.crawl.answers import FilteredError, KnownUrlError, SessionStoppedError
from crawler.crawl.context import TASK
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import CrawlerError, UsageError
from crawler.runs.domain_slot import FINISHED, STOPPED, Over
from crawler.runs.sources import Source
from crawler.runs.store import RunAtWork, RunOrder
from crawler.runs.task_ends import Release, TaskEnd, TaskOutcome
from crawler.sessions.outcome import PageResult, Status, outcome_of
from crawler.spiders.site import MOST_PAUSES, SiteSpider, run_order
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts
from tests.unit.runs.queues import DOMAIN, leased

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from scrapy import Request

    from crawler.runs.tasks import LeasedTask
    from crawler.sessions.visit import Visit

URL = "https://shop.example/"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A file with one source."""
    path = tmp_path / "sources.toml"
    path.write_text(f'[sources.shop]\nstart_urls = ["{URL}"]\ndepth = 4\nmax_pages = 50\n', encoding="utf-8")
    return path


def order(sources: Path, **given: str) -> RunOrder:
    """The run that is asked for."""
    return run_order(given, sources)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"start_url": URL}, ("shop.example", None, None)),
        ({"url": URL, "_job": "0af"}, ("shop.example", None, None)),  # as scrapyd adds it
        ({"start_url": URL, "depth": "0", "max_pages": "7"}, ("shop.example", 0, 7)),
        ({"source": "shop"}, ("shop", 4, 50)),
        ({"source": "shop", "max_pages": " 9 ", "depth": ""}, ("shop", 4, 9)),
    ],
)
def test_a_url_or_a_source_is_crawled_within_its_limits(
    sources: Path, given: dict[str, str], expected: tuple[Any, ...]
) -> None:
    """A source's limits may be given anew; a URL has none unless they are given."""
    source = order(sources, **given).source
    assert source
    assert source.start_urls == (URL,)
    assert (source.code, source.depth, source.max_pages) == expected


def test_a_run_is_gone_on_with_by_its_number(sources: Path) -> None:
    """As it is: a source of its own would contradict it."""
    assert order(sources, run_id="12") == RunOrder(run_id=12)
    with pytest.raises(UsageError, match="goes on with a run as it is"):
        order(sources, run_id="12", source="shop")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "there is nothing to crawl"),
        ({"resume": "1"}, "there is nothing to crawl"),
        ({"start_url": URL, "source": "shop"}, "exclude each other"),
        ({"start_url": URL, "url": URL}, "mean the same"),
        ({"start_url": URL, "deep": "3"}, "-a deep=… is unknown"),
        ({"start_url": URL, "render": "auto"}, "-a render=… is not for durable runs"),
        ({"start_url": URL, "resume": "maybe"}, "resume=maybe"),
        ({"start_url": URL, "max_pages": "0"}, "max_pages=0 is no whole number from 1"),
        ({"start_url": URL, "max_pages": "²"}, "max_pages=²"),
        ({"start_url": URL, "depth": "-1"}, "depth=-1 is no whole number from 0"),
        ({"run_id": "1.5"}, "run_id=1.5"),
        ({"start_url": "ftp://shop.example/"}, "ftp"),
        ({"source": "nowhere"}, "has no source 'nowhere'"),
    ],
)
def test_what_is_wrong_is_told(sources: Path, given: dict[str, str], error: str) -> None:
    """Before anything starts."""
    with pytest.raises(CrawlerError, match=error) as refused:
        order(sources, **given)
    assert refused.value.exit_code == 2


@define
class Slot:
    """A domain at work."""

    left: bool = False

    def leave(self) -> None:
        """Remember it."""
        self.left = True


@define
class RunWorker:
    """Remembers what it is told of tasks."""

    told: list[tuple[Any, ...]] = field(factory=list)
    slots: dict[str, Slot] = field(factory=lambda: {DOMAIN: Slot()})
    dispatcher: object | None = None
    over: Over | None = None

    @property
    def run(self) -> RunAtWork:
        """A run of the shop, with two tries."""
        source = Source.of_url(URL)
        return RunAtWork(1, source, resumed=False, scope=source.scope, max_attempts=2, jitter_seconds=0)

    def arrived(self, task: LeasedTask) -> None:
        """The site has answered."""

    async def end_task(self, _task: LeasedTask, came: TaskEnd) -> None:
        """A task's end is written at once."""
        self.told.append(("ended", came))

    def end_soon(self, _task: LeasedTask, came: TaskEnd) -> None:
        """Or later."""
        self.told.append(("ended", came))

    def stored(self, _task: LeasedTask, outcome: TaskOutcome) -> None:
        """Its page is stored."""
        self.told.append(("stored", outcome))

    def store_refused(self, _task: LeasedTask, error: str) -> None:
        """Or not taken."""
        self.told.append(("refused", error))

    def sweep(self) -> None:
        """End what is lost."""
        self.told.append(("swept",))


@define
class Crawl:
    """A spider with its worker, and a request of a task that is out."""

    spider: SiteSpider
    worker: RunWorker
    visit: Visit
    request: Request

    def failed(self, error: Exception) -> list[RunPage]:
        """What comes of a request that failed."""
        failure = a_failure(error)
        failure.request = self.request
        return awaited(all_of(self.spider.page_failed(failure)))

    def answered(self, status: int, **headers: str) -> list[RunPage]:
        """What comes of an answer that is no page."""
        answer = an_answer(self.request, b"gone", status, **headers)
        return awaited(all_of(self.spider.parse_page(answer)))

    def lost(self, error: Exception, **page: Any) -> None:
        """A pipeline loses its page."""
        task = self.request.meta[TASK]
        url = self.request.url
        item = RunPage(session_id=self.visit.id, page_type="page", url=url, task=task, source="shop", **page)
        self.spider.page_lost(item, an_answer(self.request), exception=error)


def a_failure(error: Exception) -> Any:
    """As Scrapy hands it on."""
    return Failure(error)  # type: ignore[no-untyped-call]


async def all_of(pages: AsyncIterator[RunPage]) -> list[RunPage]:
    """What is yielded."""
    return [page async for page in pages]


@pytest.fixture
def crawl() -> Crawl:
    """The task is at its first try of two."""
    parts, worker, visit = crawl_parts(), RunWorker(), a_visit(run_id=1)
    parts.visits.add(visit)
    spider: Any = SiteSpider()
    spider.context, spider.visits, spider.worker = parts.context, parts.visits, worker
    spider.hurried = Counter()
    request = a_request(f"{URL}1", visit, meta={TASK: leased(1)})
    return Crawl(spider, worker, visit, request)


@pytest.mark.parametrize(
    ("came", "ended"),
    [
        (TimeoutError("too slow"), TaskEnd(Cause.CONNECTION_FAILED, "too slow")),
        (503, TaskEnd(Cause.BLOCKED, "HTTP 503")),
        (500, TaskEnd(Cause.HTTP_ERROR, "HTTP 500")),
        (FilteredError("filtered by path rules"), TaskEnd(Cause.FILTERED, "filtered by path rules")),
        (KnownUrlError("redirected"), TaskEnd(outcome=TaskOutcome.REDIRECTED)),
    ],
    ids=str,
)
def test_a_task_without_a_page_ends(crawl: Crawl, came: int | Exception, ended: TaskEnd) -> None:
    """To be tried again where its cause may pass; as refused or redirected where nothing has failed."""
    assert (crawl.answered(came) if isinstance(came, int) else crawl.failed(came)) == []
    [(event, end)] = crawl.worker.told
    assert (event, end.cause, end.error, end.outcome) == ("ended", ended.cause, ended.error, ended.outcome)


@pytest.mark.parametrize(
    ("came", "cause"),
    [(404, Cause.HTTP_ERROR), (302, Cause.BAD_REDIRECT), (204, Cause.ODD_STATUS), (304, Cause.ODD_STATUS),
     (999, Cause.ODD_STATUS), (ValueError("Invalid IPv6 URL"), Cause.BAD_REDIRECT)],
    ids=str,
)  # fmt: skip
def test_what_will_not_pass_is_a_failed_page_at_once(
    crawl: Crawl, came: int | Exception, cause: Cause
) -> None:
    """Whether it comes as an answer, or as Scrapy's refusal of one."""
    if isinstance(came, Exception):
        pages = crawl.failed(came)
    else:
        pages = crawl.answered(came)
        pages += crawl.failed(HttpError(an_answer(crawl.request, b"", came), "Ignoring non-200 response"))
        assert {page.http_status for page in pages} == {came}
    assert {page.cause for page in pages} == {cause}
    assert crawl.worker.told == []


def test_the_last_attempt_leaves_a_failed_page(crawl: Crawl) -> None:
    """With its cause, its error and its status."""
    crawl.request.meta[TASK] = leased(1, attempts=2)
    [page] = crawl.answered(503)
    assert (page.cause, page.error, page.http_status) == (Cause.BLOCKED, "HTTP 503", 503)
    assert crawl.worker.told == []


@pytest.mark.parametrize(
    ("is_kept", "came", "status"),
    [(False, TimeoutError("too slow"), Status.FAILED), (True, TimeoutError("too slow"), Status.COMPLETED),
     (False, KnownUrlError("redirected"), Status.COMPLETED)],
)  # fmt: skip
def test_a_visit_without_a_page_has_failed(
    crawl: Crawl, came: Exception, status: Status, *, is_kept: bool
) -> None:
    """Although its tasks are tried again; not where they were not to be fetched, or beside a page."""
    if is_kept:
        crawl.visit.kept[uuid4()] = PageResult("page")
    crawl.failed(came)
    assert outcome_of(crawl.visit.results).status == status


def test_a_visit_that_ended_takes_nothing_from_its_tasks(crawl: Crawl) -> None:
    """They go back, whatever the request's own error says."""
    back = ("ended", TaskEnd.given_back(Release.INTERRUPTED))
    crawl.failed(SessionStoppedError("its session ended"))
    crawl.spider.visits.running.clear()
    crawl.failed(TimeoutError("too slow"))
    crawl.lost(DropItem("not stored: the session is another's"))
    assert crawl.worker.told == [back, back, back]


def test_a_store_that_refuses_is_never_the_pages_fault(crawl: Crawl) -> None:
    """Neither before the request, nor when its page is to be kept."""
    crawl.failed(DatabaseUnavailableError("the database does not answer"))
    crawl.visit.stop(Cause.DISK_FULL)
    crawl.lost(OSError("no space left"))
    assert crawl.worker.told == [("refused", "the database does not answer"), ("refused", "no space left")]


def test_what_a_pipeline_loses_is_not_stored(crawl: Crawl) -> None:
    """Unless it was stored before."""
    crawl.lost(DropItem("not to my taste"))
    key = uuid4()
    crawl.visit.kept[key] = PageResult("page")
    crawl.lost(DropItem("too late"), page_id=key)
    assert crawl.worker.told == [
        ("ended", TaskEnd(Cause.NOT_STORED, "not to my taste")), ("stored", TaskOutcome.STORED),
    ]  # fmt: skip


def test_a_callback_that_fails_is_the_pages_fault(crawl: Crawl) -> None:
    """And no other's."""
    crawl.spider.callback_failed(a_failure(RuntimeError("odd")), an_answer(crawl.request))
    assert crawl.worker.told == [("ended", TaskEnd(Cause.CRASHED, "odd"))]
    crawl.spider.callback_failed(a_failure(RuntimeError("odd")), None)
    assert len(crawl.worker.told) == 1


def test_a_site_that_asks_for_a_pause_is_left(crawl: Crawl) -> None:
    """Whoever takes the domain next waits it out."""
    crawl.answered(503)
    assert not crawl.worker.slots[DOMAIN].left
    crawl.answered(429, Retry_After="20")
    assert crawl.worker.slots[DOMAIN].left


def test_a_site_that_only_says_that_it_is_too_much_is_left_for_longer_each_time(crawl: Crawl) -> None:
    """A page may be tried once after each pause; after the last one it has no more attempts than others."""
    visits: Any = crawl.spider.visits
    asked = visits.delays
    for times in range(1, MOST_PAUSES + 1):
        crawl.worker.slots[DOMAIN].left = False
        crawl.request.meta[TASK] = leased(1, attempts=times)
        assert crawl.answered(429) == []
        assert crawl.worker.slots[DOMAIN].left
        assert crawl.worker.told[-1][1].attempts_allowed == MOST_PAUSES + 1
    assert asked == [(DOMAIN, seconds, "429") for seconds in (10, 20, 40, 80, 160)]
    crawl.request.meta[TASK] = leased(1, attempts=MOST_PAUSES + 1)
    [page] = crawl.answered(429)
    assert (page.cause, page.error) == (Cause.RATE_LIMITED, "HTTP 429")
    assert len(asked) == MOST_PAUSES


def test_an_idle_crawl_ends_with_its_run(crawl: Crawl) -> None:
    """Before that, what was lost on the way is ended; a run that never began has said why."""
    crawl.spider.idle()
    crawl.worker.dispatcher = object()
    with pytest.raises(DontCloseSpider):
        crawl.spider.idle()
    assert crawl.worker.told == [("swept",)]
    crawl.worker.over = FINISHED
    crawl.spider.idle()
    crawl.worker.over = STOPPED
    with pytest.raises(CloseSpider) as closed:
        crawl.spider.idle()
    assert closed.value.reason == "run_stopped"
