"""Room kept beside a SQLite database, so that rows can still be deleted when its disk is full.

A deletion is first written to the write-ahead log, which needs room. A file of a fixed size holds that room
until a command that deletes asks for it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from crawler.db.engine import sqlite_file

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

RESERVE_BYTES = 16 * 1024 * 1024
LEFT_FREE_BYTES = 512 * 1024  # SQLite needs some room even to read


def keep_reserve(url: str) -> None:
    """Allocate the reserve beside a SQLite database; where room is short, as much of it as there is."""
    if (file := _reserve_of(url)) is None:
        return
    with suppress(OSError):  # without room there is none; the next command tries again
        has = file.stat().st_size if file.exists() else 0
        size = min(RESERVE_BYTES, has + shutil.disk_usage(file.parent).free - LEFT_FREE_BYTES)
        if size > has:
            with file.open("ab") as opened:
                os.posix_fallocate(opened.fileno(), 0, size)


@contextmanager
def room_to_delete(url: str) -> Generator[None]:
    """Delete the reserve of a SQLite database whose disk is full, and allocate it again at the end.

    The database must not be open at the end, since its log takes room until it is closed.
    """
    file = _reserve_of(url)
    if file is not None and file.exists() and shutil.disk_usage(file.parent).free < RESERVE_BYTES:
        file.unlink(missing_ok=True)
    try:
        yield
    finally:
        keep_reserve(url)


def _reserve_of(url: str) -> Path | None:
    file = sqlite_file(url)
    if file is None or not file.parent.is_dir():
        return None
    return file.with_name(f"{file.name}.reserve")
