"""In somebody else's project our settings come beside theirs, and none of theirs is replaced."""

from __future__ import annotations

from scrapy.settings import Settings

from crawler import settings as ours
from crawler.addon import PROJECTS_OWN, Vitrine

MINE = "tests.unit.test_addon.Mine"


class Mine:
    """A middleware of somebody's."""


def test_what_names_a_project_stays_what_it_is() -> None:
    """Its spiders, its commands, its name."""
    project = Settings({"BOT_NAME": "mine", "SPIDER_MODULES": ["mine.spiders"]})
    Vitrine.update_pre_crawler_settings(project)
    assert (project["BOT_NAME"], list(project["SPIDER_MODULES"])) == ("mine", ["mine.spiders"])
    assert "COMMANDS_MODULE" in PROJECTS_OWN
    assert project["COMMANDS_MODULE"] != ours.COMMANDS_MODULE


def test_what_the_project_says_itself_wins() -> None:
    """Of all that is not a table; what it does not say is ours."""
    project = Settings()
    project.set("DOWNLOAD_TIMEOUT", 7, "project")
    Vitrine().update_settings(project)
    assert project.getint("DOWNLOAD_TIMEOUT") == 7
    assert project["TWISTED_DNS_RESOLVER"] == ours.TWISTED_DNS_RESOLVER
    assert project.getbool("ROBOTSTXT_OBEY")


def test_tables_are_added_to() -> None:
    """A project's own middleware stands beside the gate."""
    project = Settings()
    project.set("DOWNLOADER_MIDDLEWARES", {MINE: 500}, "project")
    Vitrine.update_pre_crawler_settings(project)
    enabled = project.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    assert {MINE, "crawler.middlewares.domain_gate.DomainGateMiddleware"} <= set(enabled)
