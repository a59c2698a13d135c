"""The folder that settings start from: that of the project, wherever cron or a shell may stand."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_settings import DotEnvSettingsSource

from crawler import egg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_settings import BaseSettings

PROJECT_FILE = "scrapy.cfg"
ENV_FILE = ".env"
# What has a relative default; in `.env`, what may be given as a relative path.
DEFAULTS = {"vitrine_home": "var", "sources_file": "sources.toml"}
PATHS = (*DEFAULTS, "artifacts_dir", "archive_root", "warc_dir")
SQLITE = "sqlite:///"


def project_folder() -> Path:
    """Return the closest folder upwards that is a Scrapy project's, else the clone that this runs from.

    Installed without a clone, outside of any project, it is a folder of the user's own.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, egg.ORIGIN):
        if (folder / PROJECT_FILE).is_file():
            return folder
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "share") / "vitrine"


def env_file() -> Path:
    """The file that settings are read from beside the environment, whether it is there or not."""
    return project_folder() / ENV_FILE


def unread_env_file() -> Path | None:
    """A file of that name where one stands, which is another's: nobody reads it."""
    here = Path.cwd() / ENV_FILE
    return here if here != env_file() and here.is_file() else None


def defaults() -> dict[str, Any]:
    """Where things lie when nothing is said, as seen from another folder than the project's."""
    folder = project_folder()
    return {} if folder == Path.cwd() else {name: str(folder / path) for name, path in DEFAULTS.items()}


class ProjectEnvFile(DotEnvSettingsSource):
    """The project's `.env`; relative paths in it start from where it lies."""

    def __init__(self, settings_class: type[BaseSettings]) -> None:
        self.folder = project_folder()
        super().__init__(settings_class, env_file=self.folder / ENV_FILE)

    def __call__(self) -> dict[str, Any]:
        """Its values."""
        return {name: self._placed(name, value) for name, value in super().__call__().items()}

    def unknown(self) -> dict[str, str]:
        """The names in it that are no settings, each with the one that may be meant."""
        fields = self.settings_cls.model_fields
        names = [name for name in self.env_vars if name.lower() not in fields]
        return {name.upper(): _meant(name, fields) for name in sorted(names)}

    def _placed(self, name: str, value: Any) -> Any:
        if not isinstance(value, str) or self.folder == Path.cwd():
            return value
        if name in PATHS and "://" not in value:
            return str(self.folder / value)
        if name == "database_url" and value.startswith(SQLITE) and not value.startswith(SQLITE + "/"):
            return f"{SQLITE}{self.folder / value.removeprefix(SQLITE)}"
        return value


def _meant(name: str, fields: Mapping[str, Any]) -> str:
    return next(iter(get_close_matches(name.lower(), fields, n=1, cutoff=0.8)), "").upper()
