"""What an operator may set, and what he is told when it cannot be taken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scrapy.settings import Settings as ScrapySettings

from crawler import __version__
from crawler.config import (
    Settings,
    load_settings,
    load_settings_from,
    setting_docs,
    shown,
    takes,
)
from crawler.errors import ConfigError

ROOT = Path(__file__).parents[2]

WRONG = [
    ("DOMAIN_LOCK_TTL_SECONDS", "soon", "a whole number of seconds from 1 to 86400"),
    ("DOMAIN_LOCK_TTL_SECONDS", "0", "a whole number of seconds from 1 to 86400"),
    ("DOMAIN_LOCK_TTL_SECONDS", "86401", "a whole number of seconds from 1 to 86400"),
    ("DOMAIN_MIN_DELAY_MS", "-1", "a whole number of milliseconds from 0 to 3600000"),
    ("DISABLE_LOCKS", "maybe", "true or false"),
    ("LOG_LEVEL", "LOUD", "one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
    ("CRAWL_POLICY_VERSION", "v9", "one of v1.2, v1.3"),
    ("DATABASE_URL", "mysql://host/name", "sqlite:///PATH or postgresql://USER@HOST/NAME"),
    ("REDIS_URL", "localhost:6379", "redis://HOST:PORT/DB (or rediss://, unix://)"),
    ("ARTIFACTS_DIR", "gs://bucket/evidence", "a folder, or s3://BUCKET/PREFIX"),
    ("PROXY_URL", "socks5://proxy.example:1080", "http://HOST:PORT"),
    ("CONTACT_URL", "https://a b", "a URL that begins with https://, http:// or mailto:"),
    ("RENDER_TIMEZONE", "Europe/Nowhere", "a time zone's name, like Europe/Berlin"),
]
SECRETS = [
    (
        "DATABASE_URL",
        "postgresql://vitrine:geheim@db.example/vitrine",
        "postgresql://vitrine:***@db.example/vitrine",
    ),
    (
        "DATABASE_URL",
        "postgresql://db.example/v?user=u&password=geheim",
        "postgresql://db.example/v?user=u&password=***",
    ),
    ("REDIS_URL", "redis://:ge@heim@redis.example/0", "redis://:***@redis.example/0"),
    ("PROXY_URL", "http://u:geheim@proxy.example:3128", "http://u:***@proxy.example:3128"),
]


def test_everything_has_a_default() -> None:
    """With nothing set all lies in ./var, on this machine alone."""
    settings = load_settings()
    assert settings.database == "sqlite:///var/vitrine.db"
    assert settings.artifacts == Path("var/artifacts")
    assert (settings.redis_url, settings.disable_locks, settings.disable_throttle) == ("", False, False)
    assert settings.user_agent == f"Vitrine/{__version__} (+https://vitrine.example/crawler)"


@pytest.mark.parametrize(("name", "value", "takes_"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong_value_is_one_line(monkeypatch: pytest.MonkeyPatch, name: str, value: str, takes_: str) -> None:
    """It names the variable, what it got and what it takes; nothing is clamped."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value) == f"{name} is {value!r}; it takes {takes_}"
    assert "docs/settings.md" in caught.value.hint
    assert caught.value.exit_code == 2


def test_env_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is foreign to us in the file is passed over."""
    Path(".env").write_text("DOMAIN_MIN_DELAY_MS=7\nSESSIONS_AT_ONCE=3\nSOMETHING_ELSE=x\n", encoding="utf-8")
    monkeypatch.setenv("SESSIONS_AT_ONCE", "5")
    settings = load_settings()
    assert (settings.domain_min_delay_ms, settings.sessions_at_once) == (7, 5)


def test_scrapy_may_override(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `-s` sets wins over the environment; Scrapy's own LOG_FORMAT is none of ours."""
    monkeypatch.setenv("HTML_RETENTION_DAYS", "3")
    given = ScrapySettings({"HTML_RETENTION_DAYS": "9", "LOG_FORMAT": "%(message)s"})
    settings = load_settings_from(given)
    assert (settings.html_retention_days, settings.log_format) == (9, "text")


def test_wrong_override_is_the_same_line() -> None:
    """`-s NAME=VALUE` is held to the same rules."""
    with pytest.raises(ConfigError, match=r"^HTML_RETENTION_DAYS is '0'; it takes a whole number of days"):
        load_settings_from(ScrapySettings({"HTML_RETENTION_DAYS": "0"}))


@pytest.mark.parametrize(("name", "value", "safe"), SECRETS)
def test_secrets_are_not_shown(name: str, value: str, safe: str) -> None:
    """Neither where settings are shown, nor in their repr."""
    settings = load_settings({name: value})
    assert shown(settings)[name] == safe
    assert "heim" not in repr(settings)


def test_secrets_are_not_in_errors() -> None:
    """A wrong URL is quoted without its password."""
    with pytest.raises(ConfigError) as caught:
        load_settings({"DATABASE_URL": "mysql://vitrine:geheim@db.example/vitrine"})
    assert "geheim" not in f"{caught.value} {caught.value.hint}"
    assert caught.value.__cause__ is None


def test_every_setting_is_documented() -> None:
    """With what it takes, its default and its meaning in a sentence; numbers with range and unit."""
    docs = {doc.name: doc for doc in setting_docs()}
    assert set(docs) == {name.upper() for name in Settings.model_fields}
    assert [doc.name for doc in docs.values() if not re.fullmatch(r"[A-Z`].+\.", doc.about)] == []
    assert (docs["DOMAIN_MIN_DELAY_MS"].takes, docs["DOMAIN_MIN_DELAY_MS"].default) == (
        "a whole number of milliseconds from 0 to 3600000",
        "2000",
    )
    units = {"_SECONDS": "seconds", "_MS": "milliseconds", "_DAYS": "days"}
    for doc in docs.values():
        for ending, unit in units.items():
            assert not doc.name.endswith(ending) or f"number of {unit} " in takes(doc.name.lower())


def test_a_file_that_is_no_text_is_told() -> None:
    """In a line, as every wrong setting."""
    Path(".env").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is no UTF-8 text"):
        load_settings()
