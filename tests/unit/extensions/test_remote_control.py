"""Scrapy's remote control is there where it is asked for, and not loaded where it is not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.extensions.remote_control import RemoteControl
from scrapy.utils.test import get_crawler

from crawler.extensions.remote_control import LazyRemoteControl

LOADED = """
import sys
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object
from scrapy.utils.conf import build_component_list
from scrapy.utils.project import get_project_settings
settings = get_project_settings()
for path in build_component_list(settings.getwithbase("EXTENSIONS")):
    load_object(path)
SpiderLoader.from_settings(settings)
not_needed = {"aiohttp", "psycopg", "redis", "scrapy.extensions.remote_control"}
print(sorted(not_needed & set(sys.modules)))
"""


def test_it_is_scrapys_own_where_it_is_on() -> None:
    """The very class."""
    made = LazyRemoteControl.from_crawler(get_crawler(settings_dict={"REMOTE_CONTROL_ENABLED": True}))
    assert type(made) is RemoteControl


def test_it_is_nothing_where_it_is_off() -> None:
    """As Scrapy does it."""
    with pytest.raises(NotConfigured):
        LazyRemoteControl.from_crawler(get_crawler(settings_dict={"REMOTE_CONTROL_ENABLED": False}))


def test_no_crawl_loads_its_web_framework_nor_clients_of_servers_that_it_has_not() -> None:
    """By what a new process has loaded with all extensions and spiders: each of them takes some MiB."""
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.strip() == "[]"
