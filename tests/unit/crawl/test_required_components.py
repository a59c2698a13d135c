"""Ordinary settings of Scrapy's add to what a crawl keeps; what would take from it is refused."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from crawler.addon import Vitrine
from crawler.config import load_settings_from
from crawler.crawl.required_components import TABLES, require_components
from crawler.errors import ConfigError
from crawler.middlewares.domain_gate import DomainGateMiddleware
from crawler.middlewares.egress import GuardedHandler

GATE = "crawler.middlewares.domain_gate.DomainGateMiddleware"
MINE = "tests.unit.crawl.test_required_components.Mine"


class Mine:
    """A component of somebody's."""


class Foreign(Spider):
    """A spider of somebody's."""

    name = "foreign"


class OwnGate(DomainGateMiddleware):
    """One of ours, extended."""


class OwnHandler(GuardedHandler):
    """The same."""


def settings_of(custom: dict[str, Any]) -> Settings:
    """The settings of a crawl by a spider that has these."""
    project = Settings()
    project.setmodule("crawler.settings", priority="project")
    Foreign.custom_settings = custom
    return Crawler(Foreign, project).settings


@pytest.mark.parametrize("table", TABLES)
def test_a_spiders_own_components_stand_beside_ours(table: str) -> None:
    """`custom_settings` replaces a whole dict; gate, session and evidence are not in that dict."""
    settings = settings_of({table: {MINE: 600}})
    require_components(settings)
    enabled = dict(settings.get_component_priority_dict_with_base(table))
    ours = {path for path in settings[f"{table}_BASE"] if path.startswith("crawler.")}
    assert ours
    assert enabled.keys() >= ours | {MINE}


@pytest.mark.parametrize(
    ("custom", "told"),
    [
        ({"DOWNLOADER_MIDDLEWARES": {GATE: None}}, "leaves out DomainGateMiddleware"),
        ({"ITEM_PIPELINES": {"crawler.pipelines.evidence.EvidencePipeline": None}}, "EvidencePipeline"),
        ({"SPIDER_MIDDLEWARES": {"crawler.middlewares.capture.CaptureMiddleware": None}}, "CaptureMiddl"),
        ({"EXTENSIONS": {"crawler.extensions.sessions.Sessions": None}}, "leaves out Sessions"),
        ({"HTTPCACHE_ENABLED": True, "CAPTURE_PAGES": False}, "answers with pages of another day"),
        ({"HTTPCACHE_ENABLED": "1", "CAPTURE_PAGES": False}, "answers with pages of another day"),
        (
            {"DOWNLOAD_HANDLERS": {"https": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"}},
            "connects to private addresses too",
        ),
        ({"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver"}, "keeps private addresses out"),
        (
            {
                "DOWNLOADER_MIDDLEWARES": {
                    "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 110
                }
            },
            "where no guard is",
        ),
        ({"DOWNLOAD_DELAY": "abc"}, "DOWNLOAD_DELAY is 'abc'; it takes a number"),
        ({"ROBOTSTXT_OBEY": "maybe"}, "ROBOTSTXT_OBEY is 'maybe'; it takes True or False"),
    ],
)  # fmt: skip
def test_what_would_break_a_promise_is_refused(custom: dict[str, Any], told: str) -> None:
    """With the line that mends it."""
    with pytest.raises(ConfigError, match=told) as refused:
        require_components(settings_of(custom))
    assert refused.value.hint


@pytest.mark.parametrize(
    "custom",
    [
        {"DOWNLOADER_MIDDLEWARES": {GATE: None, "tests.unit.crawl.test_required_components.OwnGate": 90}},
        {"DOWNLOAD_HANDLERS": {"https": "tests.unit.crawl.test_required_components.OwnHandler"}},
        {"DOWNLOAD_DELAY": "0.25", "TELNETCONSOLE_ENABLED": "False", "AUTOTHROTTLE_ENABLED": "1"},
        {"HTTPCACHE_ENABLED": True},
        {"ROBOTSTXT_OBEY": False, "RETRY_ENABLED": "false", "CAPTURE_PAGES": False},
    ],
)
def test_what_is_meant_is_done(custom: dict[str, Any]) -> None:
    """Components that extend ours, spellings of the command line, and what says openly what it does."""
    require_components(settings_of(custom))


def test_the_add_on_brings_all_of_it() -> None:
    """In a project that says something itself, and with a spider that has add-ons of its own."""
    settings = Settings()
    settings.setdict({"USER_AGENT": "theirs", "BOT_NAME": "theirs", "SPIDER_MODULES": ["theirs.spiders"]})
    settings.set("DOWNLOADER_MIDDLEWARES", {MINE: 600}, "project")
    Vitrine.update_pre_crawler_settings(settings)
    require_components(settings)
    assert (settings["USER_AGENT"], settings["BOT_NAME"]) == ("theirs", "theirs")
    assert settings["SPIDER_MODULES"] == ["theirs.spiders"]
    assert settings.getbool("ROBOTSTXT_OBEY")
    assert MINE in settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")


def test_feeds_to_a_bucket_keep_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy reads AWS_* as plain text, and what its feeds are to use is no business of the artifacts."""
    assert not [name for name in settings_of({}) if name.startswith("AWS_") and settings_of({})[name]]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ours")
    read = load_settings_from(settings_of({"AWS_ACCESS_KEY_ID": "theirs"}))
    assert read.aws_access_key_id.get_secret_value() == "ours"
