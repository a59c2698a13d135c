"""Pages in a browser."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crawler.config.fields import SettingsPart, Takes


class RenderSettings(SettingsPart):
    """Which browser renders pages."""

    chromium_path: Annotated[str, Takes("a program's path")] = Field(
        "", description="Chromium's program; empty: the one on the PATH, or Playwright's own."
    )
