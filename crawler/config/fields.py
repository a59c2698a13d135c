"""What the fields of settings share: units, words for what they take, and the check of a server's URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from attrs import frozen
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict

from crawler.config.place import ProjectEnvFile, defaults

if TYPE_CHECKING:
    from collections.abc import Collection

    from pydantic_settings import PydanticBaseSettingsSource

Seconds = Annotated[int, "seconds"]
Milliseconds = Annotated[int, "milliseconds"]
Days = Annotated[int, "days"]


@frozen
class Takes:
    """In words, the values that a field accepts, where its type does not say it."""

    words: str


class SettingsPart(BaseSettings):
    """One concern's settings; a field's name in capitals is its variable's name."""

    model_config = SettingsConfigDict(
        frozen=True, env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore",
        case_sensitive=False, validate_default=True, hide_input_in_errors=True,
    )  # fmt: skip

    @classmethod
    def settings_customise_sources(  # ruff: ignore[too-many-positional-arguments] - pydantic's signature
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # ruff: ignore[unused-class-method-argument] - the same
        file_secret_settings: PydanticBaseSettingsSource,  # ruff: ignore[unused-class-method-argument]
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given, the environment, the project's `.env`, and where the project lies."""
        placed = InitSettingsSource(settings_cls, init_kwargs=defaults())
        return init_settings, env_settings, ProjectEnvFile(settings_cls), placed


def checked_url(value: str, schemes: Collection[str]) -> str:
    """A server's URL, if its scheme is one of these and its port is one; pydantic hears the ValueError."""
    if value and (value.partition("://")[0] not in schemes or urlsplit(value).port == 0):
        raise ValueError("URL")
    if value.startswith(("http:", "https:")) and not urlsplit(value).hostname:
        raise ValueError("host")
    return value


def without_user(value: str) -> str:
    """A URL or host, if it names no user: what is shown to anybody has no place for a password."""
    if "@" in value.partition("://")[2 if "://" in value else 0].partition("/")[0]:
        raise ValueError("user")
    return value
