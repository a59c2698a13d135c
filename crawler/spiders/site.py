"""A whole site, durably: each page is a task of a run, and nothing is lost, whatever dies (SPEC D)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from attrs import evolve
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import page_fields
from crawler.catalogue.plugins import installed
from crawler.catalogue.plugins.api import plugin_page
from crawler.catalogue.plugins.runner import PluginRunner
from crawler.catalogue.run_pages import RunPage
from crawler.crawl.answers import (
    KnownUrlError,
    SessionStoppedError,
    cause_of_error,
    page_of,
    read,
    retry_after,
    status_of,
)
from crawler.crawl.context import RECORD, SESSION, TASK, CrawlContext
from crawler.errors import CrawlerError, UsageError
from crawler.html.stylesheets import style_references
from crawler.leases.backoff import Backoff
from crawler.pdp import UNJUDGED
from crawler.pdp.links import MAX_LINKS
from crawler.runs.domain_slot import FINISHED
from crawler.runs.known_links import Leads
from crawler.runs.sources import Source, find_source
from crawler.runs.store import RunOrder
from crawler.runs.task_ends import Release, TaskEnd, TaskOutcome
from crawler.runs.tasks import found_on, goes_on, media_tasks
from crawler.sessions.rows import CHOICES
from crawler.spiders.orders import with_start
from crawler.spiders.visiting import SessionSpider, refusal
from crawler.urls import require_http_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.capture.items import FetchedPage
    from crawler.config import Settings
    from crawler.crawl.visits import Visits
    from crawler.runs.tasks import LeasedTask
    from crawler.runs.worker import RunWorker
    from crawler.warc.records import Shelved

SERVER_ERROR = 500
STYLESHEET = "text/css"
PAUSE = Backoff(10.0)
# Five minutes in all. A page is requested once before each pause and once after the last, however few
# attempts others have: a site that limits its rate for a minute costs no page.
MOST_PAUSES = 5
KNOWN = ("start_url", "source", "plan", "max_pages", "depth", "resume", "run_id", "retry_errors")
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}
log = logs.get_logger(__name__)


class SiteSpider(SessionSpider):
    """`scrapy crawl site -a start_url=URL` or `-a source=CODE`; `-a resume=1` goes on with its newest run."""

    name = "site"
    given: Mapping[str, str]  # with `-a`
    order: RunOrder | None  # the same, checked already
    context: CrawlContext
    visits: Visits
    worker: RunWorker
    plugins: PluginRunner  # once the run is open
    hurried: Counter[str]  # answers in a row with which a domain asked to be left alone, and not for how long
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
        spider.hurried = Counter()
        crawler.signals.connect(spider.page_left, signal=signals.item_scraped)
        crawler.signals.connect(spider.page_lost, signal=signals.item_dropped)
        crawler.signals.connect(spider.page_lost, signal=signals.item_error)
        crawler.signals.connect(spider.callback_failed, signal=signals.spider_error)
        crawler.signals.connect(spider.idle, signal=signals.spider_idle)
        crawler.signals.connect(spider.end_plugins, signal=signals.spider_closed)
        return spider

    @classmethod
    def prepared(cls, settings: Settings, given: Mapping[str, str]) -> dict[str, Any]:
        """What the spider is made with; a mistake in it costs one line, before anything starts."""
        order = run_order(given, settings.sources_file)
        if order.source is not None:
            installed(order.source.plugins)
        return {**given, "order": order}

    async def start(self) -> AsyncIterator[Request]:
        """Open the run; its requests come from the scheduler."""
        try:
            order = self.order or run_order(self.given, self.context.settings.sources_file)
            run = await self.worker.open(order)
            self.plugins = PluginRunner(run.source.plugins, self.context.settings.plugin_timeout_seconds)
        except CrawlerError as error:
            raise refusal(self.visits, error) from error
        self.visits.tell("run", run=run.id, source=run.source.code, resumed=run.resumed)
        no_requests: tuple[Request, ...] = ()
        for request in no_requests:
            yield request

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
        settings = self.context.settings
        policy = settings.crawl_policy_version if settings.judge_pages else UNJUDGED
        page = await page_of(self.context.readers, response, policy, all_links=True)
        if not isinstance(page, Cause):
            record = response.meta.get(RECORD) if settings.pages_in_warcs else None
            yield await self._page(response.meta[SESSION], task, page, record)
            return
        request = cast("Request", response.request)
        self._note_lack(request, page)
        asked, attempts = retry_after(response), 0
        if asked and (slot := self.worker.slots.get(task.domain)):
            slot.leave()  # what the site asked for is waited out before somebody comes again
        if page is Cause.RATE_LIMITED and not asked and await self._slow_down(task.domain):
            attempts = MOST_PAUSES + 1
        came = TaskEnd(
            page, f"HTTP {response.status}", http_status=response.status, attempts_allowed=attempts
        )
        if failed := await self._failed(request, came):
            yield failed

    async def page_failed(self, failure: Failure) -> AsyncIterator[RunPage]:
        """Called when a request of a task came to nothing."""
        request: Request = failure.request  # type: ignore[attr-defined]
        task: LeasedTask = request.meta[TASK]
        self.worker.arrived(task)
        error, words = cast("BaseException", failure.value), failure.getErrorMessage()
        cause = cause_of_error(error)
        if isinstance(error, KnownUrlError):
            self._note_lack(request, None)  # somebody else has the page
            await self.worker.end_task(task, TaskEnd(outcome=TaskOutcome.REDIRECTED))
        elif isinstance(error, SessionStoppedError) or request.meta[SESSION] not in self.visits.running:
            reason = self.worker.over.release if self.worker.over else Release.INTERRUPTED
            if cause is Cause.ROBOTS_UNAVAILABLE:
                self._note_lack(request, cause)
            await self.worker.end_task(task, TaskEnd.given_back(reason))
        elif cause.traits.is_stores_fault:
            self.worker.store_refused(task, words)
        else:
            self._note_lack(request, cause)
            came = TaskEnd(cause, words, http_status=status_of(error))
            if page := await self._failed(request, came):
                yield page

    def _note_lack(self, request: Request, cause: Cause | None) -> None:
        """Have its visit know: one that had nothing did not go well, whatever becomes of its tasks."""
        if visit := self.visits.running.get(request.meta[SESSION]):
            visit.lacks(cause)

    async def _slow_down(self, domain: str) -> bool:
        """Pause a site that limits its rate, longer each time; False where it had all its pauses."""
        times = self.hurried[domain] = self.hurried[domain] + 1
        if times > MOST_PAUSES:
            return False
        await self.visits.ask_delay(domain, PAUSE.delay(times), "429")
        if slot := self.worker.slots.get(domain):
            slot.leave()
        return True

    async def _page(
        self, session_id: str, task: LeasedTask, fetched: FetchedPage, record: Shelved | None
    ) -> RunPage:
        reading, run, depth = fetched.reading, self.worker.run, task.depth + 1
        links = found_on(reading, run, depth)
        if run.source.requisites and fetched.content_type.lower().startswith(STYLESHEET):
            named = style_references(fetched.body.decode("utf-8", "replace"), fetched.url)
            links = media_tasks(named, run.scope, task.depth)
        decided = tuple(reading.links) if goes_on(run.source, depth) else ()
        run.links.expect(task.lease.id, Leads(decided, frozenset(link.domain for link in links)))
        capture = RunPage.of(
            fetched, session_id, "pdp" if reading.verdict.is_pdp else "page", task=task,
            source=run.source.code, links=links, record=record,
            has_more_links=len(reading.links) >= MAX_LINKS,
        )  # fmt: skip
        if reading.is_html and not reading.is_judged:
            return capture
        page = plugin_page(
            capture, title=reading.title, depth=task.depth, links=reading.links, media=reading.media
        )
        assets, failures = await self.plugins.run(page)
        return evolve(capture, assets=assets, plugin_failures=failures)

    async def _failed(self, request: Request, came: TaskEnd) -> RunPage | None:
        """Have the task tried again; a failed page where that would not help, or was done often enough."""
        task: LeasedTask = request.meta[TASK]
        cause, status = came.cause, came.http_status
        assert cause is not None  # ruff: ignore[assert] - see its callers
        may_pass = cause.traits.is_transient or (cause is Cause.HTTP_ERROR and (status or 0) >= SERVER_ERROR)
        allowed = max(self.worker.run.max_attempts, came.attempts_allowed)
        if cause.traits.is_refusal or (may_pass and task.lease.attempts < allowed):
            await self.worker.end_task(task, came)
            return None
        return RunPage(
            session_id=request.meta[SESSION], page_type="page", url=request.url, http_status=status,
            cause=cause, error=came.error, task=task, source=self.worker.run.source.code,
        )  # fmt: skip

    # ── signals: whatever comes of an item or a callback, its task ends ──

    def page_left(self, item: Any, response: Response | Failure | None) -> None:
        """A page is stored."""
        task = _task_of(response)
        page = page_fields(item)
        if task is not None and page is not None:
            self.hurried.pop(task.domain, None)
            is_ok = page.get("status") == "ok"
            self.worker.stored(task, TaskOutcome.STORED if is_ok else TaskOutcome.FAILED)

    def page_lost(
        self,
        item: Any,
        response: Response | Failure | None,
        exception: BaseException | None = None,
        failure: Failure | None = None,
    ) -> None:
        """A page was dropped, or something failed at it: a pipeline, or the store itself.

        The store drops it where its task or session is another's by now.
        """
        task = _task_of(response)
        if task is None or not isinstance(item, RunPage):
            return
        error = failure.value if failure is not None else exception
        words = str(error) or type(error).__name__
        visit = self.visits.running.get(item.session_id)
        if visit is None:
            self.worker.end_soon(task, TaskEnd.given_back(Release.INTERRUPTED))
        elif item.page_id in visit.kept:  # whoever lost it, lost it afterwards
            self.worker.stored(task, TaskOutcome.STORED if item.cause is None else TaskOutcome.FAILED)
        elif visit.stopped and visit.stopped.cause and visit.stopped.cause.traits.is_stores_fault:
            self.worker.store_refused(task, words)
        else:
            self.worker.end_soon(task, TaskEnd(Cause.NOT_STORED, words))

    async def end_plugins(self) -> None:
        """End the process in which plugins run."""
        if hasattr(self, "plugins"):  # else no run was opened
            await self.plugins.close()

    def callback_failed(self, failure: Failure, response: Response | Failure | None) -> None:
        """An error in the callback is the page's, not the run's."""
        task = _task_of(response)
        if task is not None:
            self.worker.end_soon(task, TaskEnd(Cause.CRASHED, failure.getErrorMessage()))

    def idle(self) -> None:
        """Scrapy has nothing to do: so has the run, or it waits; what it then still has out is lost."""
        if self.worker.dispatcher is None:
            return  # it never began, and has said why
        if self.worker.over is None:
            self.worker.sweep()
            raise DontCloseSpider
        if self.worker.over != FINISHED:
            raise CloseSpider(self.worker.over.why)


def _task_of(result: Response | Failure | None) -> LeasedTask | None:
    """The task that an item or an error came of; of an errback's, Scrapy gives the failure instead."""
    origin = getattr(result, "request", None)
    return None if origin is None else origin.meta.get(TASK)


