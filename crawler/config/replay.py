"""Replay of what was captured, and what changed from one capture to the next."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from crawler.config.fields import SettingsPart, Takes, checked_url, without_user


class ReplaySettings(SettingsPart):
    """Where archived pages are shown, and whether they are compared."""

    replay_base_url: Annotated[
        str, Takes("a URL that begins with https:// or http://; https:// may be left out")
    ] = Field(
        "",
        description="Where archived pages are shown: the origin of this server that serves nothing but their "
        "content, or, with a path in it, the collection of a pywb that does. Empty: beside the reading room. "
        "Where it is set, `jobs cleanup` asks for `--force`.",
    )
    change_tracking_enabled: bool = Field(
        default=True, description="Whether captures of a page are compared with the ones before."
    )

    @field_validator("replay_base_url")
    @classmethod
    def _replay_is_a_url(cls, value: str) -> str:
        value = value.strip()
        if value and "://" not in value:
            value = f"https://{value}"
        if value and (not urlsplit(value).hostname or urlsplit(value).query or "#" in value):
            raise ValueError("URL")
        return without_user(checked_url(value.rstrip("/"), {"https", "http"}))

    @cached_property
    def replay_origin(self) -> str:
        """The origin on which this server shows content, and nothing else; empty where it has none."""
        return "" if self.foreign_replay else self.replay_base_url

    @cached_property
    def foreign_replay(self) -> str:
        """The collection of another program that replays; empty where this one does."""
        return self.replay_base_url if urlsplit(self.replay_base_url).path else ""
