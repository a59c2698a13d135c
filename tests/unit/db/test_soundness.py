"""Damage in a SQLite file is found before anything is written into it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.db.soundness import Look, looked_through, require_sound
from crawler.errors import IntegrityError

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of many pages, in the mode that ours have."""
    path = tmp_path / "a 100% ?file.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE things (n INTEGER PRIMARY KEY, text TEXT)")
        db.execute("CREATE INDEX by_text ON things (text)")
        db.executemany("INSERT INTO things (text) VALUES (?)", [(f"{n:x}" * 50,) for n in range(3000)])
        db.commit()
    return path


def test_a_sound_file_is_sound(path: Path) -> None:
    """While others write, too."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO things (text) VALUES ('x')")
        assert looked_through(path) == Look()
    require_sound(path)


def test_a_page_that_was_overwritten_is_found(path: Path) -> None:
    """Nothing of its schema is touched: only who reads that page would find out."""
    content = bytearray(path.read_bytes())
    content[20 * PAGE : 21 * PAGE] = b"\xa5" * PAGE
    path.write_bytes(content)
    assert looked_through(path).damage
    with pytest.raises(IntegrityError, match="is damaged"):
        require_sound(path)


def test_a_look_has_its_time(path: Path) -> None:
    """A file too large for that is not called damaged."""
    assert looked_through(path, 0) == Look(is_whole=False)


def test_what_is_no_database_is_damage(path: Path) -> None:
    """As after a disk that wrote something else."""
    path.write_bytes(b"x" * PAGE)
    assert "not a database" in looked_through(path).damage
