"""Who is told of what happened."""

from __future__ import annotations

import shlex
from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from crawler.config.fields import SettingsPart, Takes, checked_url


class NoticeSettings(SettingsPart):
    """Where `vitrine notify` sends what it found."""

    notify_command: Annotated[
        SecretStr, Takes("a command line; quotes hold words together, no shell reads it")
    ] = Field(
        SecretStr(""),
        description="A program that is given a JSON document on standard input when something happened.",
    )
    notify_url: Annotated[SecretStr, Takes("a URL that begins with https:// or http://")] = Field(
        SecretStr(""), description="Where that document is sent with POST; what it answers is not shown."
    )

    @field_validator("notify_command")
    @classmethod
    def _notice_command_can_be_split(cls, value: SecretStr) -> SecretStr:
        shlex.split(value.get_secret_value())  # a ValueError where a quote is not closed
        return value

    @field_validator("notify_url")
    @classmethod
    def _notice_url_is_one(cls, value: SecretStr) -> SecretStr:
        checked_url(value.get_secret_value(), {"https", "http"})
        return value
