"""No connection to an address that the egress policy refuses, by whatever name, redirect or DNS answer.

The check sits in the resolver, which hands out the very addresses that are then connected to (literal
addresses pass it as well), so that no second answer can come between check and use. The handler puts
the resolver in place for every crawl, and tells a refused host from an unknown one.

From top to bottom: the resolver; what bounds an answer's headers; what keeps the part that came of an answer
without an end; and the download handler that has all three.
"""

from __future__ import annotations

from asyncio import Semaphore
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

# Scrapy offers no other place to read an answer's headers in, nor one that knows both its head and its error.
# ruff: file-ignore[import-private-name] - see above
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _ResponseReader,
    _ScrapyAgent,
)
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.resolver import CachingHostnameResolver
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.protocol import connectionDone

from crawler.access.egress import EgressPolicy, EgressRefusedError, host_name
from crawler.crawl.answers import (
    MAYBE_TRUNCATED,
    HeadersTooLargeError,
    LargeAnswerError,
    PartialAnswerError,
    SessionStoppedError,
    SlowAnswerError,
)
from crawler.crawl.closing import drops_its_queue
from crawler.crawl.context import SESSION, TASK, CrawlContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.internet.base import ReactorBase
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IHostResolution
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.client import Response as TxResponse
    from twisted.web.iweb import IResponse

__all__ = ["EgressRefusedError", "GuardedHandler", "GuardedResolver"]
REMEMBERED_REFUSALS = 1000
MAX_HEADER_BYTES = 256 * 1024  # browsers and servers stop at a fraction of it
MAX_HEADER_LINES = 500
LOST, TOO_SLOW, TOO_LARGE = "dataloss", "too_slow", "too_large"  # flags of answers; the first is Scrapy's
ENDS_BY_CLOSE = "partial"  # Scrapy's flag of an answer that announced no length
FAIL_ON_LOSS = "download_fail_on_dataloss"  # Scrapy's key
# ruff: file-ignore[invalid-function-name, invalid-argument-name, unused-method-argument] - Twisted's names
# ruff: file-ignore[private-member-access] - of Scrapy's reader and handler, which have no words for it


