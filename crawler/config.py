"""Environment and `.env` become one frozen, documented Settings value."""

from __future__ import annotations

import codecs
import ipaddress
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_args
from urllib.parse import urlsplit

from attrs import frozen
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from crawler.errors import ConfigError
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic.fields import FieldInfo

Seconds = Annotated[int, "seconds"]
Milliseconds = Annotated[int, "milliseconds"]
Days = Annotated[int, "days"]
DATABASE_SCHEMES = ("sqlite", "postgresql", "postgresql+psycopg")
S3_SCHEME = "s3://"
REDIS_SCHEMES = ("redis", "rediss", "unix")
_REDIS_DATABASE = re.compile(r"(/\d*)?")


class Settings(BaseSettings):
    """Everything that an operator can set; the field's name in capitals is the variable's name."""

    model_config = SettingsConfigDict(
        frozen=True, env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore",
        case_sensitive=False, validate_default=True, hide_input_in_errors=True,
    )  # fmt: skip

    # Where things lie
    vitrine_home: Path = Field(
        Path("var"), description="Folder of the database and the artifacts, when nothing else is said."
    )
    database_url: str = Field(
        "", repr=False, description="SQLite or PostgreSQL; empty: `vitrine.db` in `VITRINE_HOME`."
    )
    artifacts_dir: str = Field(
        "",
        repr=False,
        description="Folder or bucket of the stored evidence; empty: `artifacts` in `VITRINE_HOME`.",
    )
    aws_endpoint_url: str = Field(
        "", description="Where the bucket of `ARTIFACTS_DIR` is served, when it is not at Amazon."
    )
    aws_region: str = Field("", description="The bucket's region.")
    aws_access_key_id: SecretStr = Field(
        SecretStr(""), description="Key for the bucket; empty: as the machine's role or environment says."
    )
    aws_secret_access_key: SecretStr = Field(SecretStr(""), description="The secret of that key.")
    redis_url: str = Field(
        "",
        repr=False,
        description="Redis that holds the locks for all machines; empty: locks reach this machine only.",
    )

    # Logs
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="The least level that is logged."
    )
    log_format: Literal["text", "json"] = Field("text", description="`json` writes one JSON object a line.")

    # Who is asking, and for what
    contact_url: str = Field(
        "https://vitrine.example/crawler",
        description="Where a site's owner learns who crawls; stands in the user agent.",
    )
    egress_allow: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Hosts and networks that may be fetched although they are private, separated by commas.",
    )
    proxy_url: str = Field(
        "",
        repr=False,
        description="A proxy for all pages; it decides what may be reached. The environment's are ignored.",
    )

    # One polite visitor per domain
    domain_lock_ttl_seconds: Seconds = Field(
        300, ge=1, le=86_400, description="How long a lock outlives a keeper that died."
    )
    domain_lock_max_retries: int = Field(
        3, ge=1, le=20, description="Attempts to get a lock that somebody else holds."
    )
    domain_lock_backoff_base_ms: Milliseconds = Field(
        1000, ge=1, le=60_000, description="First wait between two attempts; it doubles each time."
    )
    domain_throttle_ttl_seconds: Seconds = Field(
        60, ge=1, le=86_400, description="How long the end of a session is remembered."
    )
    domain_min_delay_ms: Milliseconds = Field(
        2000, ge=0, le=3_600_000, description="Least time between two sessions of a domain."
    )
    domain_max_delay_seconds: Seconds = Field(
        300,
        ge=0,
        le=86_400,
        description="The longest delay that a site may ask for with Retry-After or Crawl-delay.",
    )
    domain_queue_wait_seconds: Seconds = Field(
        0,
        ge=0,
        le=86_400,
        description="How long to wait for a domain that another session holds, before attempts count.",
    )
    disable_throttle: bool = Field(default=False, description="Skip the wait between sessions (for tests).")
    disable_locks: bool = Field(default=False, description="Skip locks and waits altogether (for tests).")

    # Sessions
    session_max_seconds: Seconds = Field(
        1200, ge=10, le=86_400, description="The longest that a session may hold its domain."
    )
    sessions_at_once: int = Field(
        8, ge=1, le=256, description="Sessions of different domains that run side by side in one process."
    )
    fleet: bool = Field(
        default=False,
        description="Work as one of a fleet that is fed through the Redis of `REDIS_URL`.",
    )
    redis_start_urls_key: str = Field(
        "%(name)s:start_urls", description="The key that feeds a fleet; `%(name)s` is the spider's name."
    )
    redis_encoding: str = Field("utf-8", description="The encoding of what a fleet is fed.")
    redis_start_urls_batch_size: int = Field(
        0, ge=0, le=10_000, description="Entries that a worker takes in one go; 0: as it has room for."
    )
    max_idle_time_before_close: Seconds = Field(
        0, ge=0, le=31_536_000, description="A worker ends after so long with nothing to do; 0: never."
    )
    fleet_max_deaths: int = Field(
        3, ge=1, le=100, description="Workers of a fleet that may die with a session before it is given up."
    )
    crawl_policy_version: Literal["v1.2", "v1.3"] = Field(
        "v1.2", description="The rule that decides which page is a product page."
    )

    # Durable runs
    sources_file: Path = Field(
        Path("sources.toml"), description="The file of sources, for crawls of whole sites by name."
    )
    task_lease_seconds: Seconds = Field(
        30, ge=1, le=3_600, description="How long a task of a run stays with a process that died."
    )
    task_max_retries: int = Field(
        3, ge=1, le=100, description="How often a page of a run is tried, unless its source says otherwise."
    )
    task_backoff_min_seconds: Seconds = Field(
        1, ge=0, le=3_600, description="The first rest before a page is tried again; it doubles each time."
    )
    task_backoff_max_seconds: Seconds = Field(
        60, ge=1, le=86_400, description="The longest rest before a page is tried again."
    )

    # Retention
    html_retention_days: Days = Field(
        14, ge=1, le=36_500, description="Days that the HTML of a session is kept."
    )
    retention_cleanup_enabled: bool = Field(
        default=False, description="Whether a scheduler may start the cleanup; the command does not ask."
    )
    retention_cleanup_batch_size: int = Field(
        100, ge=1, le=100_000, description="Artifacts that one pass of the cleanup takes."
    )
    retention_cleanup_dry_run: bool = Field(
        default=False, description="Log what a cleanup would delete, and delete nothing."
    )

    @field_validator("egress_allow", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        return (
            tuple(part.strip() for part in value.split(",") if part.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("egress_allow")
    @classmethod
    def _networks_are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for part in value:
            if "/" in part:
                ipaddress.ip_network(part, strict=False)
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        return _checked_url(value, DATABASE_SCHEMES)

    @field_validator("artifacts_dir")
    @classmethod
    def _known_store(cls, value: str) -> str:
        scheme, is_url, bucket = value.partition("://")
        if is_url and (f"{scheme}://" != S3_SCHEME or not bucket.strip("/")):
            raise ValueError("scheme")
        return value

    @field_validator("aws_endpoint_url")
    @classmethod
    def _endpoint_is_a_url(cls, value: str) -> str:
        if value and value.partition("://")[0] not in {"http", "https"}:
            raise ValueError("scheme")
        return value

    @field_validator("redis_url")
    @classmethod
    def _known_redis(cls, value: str) -> str:
        _checked_url(value, REDIS_SCHEMES)
        # redis-py would take database 0 for one that is no number.
        if not value.startswith("unix") and not _REDIS_DATABASE.fullmatch(urlsplit(value).path):
            raise ValueError("database")
        return value

    @field_validator("redis_start_urls_key")
    @classmethod
    def _key_can_be_named(cls, value: str) -> str:
        try:
            named = value % {"name": "pdp"}
        except (KeyError, TypeError):
            named = ""
        if not named.strip():
            raise ValueError("key")
        return value

    @field_validator("redis_encoding")
    @classmethod
    def _known_encoding(cls, value: str) -> str:
        try:
            return codecs.lookup(value).name
        except LookupError:
            raise ValueError("encoding") from None

    @field_validator("proxy_url")
    @classmethod
    def _known_proxy(cls, value: str) -> str:
        return _checked_url(value, ("http", "https"))

    @field_validator("contact_url")
    @classmethod
    def _contact_is_a_link(cls, value: str) -> str:
        if not value.startswith(("https://", "http://", "mailto:")) or any(c.isspace() for c in value):
            raise ValueError("scheme")
        return value

    @cached_property
    def database(self) -> str:
        """The database's URL, the embedded one where none is set."""
        return self.database_url or f"sqlite:///{self.vitrine_home / 'vitrine.db'}"

    @cached_property
    def artifacts(self) -> Path:
        """The folder of the stored evidence."""
        return Path(self.artifacts_dir) if self.artifacts_dir else self.vitrine_home / "artifacts"

    @cached_property
    def user_agent(self) -> str:
        """How a crawl names itself to sites."""
        from crawler import __version__  # ruff: ignore[import-outside-top-level] - the package must not import itself

        return f"Vitrine/{__version__} (+{self.contact_url})"


# What a field takes, in words, where its type does not say it.
_TAKES = {
    "vitrine_home": "a folder",
    "sources_file": "a file",
    "database_url": "sqlite:///PATH or postgresql://USER@HOST/NAME",
    "artifacts_dir": "a folder, or s3://BUCKET/PREFIX",
    "aws_endpoint_url": "a URL that begins with https:// or http://",
    "aws_region": "a region's name",
    "aws_access_key_id": "the key's name",
    "aws_secret_access_key": "the key's secret",
    "redis_url": "redis://HOST:PORT/DB (or rediss://, unix://)",
    "redis_start_urls_key": "a key's name, with `%(name)s` or without",
    "redis_encoding": "an encoding's name, like latin-1",
    "proxy_url": "http://HOST:PORT",
    "contact_url": "a URL that begins with https://, http:// or mailto:",
    "egress_allow": "host names, addresses and networks like 10.0.0.0/8, separated by commas",
}


# Variables whose names mean something else to Scrapy.
_OTHERS_NAMES = {"log_format"}


class _Named(Protocol):
    def get(self, name: str, /) -> Any: ...


@frozen
class SettingDoc:
    """What an operator is told about one variable."""

    name: str
    takes: str
    default: str
    about: str


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings; `overrides` (by variable or field name) win over environment and `.env`."""
    given = {name.lower(): value for name, value in (overrides or {}).items()}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise _config_error(error) from None


def load_settings_from(source: _Named) -> Settings:
    """Read the settings out of Scrapy's, where the command line may have changed them."""
    named = ((name, source.get(name.upper())) for name in Settings.model_fields if name not in _OTHERS_NAMES)
    return load_settings({name: value for name, value in named if value is not None})


def setting_docs() -> list[SettingDoc]:
    """Every variable with what it takes and its default, in the order of the Settings class."""
    return [
        SettingDoc(name.upper(), takes(name), _shown_default(field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def shown(settings: Settings) -> dict[str, str]:
    """The settings as they may be shown or logged: no password in any URL."""
    return {name.upper(): redact(_as_text(value)) for name, value in settings.model_dump().items()}


def takes(name: str) -> str:
    """In words, the values that a field accepts."""
    field = Settings.model_fields[name]
    if name in _TAKES:
        return _TAKES[name]
    if field.annotation is bool:
        return "true or false"
    if field.annotation is int:
        return _number_range(field)
    return "one of " + ", ".join(get_args(field.annotation))


def _checked_url(value: str, schemes: Collection[str]) -> str:
    """A server's URL, if its scheme is one of these and its port is one; pydantic hears the ValueError."""
    if value and (value.partition("://")[0] not in schemes or urlsplit(value).port == 0):
        raise ValueError("URL")
    return value


def _number_range(field: FieldInfo) -> str:
    unit = next((f" of {m}" for m in field.metadata if isinstance(m, str)), "")
    low = next(m.ge for m in field.metadata if hasattr(m, "ge"))
    high = next(m.le for m in field.metadata if hasattr(m, "le"))
    return f"a whole number{unit} from {low} to {high}"


def _shown_default(field: FieldInfo) -> str:
    return _as_text(field.default)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _config_error(error: ValidationError) -> ConfigError:
    first = error.errors()[0]
    name = str(first["loc"][0]).lower()
    return ConfigError(
        f"{name.upper()} is {redact(_as_text(first['input']))!r}; it takes {takes(name)}",
        hint=f"the default is {_shown_default(Settings.model_fields[name]) or 'empty'}; see docs/settings.md",
    )
