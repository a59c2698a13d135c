"""The ordered tables: what has to come before what, whichever numbers say it."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings as ScrapySettings

from crawler import settings
from crawler.addon import PROJECTS_OWN, Vitrine
from crawler.config import SCRAPYS_NAMES, Settings


def place(name: str) -> int:
    """Where a middleware of that name stands on a request's way; it is there once."""
    [number] = [
        number
        for path, number in settings.DOWNLOADER_MIDDLEWARES_BASE.items()
        if path.endswith(f".{name}") and number is not None
    ]
    return int(number)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("ScopeMiddleware", "DomainGateMiddleware"),  # no lock is taken for what may not be asked for
        ("DomainGateMiddleware", "RobotsMiddleware"),  # robots.txt is asked for by who holds the domain
        ("RobotsMiddleware", "NavigationMiddleware"),  # what is forbidden is not tried again
        ("NavigationMiddleware", "RedirectMiddleware"),  # it sees where redirects ended
        ("NavigationMiddleware", "DecompressionMiddleware"),  # and answers unpacked
        ("DecompressionMiddleware", "RecorderMiddleware"),  # which sees what goes over the wire
        ("ProxyMiddleware", "RecorderMiddleware"),
        ("CookiesMiddleware", "RecorderMiddleware"),
    ],
)
def test_the_way_of_a_request(first: str, then: str) -> None:
    """Each is asked before the next; answers come back the other way."""
    assert place(first) < place(then)


@pytest.mark.parametrize("scheme", ["data", "file", "ftp", "s3"])
def test_nothing_but_the_web_is_fetched(scheme: str) -> None:
    """A page's link to a file of this machine leads nowhere."""
    assert settings.DOWNLOAD_HANDLERS_BASE[scheme] is None


def test_a_polite_visitor_by_default() -> None:
    """SPEC D80: eight domains side by side, one request to each, and what robots.txt says is heard."""
    assert Settings.model_fields["sessions_at_once"].default == 8
    assert settings.CONCURRENT_REQUESTS_PER_DOMAIN == 1
    assert (settings.ROBOTSTXT_OBEY, settings.DOWNLOAD_DELAY) == (True, 1)


def test_our_own_settings_are_scrapys_too() -> None:
    """But for those whose names are Scrapy's already: theirs mean something else."""
    ours = {name.upper() for name in Settings.model_fields} - {name.upper() for name in SCRAPYS_NAMES}
    assert not [name for name in ours if not hasattr(settings, name)]
    assert settings.CONCURRENT_REQUESTS >= 64


MINE = "tests.unit.test_settings.Mine"


class Mine:
    """A middleware of somebody's."""


def test_what_names_a_project_stays_what_it_is() -> None:
    """Its spiders, its commands, its name."""
    project = ScrapySettings({"BOT_NAME": "mine", "SPIDER_MODULES": ["mine.spiders"]})
    Vitrine.update_pre_crawler_settings(project)
    assert (project["BOT_NAME"], list(project["SPIDER_MODULES"])) == ("mine", ["mine.spiders"])
    assert "COMMANDS_MODULE" in PROJECTS_OWN
    assert project["COMMANDS_MODULE"] != settings.COMMANDS_MODULE


def test_what_the_project_says_itself_wins() -> None:
    """Of all that is not a table; what it does not say is settings."""
    project = ScrapySettings()
    project.set("DOWNLOAD_TIMEOUT", 7, "project")
    Vitrine().update_settings(project)
    assert project.getint("DOWNLOAD_TIMEOUT") == 7
    assert project["TWISTED_DNS_RESOLVER"] == settings.TWISTED_DNS_RESOLVER
    assert project.getbool("ROBOTSTXT_OBEY")


def test_tables_are_added_to() -> None:
    """A project's own middleware stands beside the gate."""
    project = ScrapySettings()
    project.set("DOWNLOADER_MIDDLEWARES", {MINE: 500}, "project")
    Vitrine.update_pre_crawler_settings(project)
    enabled = project.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    assert {MINE, "crawler.middlewares.domain_gate.DomainGateMiddleware"} <= set(enabled)
