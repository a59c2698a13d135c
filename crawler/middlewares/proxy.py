"""A proxy by Vitrine's own setting, and by nothing else."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Self

from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured

from crawler.access.egress import EgressPolicy
from crawler.config import load_settings_from
from crawler.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

LOOPBACK = "127.0.0.1"


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
        reason = self.policy.refusal(host, _addresses(host))
        if reason:
            raise IgnoreRequest(f"{host} is not to be connected to: {reason}")
        request.meta["proxy"] = self.proxy
        super().process_request(request)


def _addresses(host: str) -> Iterable[str]:
    """The addresses that a host's spelling gives away."""
    if host == "localhost" or host.endswith(".localhost"):
        return [LOOPBACK]
    try:
        return [str(ip_address(host))]
    except ValueError:
        # 127.1, 0x7f.1 and 2130706433 are addresses to some resolvers, and names to nobody.
        return [LOOPBACK] if host.rpartition(".")[2][:1].isdigit() else []
