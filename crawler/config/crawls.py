"""Sessions, fleets and durable runs."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from crawler.config.fields import Seconds, SettingsPart, Takes


class CrawlSettings(SettingsPart):
    """What one process works on side by side, for how long, and how often it tries."""

    # Sessions
    session_max_seconds: Seconds = Field(
        1200, ge=1, le=86_400, description="The longest that a session may hold its domain."
    )
    sessions_at_once: int = Field(
        8, ge=1, le=256, description="Sessions of different domains that run side by side in one process."
    )
    crawl_policy_version: Literal["v1.2", "v1.3"] = Field(
        "v1.2", description="The rule that decides which page is a product page."
    )

    # Durable runs
    judge_pages: bool = Field(
        default=True,
        description="Judge the pages of durable runs; without it a page gives its links alone, and no "
        "verdict, facts or product.",
    )
    sources_file: Annotated[Path, Takes("a file")] = Field(
        Path("sources.toml"), description="The file of sources, for crawls of whole sites by name."
    )
    task_lease_seconds: Seconds = Field(
        30, ge=1, le=3_600, description="How long a task of a run stays with a process that died."
    )
    task_max_retries: int = Field(
        3, ge=1, le=100, description="How often a page of a run is tried, unless its source says otherwise."
    )
    task_backoff_min_seconds: Seconds = Field(
        1, ge=0, le=3_600, description="The first rest before a page of a run is tried again."
    )
    task_backoff_multiplier: Annotated[float, Takes("a number from 1 to 100")] = Field(
        2, ge=1, le=100, description="By how much each rest is longer than the one before."
    )
    task_backoff_max_seconds: Annotated[
        Seconds, Takes("a whole number of seconds from 1 to 86400, no less than TASK_BACKOFF_MIN_SECONDS")
    ] = Field(60, ge=1, le=86_400, description="The longest rest before a page is tried again.")
    task_jitter_seconds: Seconds = Field(
        1,
        ge=0,
        le=300,
        description="The longest random pause between an answer and a run's next request to that domain, "
        "unless its source says otherwise.",
    )

    # Fleets
    fleet: bool = Field(
        default=False,
        description="Work as one of a fleet that is fed through the Redis of `REDIS_URL`.",
    )
    redis_start_urls_key: Annotated[str, Takes("a key's name, with `%(name)s` or without")] = Field(
        "%(name)s:start_urls", description="The key that feeds a fleet; `%(name)s` is the spider's name."
    )
    redis_encoding: Annotated[str, Takes("an encoding's name, like latin-1")] = Field(
        "utf-8", description="The encoding of what a fleet is fed."
    )
    redis_start_urls_batch_size: int = Field(
        0, ge=0, le=10_000, description="Entries that a worker takes in one go; 0: as it has room for."
    )
    max_idle_time_before_close: Seconds = Field(
        0, ge=0, le=31_536_000, description="A worker ends after so long with nothing to do; 0: never."
    )
    fleet_max_deaths: int = Field(
        3, ge=1, le=100, description="Workers of a fleet that may die with a session before it is given up."
    )

    plugin_timeout_seconds: Seconds = Field(
        30, ge=1, le=3_600, description="The longest that a plugin of a run's source may look at one page."
    )

    @field_validator("task_backoff_max_seconds")
    @classmethod
    def _rests_grow(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("task_backoff_min_seconds", 0):
            raise ValueError("minimum")
        return value

    @field_validator("redis_start_urls_key")
    @classmethod
    def _key_can_be_named(cls, value: str) -> str:
        if not value.strip() or "%" in value.replace("%%", "").replace("%(name)s", ""):
            raise ValueError("key")
        return value

    @field_validator("redis_encoding")
    @classmethod
    def _known_encoding(cls, value: str) -> str:
        try:
            "a".encode(value)  # `hex` and its like are known, too, and encode no text
            return codecs.lookup(value).name
        except LookupError:
            raise ValueError("encoding") from None
