"""A copy of a SQLite database that is in use, whole or not at all."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from crawler.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

_DATED = re.compile(r"vitrine-\d{8}T\d{6}Z\.db")
_UNFINISHED = re.compile(rf"\.{_DATED.pattern}\.part(-journal)?")
LONGEST_SECONDS = 86_400.0  # whoever has not written for so long is dead


class BackupError(UsageError):
    """That cannot be copied, or not to that place."""

    code = "backup"


def back_up(source: Path, target: Path) -> int:
    """Copy what is committed at this moment, while others go on writing; how many bytes the copy has.

    The copy is written beside its name and looked through before it gets it. A missing folder is made.
    """
    if target.exists():
        raise BackupError(f"{target} is there already", hint="name a file that is not")
    _make_folder(target.parent)
    unfinished = target.with_name(f".{target.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        _remove_left_behind(target.parent)
        with closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as database:
            _copy(database, unfinished)
        os.link(unfinished, target)  # never over a file that has come in the meantime
    except FileExistsError:
        raise BackupError(f"{target} is there already", hint="name a file that is not") from None
    except (OSError, sqlite3.Error) as error:
        raise BackupError(
            f"{target} cannot be written: {error}", hint="is the folder there, and is there room?"
        ) from None
    finally:
        unfinished.unlink(missing_ok=True)
    return target.stat().st_size


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BackupError(f"the folder {folder} cannot be made: {error.strerror}") from None


def dated(folder: Path, now: datetime) -> Path:
    """The name of a copy that is made at that time."""
    return folder / f"vitrine-{now:%Y%m%dT%H%M%SZ}.db"


def thin_out(folder: Path, keep: int) -> list[Path]:
    """Remove the oldest of the dated copies beyond so many, and nothing else; those that are gone."""
    copies = sorted(path for path in folder.iterdir() if _DATED.fullmatch(path.name))
    gone = copies[:-keep]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def _remove_left_behind(folder: Path) -> None:
    """Remove what copies left that were killed; each has a name of its own, and as much as a database."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # whoever made it has just finished
            if _UNFINISHED.fullmatch(path.name) and path.stat().st_mtime < time.time() - LONGEST_SECONDS:
                path.unlink()


def _copy(database: sqlite3.Connection, path: Path) -> None:
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path)) as copy:
        database.backup(copy)  # in one step: others may write, and none of it gets in
        [(found,)] = copy.execute("PRAGMA integrity_check(1)")
    if found != "ok":
        raise sqlite3.DatabaseError(f"the copy is damaged: {found}")
    with path.open("rb") as file:
        os.fsync(file.fileno())
