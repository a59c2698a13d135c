"""Writes down what was sent and received, into WARC files, as it went over the wire.

It stands innermost: the last to see a request, the first to see an answer, its body packed as it came.
What was not let out to the site, such as a saved or cached page, passes by.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING
from uuid import UUID
from weakref import WeakKeyDictionary

from attrs import define, field
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler import logs
from crawler.clock import utc_now
from crawler.crawl.answers import BrokenOffError, NoStoreError, cause_of_error
from crawler.crawl.closing import end_crawl
from crawler.crawl.context import EXCHANGES, RECORD, SESSION, VIEWPORT, Component
from crawler.errors import CrawlerError
from crawler.middlewares.egress import LOST, TOO_LARGE, TOO_SLOW
from crawler.warc.messages import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from scrapy import Request
    from scrapy.http import Headers as ScrapyHeaders
    from scrapy.http import Response

    from crawler.evidence.warc_shelf import Order, WarcShelf
    from crawler.warc.messages import Headers, Resource
    from crawler.warc.records import Shelved

MOST_WAITING_BYTES = 64 * 1024 * 1024  # of answers that the disk has not taken; then no request goes out
# That an answer waits for others: to wake a thread for each of them costs more than to write it.
GROWS_SECONDS = 0.01
_SECRET = {b"proxy-authorization"}  # it is the proxy's, and no part of what was sent to the site
_TRUNCATED = {LOST: "disconnect", TOO_SLOW: "time", TOO_LARGE: "length", "download_stopped": "length"}

log = logs.get_logger(__name__)


class RecorderMiddleware(Component):
    """On where WARC_DIR or PAGE_STORE=warc is set, or sessions of the spider may want a WARC."""

    def set_up(self) -> None:
        """Be there only where something is to be written."""
        if not (self.context.settings.is_recording or self.context.records_sessions):
            raise NotConfigured
        # What was let out, and when its answer began; None as long as it did not.
        self._out: WeakKeyDictionary[Request, datetime | None] = WeakKeyDictionary()
        self._groups: dict[WarcShelf, _Group] = {}
        self._waiting_bytes = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self.crawler.signals.connect(self.answer_began, signal=signals.headers_received)

    def answer_began(self, request: Request) -> None:
        """The site has begun to answer."""
        if request in self._out:
            self._out[request] = utc_now()

    async def process_request(self, request: Request) -> None:
        """Let a request out once the disk has taken enough of what came before."""
        request.meta.pop(RECORD, None)
        await self._has_room.wait()
        is_plain = VIEWPORT not in request.meta  # what a browser made of a page is not what was sent
        if is_plain and self.context.is_recorded(request.meta.get(SESSION) or ""):
            self._out[request] = None

    async def process_response(self, request: Request, response: Response) -> Response:
        """Write an answer down before anybody makes anything of it; what cannot be written is an error."""
        if VIEWPORT in request.meta:
            await self._record_rendered(request)
        if request not in self._out:
            request.meta.pop(RECORD, None)
            return response
        request.meta[RECORD] = await self._record(request, response)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """Write down what came of an answer that broke off; for everybody else it is the error that it is."""
        if request in self._out and isinstance(exception, BrokenOffError):
            with suppress(CrawlerError, NoStoreError):  # it has ended the crawl
                await self._record(request, exception.response)

    async def _record_rendered(self, request: Request) -> None:
        """Write down what a browser says that the page and all that it loaded were."""
        for exchange in request.meta.pop(EXCHANGES, ()):
            await self._keep(exchange, request)

    async def _record(self, request: Request, response: Response) -> Shelved:
        return await self._keep(exchange_of(request, response, self._out.pop(request) or utc_now()), request)

    async def _keep(self, exchange: Exchange | Resource, request: Request) -> Shelved:
        size = len(exchange.body)
        self._take(size)
        try:
            shelved = await self._write(exchange, request.meta.get(SESSION))
        except CrawlerError as error:
            if self._fail_run(error):
                raise
            self._end_crawl(error, request.meta.get(SESSION))
            # Of any other error Scrapy has a line for each request that is under way.
            raise NoStoreError(str(error)) from error
        finally:
            self._take(-size)
        self.crawler.stats.inc_value("vitrine/warc/records")
        return shelved

    async def _write(self, exchange: Exchange | Resource, session: str | None) -> Shelved:
        stores = await self.visits.open()
        key = UUID(session) if session else None
        shelves = [stores.shelf] if stores.shelf else []
        if session and self.context.has_own_warc(session):
            shelves.insert(0, stores.open_spool())
        groups = [self._groups.setdefault(shelf, _Group(shelf)) for shelf in shelves]
        written = [group.write(exchange, key) for group in groups]
        if len(written) > 1:
            await asyncio.gather(*written)
        return await written[-1]

    def _take(self, size: int) -> None:
        self._waiting_bytes += size
        if self._waiting_bytes < MOST_WAITING_BYTES:
            self._has_room.set()
        else:
            self._has_room.clear()

    def _fail_run(self, error: CrawlerError) -> bool:
        """End the run of the crawl, which was to be recorded; False where there is none."""
        is_run = self.context.fail_run(str(error))
        if is_run:
            log.error("warc.not_written", code=error.code, error=str(error), hint=error.hint)
        return is_run

    def _end_crawl(self, error: CrawlerError, session: str | None) -> None:
        """End a crawl that was to be recorded."""
        if session is not None:
            self.visits.stop(session, cause_of_error(error), error=str(error))
        end_crawl(self.crawler, self.visits, error)


@define(eq=False)
class _Group:
    """What is to be written next, all of it at once."""

    shelf: WarcShelf
    _waiting: list[tuple[Order, asyncio.Future[Shelved]]] = field(factory=list)

    def write(self, exchange: Exchange | Resource, session_id: UUID | None) -> asyncio.Future[Shelved]:
        """Have an answer written with those that come in the same moment."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[Shelved] = loop.create_future()
        self._waiting.append(((exchange, session_id), written))
        if len(self._waiting) == 1:
            loop.call_later(GROWS_SECONDS, self._hand_on)
        return written

    def _hand_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        orders, futures = zip(*waiting, strict=True)
        try:
            written = asyncio.wrap_future(self.shelf.append(orders))
        except RuntimeError as error:  # it is closed
            _answer(futures, [error] * len(futures))
        else:
            written.add_done_callback(lambda done: _answer(futures, done.result()))


