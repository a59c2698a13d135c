"""A whole site, durably: each page is a task of a run, and nothing is lost, whatever dies (SPEC D)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from attrs import evolve
from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.utils.asyncio import run_in_thread

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import MEDIA, StoredPage
from crawler.catalogue.plugins import PluginRegistry, run_plugins
from crawler.catalogue.plugins.api import plugin_page
from crawler.catalogue.run_pages import RunPage
from crawler.catalogue.run_report import exit_code_of, read_report, write_report
from crawler.crawl.answers import (
    KnownUrlError,
    SessionStoppedError,
    cause_of_error,
    page_of,
    read,
    retry_after,
)
from crawler.crawl.context import SESSION, CrawlContext
from crawler.errors import CrawlerError, ExitCode
from crawler.middlewares.navigation import ATTEMPTS_ALLOWED
from crawler.middlewares.scope import TASK
from crawler.runs.store import task_of
from crawler.runs.task_ends import Outcome, Release, TaskEnd
from crawler.runs.worker import FINISHED
from crawler.spiders.site_arguments import run_order
from crawler.spiders.visiting import ANSWERS, refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.capture.items import FetchedPage
    from crawler.config import Settings
    from crawler.crawl.visits import Visits
    from crawler.pdp import Reading
    from crawler.runs.store import RunOrder
    from crawler.runs.tasks import LeasedTask, NewTask
    from crawler.runs.worker import RunWorker
    from crawler.sessions.visit import Visit

LIKELY_PRODUCT = 1  # added to a task's priority: products first, among pages of one depth
SERVER_ERROR = 500
log = logs.get_logger(__name__)


class SiteSpider(Spider):
    """`scrapy crawl site -a start_url=URL` or `-a source=CODE`; `-a resume=1` goes on with its newest run."""

    name = "site"
    given: Mapping[str, str]  # with `-a`
    order: RunOrder | None  # the same, checked already
    context: CrawlContext
    visits: Visits
    worker: RunWorker
    custom_settings = {  # ruff: ignore[mutable-class-default] - Scrapy's declaration
        "SCHEDULER": "crawler.spiders.scheduler.RunScheduler",
        # Its callback yields what is to be kept.
        "CAPTURE_PAGES": False,
    }

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, order: RunOrder | None = None, **given: Any) -> Self:
        """Scrapy's way to make a spider."""
        spider = super().from_crawler(crawler, *args, **given)
        spider.given, spider.order = given, order
        spider.context = context = CrawlContext.of(crawler)
        spider.visits, spider.worker = context.visits, context.run_worker
        crawler.signals.connect(spider.page_left, signal=signals.item_scraped)
        crawler.signals.connect(spider.page_dropped, signal=signals.item_dropped)
        crawler.signals.connect(spider.page_not_digested, signal=signals.item_error)
        crawler.signals.connect(spider.callback_failed, signal=signals.spider_error)
        crawler.signals.connect(spider.idle, signal=signals.spider_idle)
        return spider

    @classmethod
    def prepared(cls, settings: Settings, given: Mapping[str, str]) -> dict[str, Any]:
        """What the spider is made with; a mistake in it costs one line, before anything starts."""
        order = run_order(given, settings.sources_file)
        if order.source is not None:
            plugin_registry().pick(order.source.plugins)
        return {**given, "order": order}

    async def start(self) -> AsyncIterator[Request]:
        """Open the run; its requests come from the scheduler."""
        try:
            order = self.order or run_order(self.given, self.visits.settings.sources_file)
            run = await self.worker.open(order)
            self.plugins = plugin_registry().pick(run.source.plugins)
        except CrawlerError as error:
            raise refusal(self.visits, error) from error
        self.visits.tell("run", run=run.id, source=run.source.code, resumed=run.resumed)
        no_requests: tuple[Request, ...] = ()
        for request in no_requests:
            yield request

    def request_for(self, visit: Visit, task: LeasedTask) -> Request:
        """The request of a leased task; whatever comes of it, one of its two callbacks hears of it."""
        source = self.worker.run.source
        meta: dict[str, Any] = {
            SESSION: visit.id, TASK: task, "depth": task.depth, "handle_httpstatus_list": ANSWERS,
            ATTEMPTS_ALLOWED: 1,
        }  # fmt: skip
        if source.fetch_timeout_seconds:
            meta["download_timeout"] = source.fetch_timeout_seconds
        return Request(
            task.url, callback=self.parse_page, errback=self.page_failed, dont_filter=True, meta=meta,
            priority=task.priority,
        )  # fmt: skip

    # ── callbacks ──

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Read a page outside of any run, for `scrapy parse` and contracts."""
        policy = self.settings["CRAWL_POLICY_VERSION"]
        page = await read(self.context.readers, response, policy, all_links=True)
        yield {"url": response.url, "links": list(page.reading.links)}

    async def parse_page(self, response: Response) -> AsyncIterator[RunPage]:
        """One page, one item: all that it gave, links included."""
        task: LeasedTask = response.meta[TASK]
        self.worker.arrived(task)
        page = await page_of(
            self.context.readers, response, self.visits.settings.crawl_policy_version, all_links=True
        )
        if isinstance(page, Cause):
            async for failed in self._failed(response, page):
                yield failed
        else:
            yield self._page(response.meta[SESSION], task, page)

    async def page_failed(self, failure: Failure) -> AsyncIterator[RunPage]:
        """Called when a request of a task came to nothing."""
        request: Request = failure.request  # type: ignore[attr-defined]
        task: LeasedTask = request.meta[TASK]
        self.worker.arrived(task)
        error = cast("BaseException", failure.value)
        cause = cause_of_error(error)
        if isinstance(error, KnownUrlError):
            await self.worker.end(task, TaskEnd(outcome=Outcome.REDIRECTED))
        elif isinstance(error, SessionStoppedError) or request.meta[SESSION] not in self.visits.running:
            await self.worker.give_back(task, Release.INTERRUPTED)
        elif cause.traits.is_stores_fault:
            self.worker.store_refused(task, failure.getErrorMessage())
        elif page := await self._end_of(request, cause, failure.getErrorMessage()):
            yield page

    def _page(self, session_id: str, task: LeasedTask, fetched: FetchedPage) -> RunPage:
        reading = fetched.reading
        capture = RunPage.of(
            fetched, session_id, "pdp" if reading.verdict.is_pdp else "page",
            task=task, source=self.worker.run.source.code, links=self._tasks_of(task, reading),
        )  # fmt: skip
        page = plugin_page(capture, depth=task.depth, links=reading.links, media=reading.media)
        assets, failures = run_plugins(self.plugins, page)
        return evolve(capture, assets=assets, plugin_failures=failures)

    def _tasks_of(self, task: LeasedTask, reading: Reading) -> tuple[NewTask, ...]:
        """What the run may follow: the source's rules are applied before a link becomes a task."""
        source, depth = self.worker.run.source, task.depth + 1
        pages: tuple[NewTask, ...] = ()
        if source.depth is None or depth <= source.depth:
            pages = self._pages_of(reading, depth)
        return pages + self._media_of(reading, depth) if "media" in source.plugins else pages

    def _pages_of(self, reading: Reading, depth: int) -> tuple[NewTask, ...]:
        """Links, products first among those of one depth."""
        judge = self.worker.scope.judge
        return tuple(
            task_of(url, depth=depth, priority=LIKELY_PRODUCT * is_product_like - 2 * depth)
            for url, is_product_like in reading.links.items()
            if judge(url) is None
        )

    def _media_of(self, reading: Reading, depth: int) -> tuple[NewTask, ...]:
        """Pictures and the like, wherever they lie; they belong to their page, and come as soon."""
        judge = self.worker.scope.judge
        return tuple(
            task_of(url, depth=depth, priority=-2 * depth, kind=MEDIA)
            for url in reading.media
            if judge(url, kind=MEDIA) is None
        )

    async def _failed(self, response: Response, cause: Cause) -> AsyncIterator[RunPage]:
        words = f"HTTP {response.status}"
        task: LeasedTask = response.meta[TASK]
        if retry_after(response):
            self.worker.leave(task.domain)
        is_for_good = cause is Cause.HTTP_ERROR and response.status < SERVER_ERROR
        if page := await self._end_of(
            cast("Request", response.request), cause, words, response, for_good=is_for_good
        ):
            yield page

    async def _end_of(
        self, request: Request, cause: Cause, error: str, response: Response | None = None,
        *, for_good: bool = False,
    ) -> RunPage | None:  # fmt: skip
        """Have the task tried again; a failed page where that would not help, or was done often enough."""
        task: LeasedTask = request.meta[TASK]
        may_pass = cause.traits.is_transient or (cause is Cause.HTTP_ERROR and not for_good)
        if cause.traits.is_refusal or (may_pass and task.lease.attempts < self.worker.max_attempts):
            await self.worker.end(task, TaskEnd(cause, error))
            return None
        return RunPage(
            session_id=request.meta[SESSION], page_type="page", url=request.url,
            http_status=response.status if response else None, cause=cause, error=error, task=task,
            source=self.worker.run.source.code,
        )  # fmt: skip

    # ── signals: whatever comes of an item or a callback, its task ends ──

    def page_left(self, item: Any, response: Response | Failure | None) -> None:
        """A page is in the book."""
        task = _task_of(response)
        if task is not None and isinstance(item, StoredPage):
            is_ok = item.status == "ok"
            self.worker.stored(task, Outcome.STORED if is_ok else Outcome.FAILED, new_links=is_ok)

    def page_dropped(self, item: Any, response: Response | Failure | None, exception: Exception) -> None:
        """A page was dropped, by the book since its task or session is another's by now, or by a pipeline."""
        self._page_lost(item, response, exception)

    def page_not_digested(self, item: Any, response: Response | Failure | None, failure: Failure) -> None:
        """A pipeline failed at a page; maybe the book itself."""
        self._page_lost(item, response, failure.value)

    def _page_lost(self, item: Any, response: Response | Failure | None, error: BaseException | None) -> None:
        task = _task_of(response)
        if task is None or not isinstance(item, RunPage):
            return
        visit = self.visits.running.get(item.session_id)
        words = str(error) or type(error).__name__
        if visit is None:
            self.worker.soon(task, self.worker.give_back(task, Release.INTERRUPTED))
        elif item.page_id in visit.kept:  # whoever lost it, lost it afterwards
            self.worker.stored(task, Outcome.STORED if item.ok else Outcome.FAILED, new_links=item.ok)
        elif visit.stopped and visit.stopped.cause and visit.stopped.cause.traits.is_stores_fault:
            self.worker.store_refused(task, words)
        else:
            self.worker.soon(task, self.worker.end(task, TaskEnd(Cause.NOT_STORED, words)))

    def callback_failed(self, failure: Failure, response: Response | Failure | None) -> None:
        """An error in the callback is the page's, not the run's."""
        task = _task_of(response)
        if task is not None:
            came = TaskEnd(Cause.CRASHED, failure.getErrorMessage())
            self.worker.soon(task, self.worker.end(task, came))

    def idle(self) -> None:
        """Scrapy has nothing to do: so has the run, or it waits; what it then still has out is lost."""
        if not self.worker.is_open:
            return  # it never began, and has said why
        if self.worker.over is None:
            self.worker.sweep()
            raise DontCloseSpider
        if self.worker.over != FINISHED:
            raise CloseSpider(self.worker.over)

    async def run_closed(self, status: str, _reason: str) -> None:
        """Tell those who listen how the run ended."""
        if status:
            code = await self._report()
            self.visits.tell(
                "run_ended", run=self.worker.run.id, status=status, exit_code=code, **self.worker.done
            )

    async def _report(self) -> ExitCode:
        """Write the run's report; what the crawl exits with."""
        run_id, code = self.worker.run.id, ExitCode.FAILED
        try:
            report = await run_in_thread(read_report, self.visits.stores.database, run_id)
            code = exit_code_of(report)
            await run_in_thread(write_report, report, self.visits.settings.vitrine_home / "reports")
        except Exception:
            log.exception("run.report_not_written", run=run_id)
        return code


def plugin_registry() -> PluginRegistry:
    """The plugins that there are, installed ones too."""
    registry = PluginRegistry()
    registry.load_entrypoints()
    return registry


def _task_of(result: Response | Failure | None) -> LeasedTask | None:
    """The task that an item or an error came of; of an errback's, Scrapy gives the failure instead."""
    origin = getattr(result, "request", None)
    return None if origin is None else origin.meta.get(TASK)
