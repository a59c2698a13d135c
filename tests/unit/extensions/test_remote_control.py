"""Scrapy's remote control is there where it is asked for, and not loaded where it is not."""

from __future__ import annotations

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.extensions.remote_control import RemoteControl
from scrapy.utils.test import get_crawler

from crawler.extensions.remote_control import LazyRemoteControl


def test_it_is_scrapys_own_where_it_is_on() -> None:
    """The very class."""
    made = LazyRemoteControl.from_crawler(get_crawler(settings_dict={"REMOTE_CONTROL_ENABLED": True}))
    assert type(made) is RemoteControl


def test_it_is_nothing_where_it_is_off() -> None:
    """As Scrapy does it."""
    with pytest.raises(NotConfigured):
        LazyRemoteControl.from_crawler(get_crawler(settings_dict={"REMOTE_CONTROL_ENABLED": False}))
