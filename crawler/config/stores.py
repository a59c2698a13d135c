"""Where things lie, and what is said of them: the database, the artifacts, Redis, the log."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, SecretStr, field_validator

from crawler.config.fields import Seconds, SettingsPart, Takes, checked_url, without_user

if TYPE_CHECKING:
    from collections.abc import Collection

DATABASE_SCHEMES = ("sqlite", "postgresql", "postgresql+psycopg")
S3_SCHEME = "s3://"
SQLITE_OPTIONS = {"timeout", "cached_statements", "uri", "mode", "cache", "immutable", "nolock", "vfs"}
REDIS_SCHEMES = ("redis", "rediss", "unix")
_REDIS_DATABASE = re.compile(r"(/\d*)?")


class StoreSettings(SettingsPart):
    """Database, artifacts, Redis and log."""

    vitrine_home: Annotated[Path, Takes("a folder")] = Field(
        Path("var"), description="Folder of the database and the artifacts, when nothing else is said."
    )
    database_url: Annotated[str, Takes("sqlite:///PATH or postgresql://USER@HOST/NAME")] = Field(
        "", repr=False, description="SQLite or PostgreSQL; empty: `vitrine.db` in `VITRINE_HOME`."
    )
    database_pool_size: Annotated[int, "connections"] = Field(
        15,
        ge=3,
        le=200,
        description="How many connections to PostgreSQL a process opens at most; a third of them it keeps.",
    )
    artifacts_dir: Annotated[str, Takes("a folder, or s3://BUCKET/PREFIX")] = Field(
        "",
        repr=False,
        description="Folder or bucket of the stored evidence; empty: `artifacts` in `VITRINE_HOME`.",
    )
    archive_root: Annotated[str, Takes("a folder")] = Field(
        "", description="Folder of the archives; empty: `archive` in `VITRINE_HOME`."
    )
    aws_endpoint_url: Annotated[str, Takes("a URL that begins with https:// or http://")] = Field(
        "", description="Where the bucket of `ARTIFACTS_DIR` is served, when it is not at Amazon."
    )
    aws_region: Annotated[str, Takes("a region's name")] = Field("", description="The bucket's region.")
    aws_access_key_id: Annotated[SecretStr, Takes("the key's name")] = Field(
        SecretStr(""), description="Key for the bucket; empty: as the machine's role or environment says."
    )
    aws_secret_access_key: Annotated[SecretStr, Takes("the key's secret")] = Field(
        SecretStr(""), description="The secret of that key."
    )
    warc_dir: Annotated[str, Takes("a folder")] = Field(
        "",
        description="Folder for WARC files of everything that a crawl sends and receives; empty: none are "
        "written, unless `PAGE_STORE` is `warc`, which then has them in `warcs` in `VITRINE_HOME`.",
    )
    warc_max_bytes: Annotated[int, "bytes"] = Field(
        1_000_000_000,
        ge=1,
        le=1_000_000_000_000,
        description="The size from which on a WARC file is ended, and another begun.",
    )
    warc_revisits: Literal["off", "url", "payload"] = Field(
        "off",
        description="What a WARC file has already is stored as a revisit: never, when the same URL gives it "
        "again, or whichever gives it.",
    )
    page_store: Literal["auto", "files", "warc"] = Field(
        "auto",
        description="Where pages of durable runs are kept: as files of their own, in WARC files, or `auto`, "
        "which is the latter where `WARC_DIR` is set.",
    )
    redis_url: Annotated[str, Takes("redis://HOST:PORT/DB (or rediss://, unix://)")] = Field(
        "",
        repr=False,
        description="Redis that holds the locks for all machines; empty: locks reach this machine only.",
    )

    store_patience_seconds: Seconds = Field(
        30, ge=0, le=3_600,
        description="How long a database or an artifact store that refuses is waited for, from its first "
        "refusal; pages are held meanwhile, and none is asked for.",
    )  # fmt: skip

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="The least level that is logged."
    )
    log_format: Literal["text", "json"] = Field("text", description="`json` writes one JSON object a line.")

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        checked = checked_url(value, DATABASE_SCHEMES)
        if options := urlsplit(value).query:
            _require_database_options(value.partition(":")[0], [name for name, _ in parse_qsl(options)])
        return checked

    @field_validator("artifacts_dir")
    @classmethod
    def _known_store(cls, value: str) -> str:
        scheme, is_url, bucket = value.partition("://")
        if is_url and (f"{scheme}://" != S3_SCHEME or not bucket.strip("/")):
            raise ValueError("scheme")
        return without_user(value) if is_url else value

    @field_validator("aws_endpoint_url")
    @classmethod
    def _endpoint_is_a_url(cls, value: str) -> str:
        return without_user(checked_url(value, ("http", "https")))

    @field_validator("redis_url")
    @classmethod
    def _known_redis(cls, value: str) -> str:
        checked_url(value, REDIS_SCHEMES)
        # redis-py would take database 0 for one that is no number.
        if not value.startswith("unix") and not _REDIS_DATABASE.fullmatch(urlsplit(value).path):
            raise ValueError("database")
        if "?" in value:
            _require_known_options(value)
        return value

    @cached_property
    def database(self) -> str:
        """The database's URL, the embedded one where none is set."""
        return self.database_url or f"sqlite:///{self.vitrine_home / 'vitrine.db'}"

    @cached_property
    def warcs(self) -> Path:
        """The folder of the WARC files."""
        return Path(self.warc_dir) if self.warc_dir else self.vitrine_home / "warcs"

    @cached_property
    def pages_in_warcs(self) -> bool:
        """Whether pages of durable runs are kept in WARC files."""
        return self.page_store == "warc" or (self.page_store == "auto" and bool(self.warc_dir))

    @cached_property
    def is_recording(self) -> bool:
        """Whether all that a crawl sends and receives is written into WARC files."""
        return bool(self.warc_dir) or self.pages_in_warcs

    @cached_property
    def artifacts(self) -> Path:
        """The folder of the stored evidence."""
        return Path(self.artifacts_dir) if self.artifacts_dir else self.vitrine_home / "artifacts"

    @cached_property
    def archives(self) -> Path:
        """The folder of the archives, in full: the tool that makes one stands elsewhere."""
        return (Path(self.archive_root) if self.archive_root else self.vitrine_home / "archive").absolute()


def _require_database_options(scheme: str, names: Collection[str]) -> None:
    """Refuse what the driver would find out with the first connection."""
    if scheme == "sqlite":
        known = SQLITE_OPTIONS
    else:
        from psycopg.pq import Conninfo  # ruff: ignore[import-outside-top-level] - slow to load, and seldom needed

        known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    if set(names) - known:
        raise ValueError("option")


def _require_known_options(redis_url: str) -> None:
    """Refuse what redis-py would find out with the first call, in a traceback."""
    from redis import ConnectionPool  # ruff: ignore[import-outside-top-level] - slow to load, and seldom needed

    try:
        ConnectionPool.from_url(redis_url).make_connection()  # which connects later
    except TypeError:
        raise ValueError("option") from None
