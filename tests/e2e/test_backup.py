"""Homes that are backed up, restored, moved and copied, and a store that belongs to one database."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
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

WEEK_SECONDS = 7 * 86_400
RECORDED = ("--max-pages", "4", "-s", "PAGE_STORE=warc", "-s", "DOWNLOAD_DELAY=0")


@pytest.fixture(scope="module")
def crawled(shops: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with a session, and a run that keeps its pages in WARC files and was stopped on its way."""
    home = Home(tmp_path_factory.mktemp("crawled") / "home")
    assert [each["status"] for each in home.crawl(shops.url("plain"))] == ["completed"]
    home.vitrine("crawl", "site", shops.url("plain"), *RECORDED, "-s", "CLOSESPIDER_PAGECOUNT=2")
    assert warcs(home)
    return home


@pytest.fixture
def home(crawled: Home, tmp_path: Path) -> Home:
    """A copy of it, of the test's own."""
    return Home(shutil.copytree(crawled.path, tmp_path / "home"))


def warcs(home: Home) -> dict[str, bytes]:
    """All WARC files of a home, and what is in them."""
    return {path.name: path.read_bytes() for path in home.path.rglob("*.warc.gz")}


def folders_of_warcs(home: Home) -> set[str]:
    """The folders in which rows say that WARC files are."""
    done = home.vitrine("warcs", "list", "--json")
    assert done.returncode == 0, done.stderr
    return {each["path"].rpartition("/")[0] for each in json.loads(done.stdout)["files"]}


def backed_up(home: Home, tmp_path: Path) -> Path:
    """A copy of its database."""
    copy = tmp_path / "copy.db"
    assert home.vitrine("db", "backup", str(copy)).returncode == 0
    return copy


