"""Where archived pages are shown: beside the reading room, on an origin of ours, or by another program."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


@pytest.mark.parametrize(
    ("said", "origin", "foreign"),
    [
        ("", "", ""), ("  ", "", ""),
        ("replay.example", "https://replay.example", ""),
        ("http://127.0.0.1:8081/", "http://127.0.0.1:8081", ""),
        ("https://pywb.example/shop/", "", "https://pywb.example/shop"),
        ("pywb.example/shop", "", "https://pywb.example/shop"),
    ],
)  # fmt: skip
def test_a_path_makes_it_another_programs(said: str, origin: str, foreign: str) -> None:
    """An origin of ours has none, and a scheme may be left out."""
    settings = load_settings({"REPLAY_BASE_URL": said})
    assert (settings.replay_origin, settings.foreign_replay) == (origin, foreign)


@pytest.mark.parametrize(
    "said", ["https://", "ftp://replay.example", "https://u:p@replay.example", "https://r.example/?q=1",
             "https://r.example#x", "https://r.example:0", "//", "https://[::1"]
)  # fmt: skip
def test_what_is_no_origin_is_refused(said: str) -> None:
    """What hostile pages are shown on is never guessed."""
    with pytest.raises(ConfigError, match="REPLAY_BASE_URL"):
        load_settings({"REPLAY_BASE_URL": said})