class GuardedResolver(CachingHostnameResolver):
    """Resolves names as Scrapy does, IPv4 and IPv6, and gives no answer where one of the addresses is bad."""

    def __init__(self, reactor: ReactorBase, cache_size: int, policy: EgressPolicy) -> None:
        super().__init__(reactor, cache_size)
        self.policy = policy
        self.refusals: LocalCache[str, str | None] = LocalCache(REMEMBERED_REFUSALS)

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Scrapy's way to make a resolver; the last one made is the reactor's."""
        cached = crawler.settings.getbool("DNSCACHE_ENABLED")
        size = crawler.settings.getint("DNSCACHE_SIZE") if cached else 0
        return cls(reactor, size, _policy(crawler.settings))

    def resolveHostName(
        self, resolutionReceiver: Any, hostName: str, *args: Any, **kwargs: Any
    ) -> IHostResolution:
        """Resolve, and let the answers through if all of them are good."""
        guard: Any = _Guard(self, resolutionReceiver, hostName)
        return super().resolveHostName(guard, hostName, *args, **kwargs)

    def judge(self, host: str, addresses: Sequence[str]) -> bool:
        """Whether `host` may be connected to; the reason against it is remembered."""
        reason = self.policy.refusal(host, addresses)
        self.refusals[host_name(host)] = reason
        return reason is None


class _Guard:
    """An IResolutionReceiver that holds answers back until all are there; passes on all or none."""

    def __init__(self, resolver: GuardedResolver, receiver: Any, host: str) -> None:
        self._resolver = resolver
        self._receiver = receiver
        self._host = host
        self._answers: list[Any] = []

    def resolutionBegan(self, resolution: Any) -> None:
        """Pass it on."""
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:
        """Hold it back."""
        self._answers.append(address)

    def resolutionComplete(self) -> None:
        """Judge the whole answer."""
        if self._resolver.judge(self._host, [address.host for address in self._answers]):
            for address in self._answers:
                self._receiver.addressResolved(address)
        self._receiver.resolutionComplete()


# ── an answer's headers ──


class _BoundedParser(_LenientHTTPClientParser):
    """Bounds an answer's headers: sent without end, they cost neither memory nor others' time.

    It counts what comes before the body; folded lines and those without a colon count as well.
    """

    response: Any = None  # until the status line was received
    header_bytes = 0
    header_lines = 0

    def lineReceived(self, line: bytes) -> None:
        """Give up before the line is kept, so that what was counted is all that is held."""
        self.header_lines += 1
        self.header_bytes += len(line)
        if self.header_lines > MAX_HEADER_LINES or self.header_bytes > MAX_HEADER_BYTES:
            raise HeadersTooLargeError(
                f"more than {MAX_HEADER_LINES} header lines or {MAX_HEADER_BYTES} bytes of them"
            )
        super().lineReceived(line)

    def connectionLost(self, reason: Any = connectionDone) -> None:
        """Note how the connection ended, which may be all that tells where the body ends."""
        if self.response is not None:
            self.response.closed_by = reason
        super().connectionLost(reason)

    def lineLengthExceeded(self, line: bytes) -> Any:
        """A single line without end is the same."""
        raise HeadersTooLargeError(f"a header line of more than {self.MAX_LENGTH} bytes")


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    def request(self, request: TxRequest) -> Deferred[IResponse]:
        """Send a request; its answer is read by the parser above, which Twisted offers no way to name."""
        answered = super().request(request)
        self._parser.__class__ = _BoundedParser
        return answered


class BoundedClientFactory(_LenientHTTP11ClientFactory):
    """Makes the connections of the download handler's pool."""

    def buildProtocol(self, addr: Any) -> _BoundedProtocol:
        """A connection whose answers' headers are bounded."""
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def too_large(error: BaseException) -> HeadersTooLargeError | None:
    """The refusal that a failed download was, if it was one; Twisted wraps it in reasons."""
    cause = error.__cause__
    for reason in getattr(cause, "reasons", ()):
        if isinstance(reason.value, HeadersTooLargeError):
            return reason.value
    return None


# ── an answer that does not come to its end: Scrapy forgets it, and a record is to have it ──


class _Agent(_ScrapyAgent):
    """Remembers the answer that has begun, and who reads it."""

    begun: TxResponse | None = None
    reader: _ResponseReader | None = None

    def _cb_bodyready(self, txresponse: TxResponse, request: Request) -> Any:
        self.begun = txresponse
        read = super()._cb_bodyready(txresponse, request)
        reader = txresponse._bodyProtocol
        if isinstance(reader, _ResponseReader):
            self.reader = reader
            reader._fail_on_dataloss = False  # it is judged below, where what came of it is at hand
        return read

    def doubt_about(self, url: str) -> str | None:
        """Return the flag of an answer that ended with its connection; None if that was closed in order."""
        reason = getattr(self.begun, "closed_by", None)
        if reason is None or reason.check(ConnectionDone):
            return None
        # Many servers skip the notice with which TLS ends, so its absence proves nothing.
        is_without_notice = url.startswith("https:") and reason.check(ConnectionLost)
        return MAYBE_TRUNCATED if is_without_notice else LOST

    def so_far(self, url: str, flag: str) -> Response | None:
        """The answer as far as it came; of one that grew too large only its head is left."""
        if self.begun is None:
            return None
        came: Any = {"txresponse": self.begun, "flags": [flag]}  # as the reader says it
        if self.reader is not None:
            body = b"" if flag == TOO_LARGE else self.reader._bodybuf.getvalue()
            came |= {"body": body, "ip_address": self.reader._ip_address}
        return self._cb_bodydone(came, url)