# ── what `-a` may say ──


def run_order(given: Mapping[str, str], sources_file: Path) -> RunOrder:
    """The run that is asked for, or what is wrong with the asking."""
    given = with_start(given, "start_url", "url")
    # Scrapyd passes arguments of its own, which begin with an underscore.
    unknown = sorted(name for name in given if name not in KNOWN and not name.startswith("_"))
    if unknown:
        raise _unknown(unknown[0])
    named = [name for name in ("start_url", "source", "plan") if given.get(name)]
    if len(named) > 1:
        raise UsageError(f"-a {named[0]}=… and -a {named[1]}=… exclude each other")
    run_id = _number(given, "run_id")
    source = _source(given, sources_file)
    if source is None and run_id is None:
        raise UsageError("there is nothing to crawl", hint="give -a start_url=https://… or -a source=CODE")
    if source is not None and run_id is not None:
        raise UsageError("-a run_id=… goes on with a run as it is", hint="leave start_url and source out")
    order = RunOrder(
        source, resume=_flag(given, "resume"), run_id=run_id, retry_errors=_flag(given, "retry_errors")
    )
    if order.retry_errors and run_id is None:
        raise UsageError("-a retry_errors=1 is about a run that there is", hint="name it with -a run_id=…")
    return order


def _unknown(name: str) -> UsageError:
    if name not in CHOICES:  # what sessions of product pages take, and runs do not
        return UsageError(f"-a {name}=… is unknown", hint="it takes " + ", ".join(KNOWN))
    return UsageError(
        f"-a {name}=… is not for durable runs, whose pages are fetched without a browser",
        hint=f"`scrapy crawl pdp -a url=URL -a {name}=…` makes a session of it",
    )


def _source(given: Mapping[str, str], sources_file: Path) -> Source | None:
    max_pages, depth = _number(given, "max_pages"), _number(given, "depth", least=0)
    if url := given.get("start_url"):
        return Source.of_url(require_http_url(url), max_pages=max_pages, depth=depth)
    if plan := given.get("plan"):
        source = _planned(plan)
    elif code := given.get("source"):
        source = find_source(sources_file, code)
    else:
        return None
    return evolve(
        source,
        max_pages=source.max_pages if max_pages is None else max_pages,
        depth=source.depth if depth is None else depth,
    )


def _planned(path: str) -> Source:
    """The source that a file has as JSON, as a job keeps it."""
    try:
        return Source.of_plan(json.loads(Path(path).read_bytes()))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"-a plan={path} is no plan of a source: {error}") from None


def _number(given: Mapping[str, str], name: str, least: int = 1) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text) >= least):
        raise UsageError(f"-a {name}={text} is no whole number from {least}")
    return int(text)


def _flag(given: Mapping[str, str], name: str) -> bool:
    word = given.get(name, "").strip().lower()
    if word not in TRUE | FALSE:
        raise UsageError(f"-a {name}={word} is unknown", hint=f"{name} takes 1 or 0")
    return word in TRUE
