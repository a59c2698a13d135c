"""No connection to an address that the egress policy refuses, by whatever name, redirect or DNS answer.

The check sits in the resolver, which hands out the very addresses that are then connected to (literal
addresses pass it as well), so that no second answer can come between check and use. The handler puts
the resolver in place for every crawl, and tells a refused host from an unknown one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from scrapy.resolver import CachingHostnameResolver
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.httpobj import urlparse_cached

from crawler.access.egress import EgressPolicy, EgressRefusedError, host_name
from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.closing import drops_its_queue
from crawler.crawl.context import SESSION, CrawlContext
from crawler.middlewares.bounded_headers import BoundedClientFactory, too_large
from crawler.middlewares.partial import PartialHandler
from crawler.middlewares.scope import TASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.internet.base import ReactorBase
    from twisted.internet.interfaces import IHostResolution

__all__ = ["EgressRefusedError", "GuardedHandler", "GuardedResolver"]
REMEMBERED_REFUSALS = 1000
# ruff: file-ignore[invalid-function-name, invalid-argument-name] - Twisted's names


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


class GuardedHandler(PartialHandler):
    """Scrapy's handler for http and https, with the guard in place whoever started the reactor."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._resolver = _installed(crawler)
        self._pool._factory = BoundedClientFactory  # ruff: ignore[private-member-access] - nor has Scrapy a setting

    async def download_request(self, request: Request) -> Response:
        """Download, and say so where it was refused."""
        self.require_lock(request)
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
