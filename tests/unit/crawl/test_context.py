"""One context a crawl, whoever asks for it, and for no longer than the crawl."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawler.crawl.context import Component, CrawlContext
from crawler.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def a_crawl(**given: Any) -> Crawler:
    """A crawl of this project."""
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    settings.setdict(given, priority="cmdline")
    return Crawler(Spider, settings)


def test_every_component_of_a_crawl_gets_the_same(tmp_path: Path) -> None:
    """And another crawl's get theirs, with its own settings."""
    crawls = [
        a_crawl(VITRINE_HOME=str(tmp_path / name), HTML_RETENTION_DAYS=days)
        for name, days in (("one", 3), ("two", 4))
    ]
    one, same, other = (Component.from_crawler(crawl) for crawl in (crawls[0], *crawls))
    assert one.context is same.context is CrawlContext.of(crawls[0])
    assert one.visits is same.visits is one.context.run_worker.visits
    assert other.context is not one.context
    assert [each.context.settings.html_retention_days for each in (one, other)] == [3, 4]


def test_what_an_extension_changes_is_checked_too(tmp_path: Path) -> None:
    """Settings may change after the first component was made, until they are final."""
    crawl = a_crawl(VITRINE_HOME=str(tmp_path))
    Component.from_crawler(crawl)
    crawl.settings.set("TWISTED_DNS_RESOLVER", "scrapy.resolver.CachingThreadedResolver", "cmdline")
    crawl.settings.freeze()
    with pytest.raises(ConfigError, match="keeps private addresses out"):
        Component.from_crawler(crawl)


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    """A command that fetches nothing touches no database."""
    home = tmp_path / "home"
    CrawlContext.of(get_crawler(settings_dict={"VITRINE_HOME": str(home)}))
    assert not home.exists()


def test_no_list_of_suffixes_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cookies ask no server which domains are public suffixes: the one that comes along answers."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a connection")

    monkeypatch.setattr(cookies, "_split_domain", cookies._split_domain)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    CrawlContext(get_crawler(settings_dict={"VITRINE_HOME": str(tmp_path)}))
    assert cookies._is_public_domain("co.uk")
    assert not cookies._is_public_domain("shop.co.uk")
