"""One context a crawl, whoever asks for it, and for no longer than the crawl."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING
from weakref import ref

from scrapy.utils.test import get_crawler

from crawler.crawl.context import Component, CrawlContext
from tests.e2e.conftest import wait_for

if TYPE_CHECKING:
    from pathlib import Path


def test_every_component_of_a_crawl_gets_the_same(tmp_path: Path) -> None:
    """And another crawl's get theirs, with its own settings."""
    crawls = [
        get_crawler(settings_dict={"VITRINE_HOME": str(tmp_path / name), "HTML_RETENTION_DAYS": days})
        for name, days in (("one", 3), ("two", 4))
    ]
    one, same, other = (Component.from_crawler(crawl) for crawl in (crawls[0], *crawls))
    assert one.context is same.context is CrawlContext.of(crawls[0])
    assert one.visits is same.visits is one.context.run_worker.visits
    assert other.context is not one.context
    assert [each.context.settings.html_retention_days for each in (one, other)] == [3, 4]


def test_it_does_not_keep_its_crawl(tmp_path: Path) -> None:
    """A process that makes many crawls holds none of them for having been asked."""
    crawl = get_crawler(settings_dict={"VITRINE_HOME": str(tmp_path)})
    assert CrawlContext.of(crawl).run_worker.over is None
    gone = ref(crawl)
    del crawl
    # What the loop of another test has under way may still hold it for a moment.
    wait_for(lambda: gc.collect() >= 0 and gone() is None)


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    """A command that fetches nothing touches no database."""
    home = tmp_path / "home"
    CrawlContext.of(get_crawler(settings_dict={"VITRINE_HOME": str(home)}))
    assert not home.exists()