def require_whole(home: Home) -> None:
    """Every file of a row is there, and undamaged."""
    done = home.vitrine("artifacts", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " pages in WARC files: 0 damaged" in done.stdout + done.stderr


def require_other_store(home: Home, *command: str) -> None:
    """A command ends with 6 and the way out, as the store is another database's."""
    done = home.vitrine(*command)
    assert done.returncode == 6, done.stderr
    assert "error[other_store]" in done.stderr
    assert "vitrine artifacts adopt" in done.stderr


def test_what_was_lost_comes_back(home: Home, tmp_path: Path) -> None:
    """By the handbook's lines, sessions and pages in WARC files alike; a changed byte is found."""
    before, sessions, recorded = home.files(), home.sessions(), warcs(home)
    backup = tmp_path / "backup"
    backup.mkdir()
    run_lines(home, block("Backup and restore", 0), backup)
    shutil.rmtree(home.path)
    home.path.mkdir()
    run_lines(home, block("Backup and restore", 1), backup)
    assert home.files() == before
    assert warcs(home) == recorded
    assert home.sessions() == sessions
    with closing(sqlite3.connect(home.path / "vitrine.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    changed = next(home.artifacts / name for name in before if name.endswith(".gz"))
    changed.write_bytes(changed.read_bytes()[:-1] + b"?")
    verified = home.vitrine("artifacts", "verify", "--json")
    assert verified.returncode == 6
    assert changed.name in json.dumps(json.loads(verified.stdout))


def test_a_database_that_is_open_is_not_replaced(home: Home, tmp_path: Path) -> None:
    """Whoever has it open goes on unharmed, and the restore ends with 5 and says what to do."""
    copy, database = backed_up(home, tmp_path), home.path / "vitrine.db"
    restore = ("-m", "crawler.cli", "db", "restore", str(copy))  # locks are between processes
    before = database.stat().st_ino
    with closing(sqlite3.connect(database)) as reader:
        reader.execute("SELECT count(*) FROM sessions").fetchall()
        refused = home.python(*restore)
        assert (refused.returncode, "is in use" in refused.stderr) == (5, True), refused.stderr
        assert "stop what crawls, works and serves" in refused.stderr
        reader.execute("SELECT count(*) FROM sessions").fetchall()
    assert database.stat().st_ino == before
    assert home.python(*restore).returncode == 0
    assert database.stat().st_ino != before
    assert [path.name for path in home.path.iterdir() if "restore" in path.name] == []


def test_what_a_killed_crawl_left_does_not_get_into_the_copy(home: Home, tmp_path: Path) -> None:
    """Its write-ahead log is put aside with the former database."""
    copy, before = backed_up(home, tmp_path), home.sessions()
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


@pytest.mark.parametrize("what", ["missing", "noise", "cut", "foreign", "newer"])
def test_only_a_sound_copy_of_ours_is_put_back(home: Home, tmp_path: Path, what: str) -> None:
    """Else the error is a line, and the database stays as it is."""
    copy = tmp_path / "copy.db"
    if what == "noise":
        copy.write_bytes(b"noise" * 1000)
    elif what == "foreign":
        with closing(sqlite3.connect(copy)) as db:
            db.execute("CREATE TABLE songs (name)")
    elif what != "missing":
        backed_up(home, tmp_path)
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
    assert (home.path / "vitrine.db").read_bytes() == before


@pytest.mark.soak
def test_sqlite_moves_to_postgresql(
    home: Home, shops: DemoServer, tmp_path: Path, postgres_database: str
) -> None:
    """As the handbook has it: all rows, their digests, what is searched; and new rows come behind them."""
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
    assert moved.vitrine("crawl", "site", shops.url("hub"), *RECORDED).returncode == 0
    assert moved.vitrine("cleanup").returncode == 0
    assert files < moved.files()
    require_other_store(home, "cleanup")


def test_a_moved_home_has_its_captures(home: Home, tmp_path: Path) -> None:
    """They are read, verified, and found where they are now."""
    moved = Home(home.path.rename(tmp_path / "moved"))
    require_whole(moved)
    assert folders_of_warcs(moved) == {str(moved.path / "warcs")}
    assert not home.path.exists()
    (tmp_path / "link").symlink_to(moved.path)  # which is no move
    link = Home(tmp_path / "link")
    require_whole(link)
    assert folders_of_warcs(link) == {str(moved.path / "warcs")}


@pytest.mark.soak
def test_a_run_goes_on_in_a_moved_home(home: Home, tmp_path: Path) -> None:
    """What it keeps now lies beside what it kept before."""
    moved = Home(home.path.rename(tmp_path / "moved"))
    done = moved.vitrine("runs", "resume", "1")
    assert done.returncode == 0, done.stderr
    assert folders_of_warcs(moved) == {str(moved.path / "warcs")}
    assert not home.path.exists()


def test_a_purge_in_a_copy_leaves_the_original_alone(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """What is purged in the copy is gone there, and there alone."""
    before = warcs(home)
    copy = Home(shutil.copytree(home.path, tmp_path / "copy"))
    done = copy.vitrine("purge", "--domain", shops.domain("plain"), "--yes")
    assert done.returncode == 0, done.stderr
    assert warcs(copy) == {}
    assert warcs(home) == before
    require_whole(home)


def test_a_copy_that_is_restored_elsewhere_has_the_files_beside_it(home: Home, tmp_path: Path) -> None:
    """The restored database names the files of its own home."""
    second = Home(tmp_path / "second")
    done = second.vitrine("db", "restore", str(backed_up(home, tmp_path)))
    assert done.returncode == 0, done.stderr
    for folder in ("warcs", "artifacts"):
        shutil.copytree(home.path / folder, second.path / folder)
    shutil.rmtree(home.path)
    require_whole(second)
    assert folders_of_warcs(second) == {str(second.path / "warcs")}


def test_a_tried_restore_does_not_clean_up_in_the_original_store(home: Home, tmp_path: Path) -> None:
    """A copy that is restored elsewhere with the same ARTIFACTS_DIR is refused until it adopts the store."""
    trial = Home(tmp_path / "trial", {"ARTIFACTS_DIR": str(home.artifacts)})
    trial.path.mkdir()
    assert trial.vitrine("db", "restore", str(backed_up(home, tmp_path))).returncode == 0
    require_other_store(trial, "cleanup")
    assert home.vitrine("cleanup").returncode == 0


@pytest.fixture
def other(home: Home) -> Home:
    """The same home with another, empty database, and files that are a week old."""
    long_ago = time.time() - WEEK_SECONDS
    for path in home.artifacts.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    second = Home(home.path, {"DATABASE_URL": f"sqlite:///{home.path / 'second.db'}"})
    assert second.vitrine("db", "upgrade").returncode == 0
    return second


def test_an_empty_database_is_refused_the_store_of_another(home: Home, other: Home) -> None:
    """Whatever would write there; nothing goes, and the first one works on."""
    before = home.files()
    for command in (("cleanup",), ("cleanup", "--dry-run"), ("retention", "orphans", "--delete")):
        require_other_store(other, *command)
        assert home.files() == before != set()
    assert home.vitrine("cleanup").returncode == 0


@pytest.mark.soak
@pytest.mark.parametrize("spider", ["pdp", "site"])
def test_a_crawl_is_refused_the_store_of_another_database(other: Home, spider: str) -> None:
    """Before anything is asked for."""
    require_other_store(other, "crawl", spider, "https://shop.example/")


def test_a_store_that_was_adopted_loses_no_file_of_its_other_database(home: Home, other: Home) -> None:
    """The files have no rows there, and are older than a day; the first database is refused from now on."""
    before = home.files()
    assert other.vitrine("artifacts", "adopt").returncode == 0
    done = other.vitrine("cleanup", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unclaimed"] == 0
    assert home.files() == before
    require_other_store(home, "cleanup")
    assert home.vitrine("artifacts", "adopt").returncode == 0
    require_whole(home)


def test_a_file_without_a_row_is_announced_counted_and_on_record(home: Home) -> None:
    """The dry run names it, the cleanup counts it, and the audit log has it."""
    with closing(home.database()) as database, database.write() as db:
        # the store has been this database's for longer than the file is old
        db.connection().exec_driver_sql("UPDATE store_marks SET created_at = '2020-01-01 00:00:00.000000'")
    lost = home.artifacts / "plain" / "lost.html.gz"
    lost.parent.mkdir()
    lost.write_bytes(b"a page")
    os.utime(lost, (time.time() - WEEK_SECONDS,) * 2)
    planned = json.loads(home.vitrine("cleanup", "--dry-run", "--json").stdout)
    assert planned["unclaimed"] == 1
    assert planned["unclaimed_files"] == [{"storage_uri": "plain/lost.html.gz", "size_bytes": 6}]
    assert "file without a row would go: plain/lost.html.gz" in home.vitrine("cleanup", "--dry-run").stdout
    assert lost.exists()
    done = json.loads(home.vitrine("cleanup", "--json").stdout)
    assert (done["unclaimed"], done["reclaimed_bytes"], lost.exists()) == (1, 6, False)
    with closing(home.database()) as database, database.read() as db:
        details = db.connection().exec_driver_sql("SELECT details FROM audit_log").scalars().all()
    assert any('"unclaimed_files": 1' in each for each in details)
