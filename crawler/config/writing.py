"""One setting written into the project's `.env`; every other line stays as it is."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from crawler.config.loading import load_settings
from crawler.config.place import ENV_FILE, project_folder
from crawler.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def write_setting(name: str, value: str) -> Path:
    """Write `NAME=value`, where it stood or at the end; the file that has it now.

    What the environment says wins over the file, so that it is refused there; a value that the setting does
    not take is, too.
    """
    load_settings({name: value})
    path = (project_folder() / ENV_FILE).resolve()
    if said := next((each for given, each in os.environ.items() if given.upper() == name and each), None):
        raise ConfigError(
            f"the environment says {name}={said}, which wins over {path}",
            hint=f"set it there, or unset it: {name}={value}",
        )
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        _replace(path, _with(text, name, value))
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no UTF-8 text", hint="each of its lines is NAME=VALUE") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint=f"{name}={value}") from None
    return path


def _with(text: str, name: str, value: str) -> str:
    """The file's text with the setting in the place of the last line that says it, or behind all of them."""
    pattern = rf"^[ \t]*(?:export[ \t]+)?{re.escape(name)}[ \t]*=.*$"
    says_it = re.compile(pattern, re.MULTILINE | re.IGNORECASE)
    line = f"{name}={value}"
    if found := list(says_it.finditer(text)):
        return text[: found[-1].start()] + line + text[found[-1].end() :]
    return (f"{text.rstrip()}\n" if text.strip() else "") + line + "\n"


def _replace(path: Path, text: str) -> None:
    """The whole file or the old one; whose it is and who may read it stays as it was."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    model = (path if path.exists() else path.parent).stat()
    try:
        part.touch(mode=0o600)
        if os.geteuid() == 0:  # else it is nobody else's anyway
            os.chown(part, model.st_uid, model.st_gid)
        if path.exists():
            part.chmod(stat.S_IMODE(model.st_mode))
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
