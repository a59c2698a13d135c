"""Pages in a browser."""

from __future__ import annotations

import re
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from crawler.config.fields import Milliseconds, Seconds, SettingsPart, Takes

# What systems keep beside the zones, under names that no browser knows.
_NO_ZONES = ("posix", "posixrules", "right")
_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")


class RenderSettings(SettingsPart):
    """Which browser renders pages, as what it presents itself, what it waits for, and how much it may do."""

    chromium_path: Annotated[str, Takes("a program's path")] = Field(
        "", description="Chromium's program; empty: the one on the PATH, or Playwright's own."
    )
    render_locale: Annotated[str, Takes("a language and a country, like de-DE")] = Field(
        "en-US", description="The language that the browser asks for and writes numbers in."
    )
    render_timezone: Annotated[str, Takes("a time zone's name, like Europe/Berlin")] = Field(
        "UTC", description="The time zone that the browser is in."
    )

    # What is waited for
    render_idle_ms: Milliseconds = Field(
        800, ge=0, le=30_000, description="A page is ready once no request of it was under way for so long."
    )
    render_stable_ms: Milliseconds = Field(
        1000, ge=0, le=30_000, description="A page is ready once nothing in it has changed for so long."
    )
    render_min_ms: Milliseconds = Field(
        2000, ge=0, le=60_000, description="A page is ready so long after it was loaded at the earliest."
    )
    render_ready_max_ms: Milliseconds = Field(
        15_000, ge=100, le=120_000, description="What is not ready by then is taken as it is, with a warning."
    )
    render_scroll_steps: int = Field(
        20, ge=0, le=200, description="Steps of four fifths of a window in which a page is scrolled down."
    )
    render_scroll_wait_ms: Milliseconds = Field(
        2000, ge=0, le=30_000, description="The longest that each step waits for what it brought."
    )
    render_bottom_ms: Milliseconds = Field(
        2000, ge=0, le=30_000, description="How long a page is looked at from its bottom."
    )
    render_settle_ms: Milliseconds = Field(
        2000, ge=0, le=30_000, description="The longest that a page may take to settle, back at its top."
    )
    render_popup_settle_ms: Milliseconds = Field(
        750, ge=0, le=30_000, description="The pause after a popup was dismissed."
    )

    # What a page may do
    render_page_seconds: Seconds = Field(
        120, ge=5, le=600, description="The longest that one page may be rendered."
    )
    render_max_requests: int = Field(
        1000, ge=1, le=100_000, description="Requests that a page may send; those beyond are not sent."
    )
    render_max_mb: int = Field(
        64, ge=1, le=4096, description="Megabytes that a page may bring over the wire; then it is cut off."
    )
    render_block_media: bool = Field(
        default=True,
        description="Do not fetch videos and sounds.",
    )
    render_screenshot_max_px: int = Field(
        15_000, ge=500, le=16_000, description="The height up to which a page is photographed."
    )
    render_pages_at_once: int = Field(
        3, ge=1, le=32, description="Pages that are rendered side by side in one process."
    )
    render_browser_pages: int = Field(
        100, ge=1, le=100_000, description="Pages after which the browser is started anew."
    )

    @field_validator("render_timezone")
    @classmethod
    def _known_timezone(cls, value: str) -> str:
        if value.partition("/")[0] in _NO_ZONES:
            raise ValueError("time zone")
        try:
            # To list them all and look there takes longer than all else about the settings.
            ZoneInfo(value)
        except (KeyError, OSError) as error:
            raise ValueError("time zone") from error
        return value

    @field_validator("render_locale")
    @classmethod
    def _known_locale(cls, value: str) -> str:
        if not _LOCALE.fullmatch(value):
            raise ValueError("locale")
        return value
