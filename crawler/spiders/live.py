"""A page as it is now, so that a capture can be compared with it: an ordinary visit that keeps no page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from scrapy import Request, Spider
from scrapy.utils.asyncio import run_in_thread

from crawler.capture.failures import Cause
from crawler.clock import utc_now
from crawler.crawl.answers import cause_of_answer, cause_of_error
from crawler.crawl.context import CrawlContext
from crawler.db import lookup
from crawler.db.models import RegisteredSource, Snapshot
from crawler.errors import CrawlerError, UsageError
from crawler.html.content import NOTHING_IGNORED, ContentQuestion, Ignored
from crawler.reading.readers import ReadingFailedError
from crawler.runs.sources import ignored_by_source
from crawler.spiders.visiting import ANSWERS, refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.config import Settings
    from crawler.db.engine import Database

SNAPSHOT = "snapshot"
MAX_BYTES = 2 * 1024 * 1024


@frozen
class _Wanted:
    """A page, and what of it is no part of its text."""

    url: str
    ignored: Ignored


class LiveSpider(Spider):
    """`scrapy crawl live -a snapshot=ID`: somebody waits for the answer, so it is tried once and soon."""

    name = "live"
    custom_settings = {  # ruff: ignore[mutable-class-default] - Scrapy's declaration
        "CAPTURE_PAGES": False,
        "DOWNLOAD_TIMEOUT": 8,
        "DOWNLOAD_MAXSIZE": MAX_BYTES,
        "REDIRECT_MAX_TIMES": 4,
        "METAREFRESH_ENABLED": False,
        "RETRY_ENABLED": False,
        "DOMAIN_QUEUE_WAIT_SECONDS": 3,
        "DOWNLOAD_DELAY": 0,  # there is one page; what the domain's gate and robots.txt ask for is kept
    }
    snapshot: str

    @classmethod
    def prepared(cls, _settings: Settings, given: Mapping[str, str]) -> dict[str, Any]:
        """What the spider is made with; a mistake in it costs one line, before anything starts."""
        # Scrapyd passes arguments of its own, which begin with an underscore.
        names = {name for name in given if not name.startswith("_")}
        if names != {SNAPSHOT} or not given[SNAPSHOT].isdecimal():
            raise UsageError("it takes -a snapshot=ID, and nothing else", hint="`vitrine search` shows them")
        return dict(given)

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the page."""
        visits = CrawlContext.of(self.crawler).visits
        try:
            stores = await visits.open()
            wanted = await run_in_thread(_wanted, stores.database, visits.settings, self.snapshot)
        except CrawlerError as error:
            raise refusal(visits, error) from error
        yield Request(
            wanted.url,
            callback=self.parse,
            errback=self.failed,
            cb_kwargs={"wanted": wanted},
            meta={"handle_httpstatus_list": ANSWERS},
        )

    async def parse(self, response: Response, wanted: _Wanted) -> None:
        """Tell what the page says, or why it says nothing."""
        kind = (response.headers.get("Content-Type") or b"text/html").decode("latin-1")
        cause = cause_of_answer(response) or (None if "html" in kind.lower() else Cause.NOT_HTML)
        if cause is not None:
            self._tell(cause=cause, url=response.url, status_code=response.status)
            return
        question = ContentQuestion(response.body, response.url, kind, ignored=wanted.ignored)
        try:
            found = await CrawlContext.of(self.crawler).readers.content(question)
        except ReadingFailedError:
            self._tell(cause=Cause.UNREADABLE, url=response.url, status_code=response.status)
            return
        self._tell(
            url=response.url, status_code=response.status, problem=found.problem, title=found.title,
            text=found.text, headings=found.headings, is_cut=found.is_cut,
        )  # fmt: skip

    def failed(self, failure: Failure) -> None:
        """Tell why there is no answer."""
        self._tell(cause=cause_of_error(failure.value or RuntimeError()))

    def _tell(self, **said: Any) -> None:
        CrawlContext.of(self.crawler).visits.tell("live", fetched_at=utc_now().isoformat(), **said)


def _wanted(database: Database, settings: Settings, snapshot: str) -> _Wanted:
    with database.read() as db:
        found = lookup.find(db, Snapshot, snapshot)
        source = db.get(RegisteredSource, found.source_id)
        code = source.code.lower() if source else ""
        url = found.url
    return _Wanted(url, ignored_by_source(settings.sources_file).get(code, NOTHING_IGNORED))
