"""Archive jobs: which tool makes them, how long and how often it may try."""

from __future__ import annotations

import shlex
from typing import Annotated

from pydantic import Field, field_validator

from crawler.config.fields import Seconds, SettingsPart, Takes

_DAYS_30 = 30 * 86_400


class JobSettings(SettingsPart):
    """What a worker of jobs goes by."""

    tool_cmd: Annotated[str, Takes("a command line; quotes hold words together, no shell reads it")] = Field(
        "",
        description="A program that makes all jobs; empty: our own engine, or `vitrine-archive-tool`.",
    )
    job_lease_seconds: Seconds = Field(
        60, ge=1, le=3_600, description="How long a job stays with a worker whose machine died."
    )
    job_max_seconds: Seconds = Field(
        _DAYS_30, ge=10, le=31_536_000, description="The longest that one attempt at a job may take."
    )
    max_crawl_retries: int = Field(
        2, ge=0, le=100, description="How often a job whose crawl failed is tried again."
    )
    job_disk_limit_percent: Annotated[int, "percent"] = Field(
        85, ge=1, le=100, description="No crawl of a job begins on a file system that is so full."
    )
    index_max_bad_percent: Annotated[int, "percent"] = Field(
        50, ge=0, le=100, description="A job of which more cannot be read is not indexed."
    )
    pages_fastpath: bool = Field(
        default=True,
        description="All pages are listed from what is known of each, not from all of their snapshots.",
    )
    zimit_image: Annotated[str, Takes("a Docker image's name")] = Field(
        "ghcr.io/openzim/zimit", description="The image that the engine `zimit` runs."
    )

    @field_validator("tool_cmd")
    @classmethod
    def _command_can_be_split(cls, value: str) -> str:
        shlex.split(value)  # a ValueError where a quote is not closed
        return value
