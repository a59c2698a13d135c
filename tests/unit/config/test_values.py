"""Which values each setting takes; any other is refused before anything begins, and no secret is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import load_settings, shown
from crawler.errors import ConfigError

TAKEN = [
    ("EGRESS_ALLOW", " , ,", ()),
    ("EGRESS_ALLOW", "10.0.0.7/8", ("10.0.0.7/8",)),
    ("EGRESS_ALLOW", "::1,fe80::/10", ("::1", "fe80::/10")),
    ("EGRESS_ALLOW", "*.test , 127.0.0.1", ("*.test", "127.0.0.1")),
    ("PROXY_URL", "https://u:p@proxy.test", "https://u:p@proxy.test"),
    ("PROXY_URL", "http://[::1]:3128", "http://[::1]:3128"),
    ("REDIS_START_URLS_KEY", "%(name)s:start_urls", "%(name)s:start_urls"),
    ("REDIS_START_URLS_KEY", "100%%", "100%%"),
    ("REDIS_ENCODING", "latin-1", "iso8859-1"),
    ("REDIS_URL", "redis://h/", "redis://h/"),
    ("REDIS_URL", "unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=1"),
    ("REDIS_URL", "rediss://h:1/3?ssl_cert_reqs=none", "rediss://h:1/3?ssl_cert_reqs=none"),
    ("DATABASE_URL", "sqlite:///x.db?timeout=1", "sqlite:///x.db?timeout=1"),
    ("DATABASE_URL", "postgresql+psycopg:///x?host=/run", "postgresql+psycopg:///x?host=/run"),
    ("ARTIFACTS_DIR", "s3://bucket", "s3://bucket"),
    ("ARTIFACTS_DIR", "a/folder@home", "a/folder@home"),
    ("INDEX_MAX_BAD_PERCENT", "0", 0),
    ("RENDER_LOCALE", "zh-Hant-TW", "zh-Hant-TW"),
    ("RENDER_TIMEZONE", "America/Argentina/Ushuaia", "America/Argentina/Ushuaia"),
    ("DISABLE_LOCKS", "TRUE", True),
    ("DISABLE_LOCKS", "on", True),
    ("DISABLE_LOCKS", "0", False),
]
REFUSED = {
    "EGRESS_ALLOW": ("shop.test,10.0.0", "10.0.0.0/33", "shop.test/x", "a@b.test", "1e9", "10.0.0.300"),
    "PROXY_URL": ("http://", "http://:3128", "proxy.test:3128", "http://p.test:0", "http://p:x"),
    "CONTACT_URL": ("https://", "http://u:p@ops.example/", "https://ops.example/\nX: y", "mailto:ops"),
    "TASK_BACKOFF_MULTIPLIER": ("nan", "inf", "0.5", "101", "2,5"),
    "REDIS_START_URLS_KEY": ("%(spider)s", "%s", "%(name)d", "100%", " "),
    "REDIS_ENCODING": ("latin1x", "hex", "rot13", "utf-8\0"),
    "REDIS_URL": ("redis://h/main", "redis://h/0?colour=red", "http://h", "redis://h:66000/0"),
    "DATABASE_URL": ("sqlite:///x.db?tiemout=1", "postgresql://h/x?sslmod=require", "postgresql://h:0/x"),
    "DATABASE_POOL_SIZE": ("2",),
    "ARTIFACTS_DIR": ("s3://", "s3:///", "gs://bucket", "s3://key:secret@bucket/x"),
    "AWS_ENDPOINT_URL": ("minio:9000", "http://", "http://key:secret@minio:9000"),
    "WARC_MAX_BYTES": ("0",),
    "TOOL_CMD": ("tool 'an argument", "tool \\"),
    "NOTIFY_COMMAND": ('tool "x',),
    "NOTIFY_URL": ("hooks.example/secret", "ftp://secret.example/", "https://x.example:0/secret"),
    "JOB_DISK_LIMIT_PERCENT": ("0", "101", "85.5"),
    "INDEX_MAX_BAD_PERCENT": ("-1", "101"),
    "MAX_CRAWL_RETRIES": ("-1",),
    "RENDER_LOCALE": ("german", "de_DE", "DE-de", "de-DE\n", "de-DE,en"),
    "RENDER_TIMEZONE": ("CESTX", "/etc/passwd", "../UTC", "right/UTC", "Europe", "Europe/Berlin\0"),
    "REPLAY_BASE_URL": (
        "https://",
        "ftp://r.example",
        "https://u:secret@r.example",
        "https://r.example/?q=1",
    ),
    "PUBLIC_HOSTS": ("http://a.example",),
    "CORS_ORIGINS": ("a.example", "*"),
    "TRUSTED_PROXIES": ("10.0.0.0/99",),
    "WEB_READ_ONLY": ("perhaps",),
    "ADMIN_TOKEN": ("a secret with blanks",),
}


@pytest.mark.parametrize(("name", "given", "value"), TAKEN)
def test_a_value_is_taken(name: str, given: str, value: object) -> None:
    """Lists are split at commas, codecs have one name, and the options of drivers are known."""
    assert getattr(load_settings({name: given}), name.lower()) == value


@pytest.mark.parametrize(
    ("name", "given"), [(name, each) for name, values in REFUSED.items() for each in values]
)
def test_a_value_is_refused_and_its_secret_is_not_repeated(name: str, given: str) -> None:
    """The error names the setting."""
    with pytest.raises(ConfigError, match=name) as refused:
        load_settings({name: given})
    assert "secret" not in f"{refused.value} {refused.value.hint}"


def test_the_longest_backoff_is_no_shorter_than_the_first() -> None:
    """Equal is enough."""
    settings = load_settings({"TASK_BACKOFF_MIN_SECONDS": "60", "TASK_BACKOFF_MAX_SECONDS": "60"})
    assert settings.task_backoff_max_seconds == 60
    with pytest.raises(ConfigError, match="TASK_BACKOFF_MAX_SECONDS"):
        load_settings({"TASK_BACKOFF_MIN_SECONDS": "60", "TASK_BACKOFF_MAX_SECONDS": "59"})


def test_the_user_agent_names_the_contact() -> None:
    """So that a site's owner can ask us to stop."""
    agent = load_settings({"CONTACT_URL": "mailto:ops@shop.example"}).user_agent
    assert agent.endswith("(+mailto:ops@shop.example)")


