"""Read the settings, turn what is wrong with them into one line, and describe them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, get_args

from attrs import frozen
from pydantic import SecretStr, ValidationError

from crawler.config.place import ProjectEnvFile, env_file
from crawler.config.settings import Settings
from crawler.config.values import Takes
from crawler.errors import ConfigError
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic.fields import FieldInfo


# Variables whose names mean something else to Scrapy, such as where feeds go: ours are those of environment
# and `.env` alone.
SCRAPYS_NAMES = frozenset(
    {"log_format", "aws_endpoint_url", "aws_region", "aws_access_key_id", "aws_secret_access_key"}
)
# The variable in which a command hands the settings of its command line to the crawl that it starts, as JSON.
CRAWL_ORDER = "VITRINE_CRAWL_ORDER"


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
    except UnicodeDecodeError:
        raise ConfigError(f"{env_file()} is no UTF-8 text", hint="each of its lines is NAME=VALUE") from None
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be read: {error.strerror}") from None


def unknown_settings() -> dict[str, str]:
    """The names in `.env` that are no settings, each with the one that may be meant."""
    return ProjectEnvFile(Settings).unknown()


@frozen
class ShellSettings:
    """What the environment says otherwise than `.env`, or in its place."""

    told: dict[str, str]  # which may stand in a file that others read
    untold: tuple[str, ...]  # the names of what is secret, or more than a line


def shell_settings(environment: Mapping[str, str] = os.environ) -> ShellSettings:
    """What a program that is called from elsewhere would not know of the settings that hold here."""
    written = ProjectEnvFile(Settings).env_vars
    names = {name: value for name, value in environment.items() if name.lower() in Settings.model_fields}
    here = {name.upper(): value for name, value in names.items() if written.get(name.lower()) != value}
    told = {name: value for name, value in sorted(here.items()) if _may_be_shown(name, value)}
    return ShellSettings(told, tuple(sorted(here.keys() - told.keys())))


def _may_be_shown(name: str, value: str) -> bool:
    is_secret = Settings.model_fields[name.lower()].annotation is SecretStr
    return not is_secret and redact(value) == value and value.isprintable()


def load_settings_from(source: Mapping[Any, Any]) -> Settings:
    """Read the settings out of Scrapy's, where the command line may have changed them."""
    named = ((name, source.get(name.upper())) for name in Settings.model_fields if name not in SCRAPYS_NAMES)
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
    for said in field.metadata:
        if isinstance(said, Takes):
            return said.words
    if field.annotation is bool:
        return "true or false"
    if field.annotation is int:
        return _number_range(field)
    return "one of " + ", ".join(get_args(field.annotation))


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
    is_secret = Settings.model_fields[name].annotation is SecretStr
    given = "something else" if is_secret else repr(redact(_as_text(first["input"])))
    return ConfigError(
        f"{name.upper()} is {given}; it takes {takes(name)}",
        hint=f"the default is {_shown_default(Settings.model_fields[name]) or 'empty'}; see docs/settings.md",
    )