class PartialHandler(HTTP11DownloadHandler):
    """Scrapy's handler, whose errors have what came of their answers with them, and mean what they meant."""

    async def download_request(self, request: Request) -> Response:
        """Download; an answer that ends before its end is the error that it ever was."""
        agent = self._agent()
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except DownloadTimeoutError as error:
            if part := agent.so_far(request.url, TOO_SLOW):
                raise SlowAnswerError(part, str(error)) from error
            raise
        except DownloadCancelledError as error:
            if part := agent.so_far(request.url, TOO_LARGE):
                raise LargeAnswerError(part, str(error)) from error
            raise
        if ENDS_BY_CLOSE in response.flags and (flag := agent.doubt_about(request.url)):
            response.flags.append(flag)
        if LOST in response.flags and request.meta.get(FAIL_ON_LOSS, self._fail_on_dataloss):
            raise PartialAnswerError(response, f"the answer broke off after {len(response.body)} bytes")
        return response

    def _agent(self) -> _Agent:
        spider = self._crawler.spider
        return _Agent(
            contextFactory=self._contextFactory, bindAddress=self._bind_address, pool=self._pool,
            maxsize=getattr(spider, "download_maxsize", self._default_maxsize),
            warnsize=getattr(spider, "download_warnsize", self._default_warnsize),
            fail_on_dataloss=False, crawler=self._crawler, tls_verbose_logging=self._tls_verbose_logging,
        )  # fmt: skip


# ── the handler ──


class GuardedHandler(PartialHandler):
    """Scrapy's handler for http and https, with the guard in place whoever started the reactor."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._resolver = _installed(crawler)
        self._turns: WeakValueDictionary[str, Semaphore] = WeakValueDictionary()  # by domain
        self._pool._factory = BoundedClientFactory

    async def download_request(self, request: Request) -> Response:
        """Download a request of a session in its turn."""
        if SESSION not in request.meta:  # a crawl by Scrapy alone, with this handler
            return await self._download(request)
        async with self._turn(request):
            self.require_lock(request)
            return await self._download(request)

    def _turn(self, request: Request) -> Semaphore:
        """Return what keeps a domain's requests one behind the other.

        Scrapy counts a request as under way a moment after it has let it go, and lets the next one go as well
        if its process was held up in between for longer than the delay.
        """
        key = request.meta.get("download_slot", "")
        turn = self._turns.get(key)
        if turn is None:
            slot = self._crawler.engine.downloader.slots.get(key)
            turn = self._turns[key] = Semaphore(slot.concurrency if slot is not None else 1)
        return turn

    async def _download(self, request: Request) -> Response:
        """Download, and say so where it was refused."""
        try:
            return await super().download_request(request)
        except DownloadFailedError as error:
            if refusal := too_large(error):
                raise refusal from error
            raise
        except CannotResolveHostError as error:
            host = host_name(urlparse_cached(request).hostname or "")
            reason = self._resolver.refusals.get(host)
            if reason is None:
                raise
            raise EgressRefusedError(
                f"{host} is not to be connected to: {reason}",
                hint="a host or network that may be fetched all the same goes into EGRESS_ALLOW",
            ) from error

    def require_lock(self, request: Request) -> None:
        """While a request waited in Scrapy's queue its session may have lost the domain, or its run ended."""
        if (session_id := request.meta.get(SESSION)) is None:
            return  # a crawl by Scrapy alone, with this handler, has none
        if drops_its_queue(self._crawler):
            raise SessionStoppedError("the crawl is being ended")
        context = CrawlContext.of(self._crawler)
        if TASK in request.meta and (over := context.run_worker.over) is not None:
            raise SessionStoppedError(f"nothing more goes out: {over.why}")
        visits = context.visits
        visit = visits.running.get(session_id)
        domain = request.meta.get("download_slot", "")
        if visit is None or visit.stopped or not visits.domains.may_fetch(visit, domain):
            raise SessionStoppedError(f"session {session_id} does not hold {domain} any more")


def _installed(crawler: Crawler) -> GuardedResolver:
    """The reactor's resolver, with this crawl's policy; put in place if something else stands there."""
    from twisted.internet import reactor

    resolver = reactor.nameResolver
    if isinstance(resolver, GuardedResolver):
        resolver.policy = _policy(crawler.settings)
        return resolver
    resolver = GuardedResolver.from_crawler(crawler, reactor)
    resolver.install_on_reactor()
    return resolver


def _policy(settings: BaseSettings) -> EgressPolicy:
    return EgressPolicy.of(settings.getlist("EGRESS_ALLOW"))