def test_a_hook_is_shown_to_nobody() -> None:
    """Its path is its password."""
    hook = "https://hooks.example/T0/geheim"
    settings = load_settings({"NOTIFY_URL": hook, "NOTIFY_COMMAND": "mail --token geheim"})
    assert settings.notify_url.get_secret_value() == hook
    assert "geheim" not in f"{settings!r} {shown(settings)}"


@pytest.mark.parametrize(
    ("given", "origin", "foreign"),
    [
        ("", "", ""),
        ("replay.example", "https://replay.example", ""),
        ("http://127.0.0.1:8081/", "http://127.0.0.1:8081", ""),
        ("https://pywb.example/shop/", "", "https://pywb.example/shop"),
        ("pywb.example/shop", "", "https://pywb.example/shop"),
    ],
)
def test_a_replay_url_with_a_path_is_another_program(given: str, origin: str, foreign: str) -> None:
    """An origin of ours has none, and a scheme may be left out."""
    settings = load_settings({"REPLAY_BASE_URL": given})
    assert (settings.replay_origin, settings.foreign_replay) == (origin, foreign)


def test_the_replay_host_is_served_and_may_read() -> None:
    """Beside the hosts that are named; no origins at all mean the defaults."""
    settings = load_settings({"REPLAY_BASE_URL": " Replay.example/ ", "PUBLIC_HOSTS": " Archive.Example ,,"})
    assert {"replay.example", "archive.example"} <= settings.served_hosts
    assert settings.reading_origins == {
        "http://localhost:3000", "http://localhost:5173", "https://replay.example",
    }  # fmt: skip
    assert load_settings({"CORS_ORIGINS": " , "}).reading_origins == load_settings().reading_origins


@pytest.mark.parametrize(
    ("given", "in_warcs", "records"),
    [
        ({}, False, False),
        ({"WARC_DIR": "/w"}, True, True),
        ({"WARC_DIR": "/w", "PAGE_STORE": "files"}, False, True),
        ({"PAGE_STORE": "warc"}, True, True),
    ],
)
def test_what_is_written_into_warc_files(given: dict[str, str], *, in_warcs: bool, records: bool) -> None:
    """A folder has everything recorded; pages go along unless files are asked for."""
    settings = load_settings({"VITRINE_HOME": "/h", **given})
    assert (settings.pages_in_warcs, settings.is_recording) == (in_warcs, records)
    assert settings.warcs == Path("/w" if "WARC_DIR" in given else "/h/warcs")


def test_archives_have_a_full_path(tmp_path: Path) -> None:
    """The tool that makes them runs in another folder."""
    assert load_settings({"ARCHIVE_ROOT": "kept"}).archives == tmp_path / "kept"
    assert load_settings({"VITRINE_HOME": "home", "ARCHIVE_ROOT": ""}).archives == tmp_path / "home/archive"
