"""How long things are kept."""

from __future__ import annotations

from pydantic import Field

from crawler.config.fields import Days, SettingsPart


class RetentionSettings(SettingsPart):
    """The days of evidence, and what a pass of the cleanup takes."""

    html_retention_days: Days = Field(
        14, ge=1, le=36_500, description="Days that the HTML of a session is kept."
    )
    retention_cleanup_enabled: bool = Field(
        default=False,
        description="Whether requests to the web process may start a cleanup; the command does not ask.",
    )
    retention_cleanup_batch_size: int = Field(
        100, ge=1, le=100_000, description="Artifacts that one pass of the cleanup takes."
    )
    retention_cleanup_dry_run: bool = Field(
        default=False, description="Print what a cleanup would delete, and write nothing."
    )
