"""The settings of the web side."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


def test_names_are_split_and_folded() -> None:
    """Blanks around commas are nobody's name."""
    settings = load_settings({"public_hosts": " Archive.Example , localhost,"})
    assert settings.served_hosts == {"archive.example", "localhost"}


def test_the_replay_host_is_served_and_may_read() -> None:
    """Its origin is appended to the defaults (SPEC 6, 8)."""
    settings = load_settings({"replay_base_url": " Replay.example/ "})
    assert settings.replay_base_url == "https://Replay.example"
    assert "replay.example" in settings.served_hosts
    assert settings.reading_origins == {
        "http://localhost:3000", "http://localhost:5173", "https://replay.example",
    }  # fmt: skip


def test_empty_origins_mean_the_defaults() -> None:
    """An empty value is not a lock-out."""
    assert load_settings({"cors_origins": " , "}).reading_origins == load_settings().reading_origins


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("public_hosts", "http://a.example"), ("cors_origins", "a.example"), ("cors_origins", "*"),
        ("replay_base_url", "ftp://a.example"), ("replay_base_url", "https://user:pw@a.example"),
        ("trusted_proxies", "10.0.0.0/99"), ("web_read_only", "perhaps"),
    ],
)  # fmt: skip
def test_what_is_not_one_is_refused(name: str, value: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ConfigError, match=name.upper()):
        load_settings({name: value})


def test_a_token_that_no_header_takes_is_refused_and_not_repeated() -> None:
    """Not in the error either."""
    with pytest.raises(ConfigError) as refused:
        load_settings({"admin_token": "blank in it"})
    assert "blank in it" not in str(refused.value)
