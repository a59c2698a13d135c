"""A proxy by Vitrine's own setting, and by nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured

from crawler.access.egress import EgressPolicy, given_away
from crawler.config import load_settings_from
from crawler.urls import host_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler


class ProxyMiddleware(HttpProxyMiddleware):
    """Sends every request through PROXY_URL.

    The proxy looks names up, so the guard on our own resolver sees the proxy's name only. What can be
    told from the URL alone is refused here; keeping names from leading to private addresses is the
    proxy's business.
    """

    def __init__(self, proxy: str, policy: EgressPolicy) -> None:
        super().__init__()
        self.proxies = {}  # what the environment says is of no account
        self.proxy = proxy
        self.policy = policy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make a component."""
        settings = load_settings_from(crawler.settings)
        if not settings.proxy_url:
            raise NotConfigured
        return cls(settings.proxy_url, EgressPolicy.of(settings.egress_allow))

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # ruff: ignore[unused-method-argument] - Scrapy's signature
        """Refuse a private address; send anything else through the proxy."""
        host = host_of(request.url)
        reason = self.policy.refusal(host, given_away(host))
        if reason:
            raise IgnoreRequest(f"{host} is not to be connected to: {reason}")
        request.meta["proxy"] = self.proxy
        super().process_request(request)
