"""A request's own proxy, or that of PROXY_URL; never one of the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import IgnoreRequest

from crawler.access.egress import EgressPolicy, given_away
from crawler.config import load_settings_from
from crawler.urls import host_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

PROXY = "proxy"  # Scrapy's meta key


class ProxyMiddleware(HttpProxyMiddleware):
    """Sends a request through the proxy that its meta names, else through PROXY_URL.

    The proxy looks names up, so the guard on our own resolver sees the proxy's name only. What can be
    told from the URL alone is refused here; keeping names from leading to private addresses is the
    proxy's business.
    """

    def __init__(self, proxy: str | None, policy: EgressPolicy) -> None:
        super().__init__()
        self.proxies = {}  # what the environment says is of no account
        self.proxy = proxy
        self.policy = policy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make a component."""
        settings = load_settings_from(crawler.settings)
        return cls(settings.proxy_url or None, EgressPolicy.of(settings.egress_allow))

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # ruff: ignore[unused-method-argument] - Scrapy's signature
        """Refuse a private address behind a proxy; take user and password out of the proxy's URL."""
        proxy = request.meta.get(PROXY) or self.proxy
        if proxy is None:
            super().process_request(request)
            return
        host = host_of(request.url)
        reason = self.policy.refusal(host, given_away(host))
        if reason:
            raise IgnoreRequest(f"{host} is not to be connected to: {reason}")
        request.meta[PROXY] = proxy
        super().process_request(request)
