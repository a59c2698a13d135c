"""Where things lie, by what is said and by what is not; a store that cannot be is refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


@pytest.mark.parametrize(
    ("said", "in_warcs", "records"),
    [
        ({}, False, False),
        ({"WARC_DIR": "/w"}, True, True),
        ({"WARC_DIR": "/w", "PAGE_STORE": "files"}, False, True),
        ({"PAGE_STORE": "warc"}, True, True),
        ({"PAGE_STORE": "files"}, False, False),
    ],
)
def test_what_is_written_into_warc_files(said: dict[str, str], *, in_warcs: bool, records: bool) -> None:
    """A folder has everything recorded; pages go along unless files are asked for."""
    settings = load_settings({"WARC_DIR": "", "VITRINE_HOME": "/h", **said})
    assert (settings.pages_in_warcs, settings.is_recording) == (in_warcs, records)
    assert settings.warcs == Path("/w" if "WARC_DIR" in said else "/h/warcs")


def test_archives_lie_where_any_process_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In full: the tool that makes them stands elsewhere."""
    monkeypatch.chdir(tmp_path)
    assert load_settings({"ARCHIVE_ROOT": "kept"}).archives == tmp_path / "kept"
    assert load_settings({"VITRINE_HOME": "home", "ARCHIVE_ROOT": ""}).archives == tmp_path / "home/archive"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("DATABASE_URL", "sqlite:///x.db?tiemout=1"), ("DATABASE_URL", "postgresql://h/x?sslmod=require"),
        ("DATABASE_URL", "mysql://h/x"), ("DATABASE_URL", "postgresql://h:0/x"),
        ("ARTIFACTS_DIR", "s3://"), ("ARTIFACTS_DIR", "s3:///"), ("ARTIFACTS_DIR", "gs://bucket"),
        ("ARTIFACTS_DIR", "s3://key:secret@bucket/x"),
        ("AWS_ENDPOINT_URL", "minio:9000"), ("AWS_ENDPOINT_URL", "http://"),
        ("AWS_ENDPOINT_URL", "http://key:secret@minio:9000"),
        ("REDIS_URL", "redis://h/main"), ("REDIS_URL", "redis://h/0?colour=red"), ("REDIS_URL", "http://h"),
        ("WARC_MAX_BYTES", "0"), ("DATABASE_POOL_SIZE", "2"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_store_is_refused(name: str, said: str) -> None:
    """Before anything is opened, and without its secret."""
    with pytest.raises(ConfigError, match=name) as refused:
        load_settings({name: said})
    assert "secret" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("DATABASE_URL", "sqlite:///x.db?timeout=1"), ("DATABASE_URL", "postgresql://h/x?sslmode=require"),
        ("DATABASE_URL", "postgresql+psycopg:///x?host=/run"), ("REDIS_URL", "redis://h"), ("REDIS_URL", "redis://h/"),
        ("REDIS_URL", "unix:///run/redis.sock?db=1"), ("REDIS_URL", "rediss://h:1/3?ssl_cert_reqs=none"),
        ("ARTIFACTS_DIR", "s3://bucket"), ("ARTIFACTS_DIR", "a/folder@home"),
    ],
)  # fmt: skip
def test_what_can_be_one_is_taken(name: str, said: str) -> None:
    """With the options that its driver knows."""
    assert getattr(load_settings({name: said}), name.lower()) == said


def test_a_database_that_is_not_named_is_the_embedded_one() -> None:
    """In the folder of everything."""
    assert load_settings({"VITRINE_HOME": "/h", "DATABASE_URL": ""}).database == "sqlite:////h/vitrine.db"
