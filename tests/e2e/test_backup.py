"""Backup and restore as the handbook has them, line by line; the digests prove what came back."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from crawler.db.engine import Database
from tests.e2e.conftest import Home
from tests.e2e.handbook import block, run_lines

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer


def recorded_run_of(shops: DemoServer) -> tuple[str, ...]:
    """The command for a short run that keeps its pages in WARC files."""
    settings = ("-s", "PAGE_STORE=warc", "-s", "DOWNLOAD_DELAY=0")
    return ("crawl", "site", shops.url("hub"), "--max-pages", "3", *settings)


def test_what_was_lost_comes_back(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Sessions and a run that keeps its pages in WARC files; a changed byte is found."""
    assert [each["status"] for each in home.crawl(shops.url("plain"))] == ["completed"]
    site = home.vitrine(*recorded_run_of(shops))
    assert site.returncode == 0, site.stderr
    before, sessions = home.files(), home.sessions()
    recorded = sorted(path.name for path in home.path.rglob("*.warc.gz"))
    assert before
    assert recorded
    backup = tmp_path / "backup"
    backup.mkdir()
    run_lines(home, block("Backup and restore", 0), backup)

    for each in home.path.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()
    run_lines(home, block("Backup and restore", 1), backup)
    assert home.files() == before
    assert sorted(path.name for path in home.path.rglob("*.warc.gz")) == recorded
    assert home.sessions() == sessions
    with closing(sqlite3.connect(home.path / "vitrine.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    run_lines(home, block("Backup and restore", 1), backup)  # in place of the database that is there now
    assert home.sessions() == sessions
    [former] = home.path.glob("vitrine.db.replaced-*")
    with closing(sqlite3.connect(former)) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchall() == [(len(sessions),)]

    changed = next(home.artifacts / name for name in before if name.endswith(".gz"))
    changed.write_bytes(changed.read_bytes()[:-1] + b"?")
    verified = home.vitrine("artifacts", "verify", "--json")
    assert verified.returncode == 6
    assert changed.name in json.dumps(json.loads(verified.stdout))


@pytest.mark.soak(minutes=10)
def test_a_database_that_is_open_is_not_replaced(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Whoever has it open goes on unharmed, and the restore ends with 5 and says what to do."""
    home.crawl(shops.url("plain"))
    copy = tmp_path / "copy.db"
    assert home.vitrine("db", "backup", str(copy)).returncode == 0
    before = (home.path / "vitrine.db").stat().st_ino
    with closing(sqlite3.connect(home.path / "vitrine.db")) as reader:
        reader.execute("SELECT count(*) FROM sessions").fetchall()
        refused = home.vitrine("db", "restore", str(copy))
        assert (refused.returncode, "is in use" in refused.stderr) == (5, True), refused.stderr
        assert "stop what crawls, works and serves" in refused.stderr
        reader.execute("SELECT count(*) FROM sessions").fetchall()
    assert (home.path / "vitrine.db").stat().st_ino == before
    assert home.vitrine("db", "restore", str(copy)).returncode == 0
    assert (home.path / "vitrine.db").stat().st_ino != before
    assert [path.name for path in home.path.iterdir() if "restore" in path.name] == []


@pytest.mark.soak(minutes=10)
def test_what_a_killed_crawl_left_does_not_get_into_the_copy(
    home: Home, shops: DemoServer, tmp_path: Path
) -> None:
    """Its write-ahead log is put aside with the former database."""
    home.crawl(shops.url("plain"))
    copy = tmp_path / "copy.db"
    home.vitrine("db", "backup", str(copy))
    before = home.sessions()
    writing = (
        "import os, sqlite3; db = sqlite3.connect('vitrine.db'); db.execute('PRAGMA wal_autocheckpoint=0');"
        "db.execute('UPDATE sessions SET domain = 1'); db.commit(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", writing], cwd=home.path, check=False)
    assert (home.path / "vitrine.db-wal").stat().st_size
    assert home.vitrine("db", "restore", str(copy)).returncode == 0
    assert home.sessions() == before
    [former] = home.path.glob("vitrine.db.replaced-*Z")
    with closing(sqlite3.connect(former)) as db:
        assert db.execute("SELECT DISTINCT domain FROM sessions").fetchall() == [("1",)]


@pytest.mark.soak(minutes=10)
@pytest.mark.parametrize("what", ["missing", "noise", "cut", "foreign", "newer"])
def test_only_a_sound_copy_of_ours_is_put_back(
    home: Home, shops: DemoServer, tmp_path: Path, what: str
) -> None:
    """Else the error names the file, and the database stays as it is."""
    home.crawl(shops.url("plain"))
    copy = tmp_path / "copy.db"
    if what == "noise":
        copy.write_bytes(b"noise" * 1000)
    elif what == "foreign":
        with closing(sqlite3.connect(copy)) as db:
            db.execute("CREATE TABLE songs (name)")
    elif what != "missing":
        assert home.vitrine("db", "backup", str(copy)).returncode == 0
    if what == "cut":
        copy.write_bytes(copy.read_bytes()[:100_000])
    if what == "newer":
        with closing(sqlite3.connect(copy)) as db:
            db.execute("UPDATE alembic_version SET version_num = '9999'")
            db.commit()
    before = (home.path / "vitrine.db").read_bytes()
    done = home.vitrine("db", "restore", str(copy))
    assert done.returncode == (6 if what in {"noise", "cut"} else 2), done.stderr
    assert done.stderr.startswith("error[")
    assert "Traceback" not in done.stderr
    assert (home.path / "vitrine.db").read_bytes() == before


def test_a_tried_restore_does_not_clean_up_in_the_original_store(
    home: Home, shops: DemoServer, tmp_path: Path
) -> None:
    """A copy that is restored elsewhere with the same ARTIFACTS_DIR is refused until it adopts the store."""
    home.crawl(shops.url("plain"))
    copy = tmp_path / "copy.db"
    home.vitrine("db", "backup", str(copy))
    trial = Home(tmp_path / "trial", {"ARTIFACTS_DIR": str(home.artifacts)})
    trial.path.mkdir()
    assert trial.vitrine("db", "restore", str(copy)).returncode == 0
    refused = trial.vitrine("cleanup")
    assert (refused.returncode, "error[other_store]" in refused.stderr) == (6, True)
    assert home.vitrine("cleanup").returncode == 0


@pytest.mark.soak(minutes=10)
def test_sqlite_moves_to_postgresql(
    home: Home, shops: DemoServer, tmp_path: Path, postgres_database: str
) -> None:
    """As the handbook has it: all rows, their digests, what is searched; and new rows come behind them."""
    home.crawl(shops.url("plain"))
    site = recorded_run_of(shops)
    assert home.vitrine(*site).returncode == 0
    assert home.vitrine("snapshots", "index").returncode == 0
    asked = (
        ("sessions", "list", "--json"), ("runs", "list", "--json"), ("listings", "list", "--json"),
        ("prices", "list", "--json"), ("artifacts", "list", "--json"), ("snapshots", "list", "--json"),
        ("search", "price", "--json"),
    )  # fmt: skip
    before = {each: json.loads(home.vitrine(*each).stdout) for each in asked}
    files = home.files()
    move = block("Backup and restore", 3)
    url = next(line for line in move.splitlines() if line.startswith("export DATABASE_URL="))
    with closing(Database(postgres_database)) as server, server.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    run_lines(home, move.replace(url, f"export DATABASE_URL={postgres_database}"), tmp_path)

    moved = Home(home.path, {"DATABASE_URL": postgres_database})
    assert {each: json.loads(moved.vitrine(*each).stdout) for each in asked} == before
    again = moved.vitrine("db", "restore", str(tmp_path / "before-move.db"))
    assert (again.returncode, "has rows already" in again.stderr) == (2, True)
    assert [each["status"] for each in moved.crawl(shops.url("plain"))] == ["completed"]
    assert moved.vitrine(*site).returncode == 0
    assert moved.vitrine("cleanup").returncode == 0
    assert files < moved.files()
    refused = home.vitrine("cleanup")
    assert (refused.returncode, "error[other_store]" in refused.stderr) == (6, True)
