"""A database that is in use is copied whole, or not at all."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.db.backup import BackupError, back_up, dated, thin_out

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A database with pairs of rows, each pair written at once."""
    path = tmp_path / "a 100% ?source.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE pairs (n INTEGER)")
        db.executemany("INSERT INTO pairs VALUES (?)", [(0,), (0,)])
        db.commit()
    return path


def test_a_copy_is_of_one_moment(source: Path, tmp_path: Path) -> None:
    """Somebody goes on writing pairs meanwhile; none is torn apart."""
    written, stop = threading.Event(), threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(source, timeout=60)) as db:
            count = 0
            while not stop.is_set():
                count += 1
                db.executemany("INSERT INTO pairs VALUES (?)", [(count,)] * 200)
                db.commit()
                written.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(60)
        for number in range(5):
            assert back_up(source, tmp_path / f"{number}.db") == (tmp_path / f"{number}.db").stat().st_size
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        with closing(sqlite3.connect(tmp_path / f"{number}.db")) as db:
            [(last, first)] = db.execute("SELECT count(*) % 200, min(n) FROM pairs")
        assert (last, first) == (2, 0)
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_nothing_is_written_over(source: Path, tmp_path: Path) -> None:
    """Nor is anything left of a copy that failed."""
    target = tmp_path / "there.db"
    target.write_text("mine")
    with pytest.raises(BackupError, match="is there already"):
        back_up(source, target)
    assert target.read_text() == "mine"
    with pytest.raises(BackupError, match="cannot be made"):
        back_up(source, target / "copy.db")


def test_what_is_no_database_is_not_copied(tmp_path: Path) -> None:
    """One line instead of a copy that cannot be read."""
    source = tmp_path / "page.html"
    source.write_text("<html>" * 1000)
    with pytest.raises(BackupError, match="not a database"):
        back_up(source, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_what_killed_copies_left_goes_with_a_later_one(source: Path, tmp_path: Path) -> None:
    """A day later, as somebody may be at it; nothing else is touched."""
    folder = tmp_path / "copies"
    folder.mkdir()
    now = datetime.now(UTC)
    names = [
        f".{dated(folder, now - timedelta(days=days)).name}.part{end}"
        for days in (2, 0)
        for end in ("", "-journal")
    ]
    for name in [*names, ".other.db.part"]:
        (folder / name).touch()
    for name in [*names[:2], ".other.db.part"]:
        os.utime(folder / name, (0, 0))
    target = dated(folder, now + timedelta(seconds=1))
    back_up(source, target)
    assert {path.name for path in folder.iterdir()} == {*names[2:], ".other.db.part", target.name}


def test_only_the_newest_of_dated_copies_stay(tmp_path: Path) -> None:
    """And whatever else lies there."""
    first = datetime(2026, 5, 4, 2, 30, tzinfo=UTC)
    copies = [dated(tmp_path, first + timedelta(days=n)) for n in range(4)]
    assert copies[0].name == "vitrine-20260504T023000Z.db"
    others = [tmp_path / name for name in ("vitrine.db", "vitrine-20260504T023000Z.db.bak", "before.db")]
    for path in (*copies, *others):
        path.touch()
    assert thin_out(tmp_path, 2) == copies[:2]
    assert set(tmp_path.iterdir()) == {*copies[2:], *others}
    assert thin_out(tmp_path, 9) == []