def _answer(futures: Iterable[asyncio.Future[Shelved]], results: Iterable[Shelved | Exception]) -> None:
    for written, result in zip(futures, results, strict=True):
        if written.done():  # whoever waited was cancelled
            continue
        if isinstance(result, Exception):
            written.set_exception(result)
        else:
            written.set_result(result)


def exchange_of(request: Request, response: Response, began: datetime) -> Exchange:
    """What was asked and answered, as Scrapy shows it: without reason phrase, and the case of headers."""
    protocol = (response.protocol or "HTTP/1.1").encode()
    try:
        reason = HTTPStatus(response.status).phrase.encode()
    except ValueError:
        reason = b""
    truncated = next((_TRUNCATED[flag] for flag in response.flags if flag in _TRUNCATED), None)
    return Exchange(
        url=request.url,
        captured_at=began,
        method=request.method.encode(),
        request_headers=tuple(each for each in _flat(request.headers) if each[0].lower() not in _SECRET),
        protocol=protocol,
        status=response.status,
        reason=reason,
        headers=_flat(response.headers),
        body=response.body,
        request_body=request.body,
        ip_address=str(response.ip_address) if response.ip_address else None,
        truncated=truncated,
    )


def _flat(headers: ScrapyHeaders) -> Headers:
    return tuple((name, value) for name, values in headers.items() for value in values or ())
