"""Sessions, fleets and runs: rests that grow, keys that can be named, encodings of text."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


@pytest.mark.parametrize("least", ["1", "60", "3600"])
def test_the_longest_rest_is_no_shorter_than_the_first(least: str) -> None:
    """Equal is enough."""
    settings = load_settings({"TASK_BACKOFF_MIN_SECONDS": least, "TASK_BACKOFF_MAX_SECONDS": least})
    assert settings.task_backoff_max_seconds == int(least)
    with pytest.raises(ConfigError, match="TASK_BACKOFF_MAX_SECONDS"):
        load_settings({"TASK_BACKOFF_MIN_SECONDS": least, "TASK_BACKOFF_MAX_SECONDS": str(int(least) - 1)})


@pytest.mark.parametrize("said", ["nan", "inf", "-inf", "0.5", "101", "2,5"])
def test_a_rest_grows_by_a_number(said: str) -> None:
    """What is none would have a task wait for ever, or not at all."""
    with pytest.raises(ConfigError, match="TASK_BACKOFF_MULTIPLIER"):
        load_settings({"TASK_BACKOFF_MULTIPLIER": said})


@pytest.mark.parametrize("said", ["start_urls", "%(name)s:start_urls", "100%%"])
def test_a_key_can_be_named(said: str) -> None:
    """As scrapy-redis does, with the spider's name or without."""
    assert load_settings({"REDIS_START_URLS_KEY": said}).redis_start_urls_key == said


@pytest.mark.parametrize("said", ["%(spider)s", "%s", "%(name)d", "100%", " ", "%(name"])
def test_a_key_that_nobody_can_name_is_refused(said: str) -> None:
    """Not found out with the first entry."""
    with pytest.raises(ConfigError, match="REDIS_START_URLS_KEY"):
        load_settings({"REDIS_START_URLS_KEY": said})


@pytest.mark.parametrize(
    ("said", "name"), [("latin-1", "iso8859-1"), ("UTF8", "utf-8"), ("cp1252", "cp1252")]
)
def test_an_encoding_has_one_name(said: str, name: str) -> None:
    """In whichever spelling it is given."""
    assert load_settings({"REDIS_ENCODING": said}).redis_encoding == name


@pytest.mark.parametrize("said", ["latin1x", "hex", "base64", "rot13", "zlib", "utf-8\0"])
def test_what_encodes_no_text_is_refused(said: str) -> None:
    """Python knows codecs of bytes by such names, too."""
    with pytest.raises(ConfigError, match="REDIS_ENCODING"):
        load_settings({"REDIS_ENCODING": said})
