"""A browser's zone and language are ones that it knows."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


@pytest.mark.parametrize("said", ["de", "de-DE", "zh-Hant-TW", "fil-PH", "sr-Latn"])
def test_languages(said: str) -> None:
    """With a script and a country, or without."""
    assert load_settings({"RENDER_LOCALE": said}).render_locale == said


@pytest.mark.parametrize("said", ["german", "de_DE", "DE-de", "de-DE.UTF-8", "de-DE\n", "de-DE,en", "C"])
def test_what_is_no_language_is_refused(said: str) -> None:
    """It would stand in the header of every request."""
    with pytest.raises(ConfigError, match="RENDER_LOCALE"):
        load_settings({"RENDER_LOCALE": said})


@pytest.mark.parametrize("said", ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+5"])
def test_zones(said: str) -> None:
    """By their names."""
    assert load_settings({"RENDER_TIMEZONE": said}).render_timezone == said


@pytest.mark.parametrize(
    "said", ["CESTX", "/etc/passwd", "Europe/", "right/UTC", "posixrules", "Europe/Berlin\0", "UTC "]
)
def test_what_is_no_zone_is_refused(said: str) -> None:
    """Nor is a path one, wherever it leads."""
    with pytest.raises(ConfigError, match="RENDER_TIMEZONE"):
        load_settings({"RENDER_TIMEZONE": said})
