"""Transactions keep the same promises on SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from crawler.db.engine import Database, DatabaseUnavailableError
from crawler.db.models import Batch, CrawlLog, DomainGate
from crawler.db.revisions import upgrade
from crawler.errors import ConfigError
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
# Counts up in a row that it reads first, as a store does; run by several processes at once.
COUNT_UP = """
import sys
from crawler.db.engine import Database
from crawler.db.models import DomainGate
database = Database(sys.argv[1])
for _ in range(25):
    with database.write() as session:
        row = session.get_one(DomainGate, "a.example", with_for_update=True)
        row.token = str(int(row.token) + 1)
"""


def gate_named(database: Database, domain: str) -> DomainGate | None:
    """What another transaction sees."""
    with database.read() as session:
        return session.get(DomainGate, domain)


def test_a_write_is_committed_at_its_end(database: Database) -> None:
    """And what was read stays usable after the transaction."""
    with database.write() as session:
        session.add(DomainGate(domain="a.example", token="t"))
    found = gate_named(database, "a.example")
    assert found
    assert found.token == "t"


def test_an_error_takes_everything_back(database: Database) -> None:
    """Half a change is no change."""
    half = [DomainGate(domain="a.example"), Batch(source="s", created_at=None)]
    with pytest.raises(IntegrityError), database.write() as session:
        session.add_all(half)
    assert gate_named(database, "a.example") is None


def test_reading_changes_nothing(database: Database) -> None:
    """A read that writes by mistake is not committed."""
    with database.read() as session:
        session.add(DomainGate(domain="a.example"))
        session.flush()
    assert gate_named(database, "a.example") is None


def test_foreign_keys_are_on(database: Database) -> None:
    """A log line without its session is refused by the database itself."""
    line = CrawlLog(session_id=uuid4(), timestamp=NOON, level="info", event_type="e", message="", details={})
    with pytest.raises(IntegrityError), database.write() as session:
        session.add(line)


def test_the_clock_is_the_stores(database: Database) -> None:
    """Aware, one moment within a transaction, and a later one in the next."""
    with database.read() as db:
        first, second = db.now, db.now
    with database.write() as db:
        later = db.now
    assert first.utcoffset() == timedelta(0)
    assert first == second < later
    assert abs(first - datetime.now(UTC)) < timedelta(minutes=1)


def test_the_time_is_that_after_a_wait(database: Database) -> None:
    """A writer that had to wait for another one does not take decisions by a time from before."""
    with database.write() as db:
        db.add(DomainGate(domain="a.example"))
    told: list[datetime] = []

    def write() -> None:
        with database.write() as db:
            db.get_one(DomainGate, "a.example", with_for_update=True)
            told.append(db.now)

    with database.write() as db:
        db.get_one(DomainGate, "a.example", with_for_update=True)
        writer = threading.Thread(target=write)
        writer.start()
        writer.join(0.3)
        let_go = datetime.now(UTC)
    writer.join(PATIENCE_SECONDS)
    assert told[0] >= let_go


def test_no_count_is_lost_between_processes(database: Database, database_url: str) -> None:
    """Writers that read first wait for each other, and none fails."""
    with database.write() as session:
        session.add(DomainGate(domain="a.example", token="0"))
    writers = [subprocess.Popen([sys.executable, "-c", COUNT_UP, database_url]) for _ in range(2)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    found = gate_named(database, "a.example")
    assert found
    assert found.token == "50"


def test_a_server_that_is_away_is_one_line() -> None:
    """With the address and what helps, and without the password."""
    database = Database("postgresql://vitrine:geheim@127.0.0.1:1/vitrine")
    with pytest.raises(DatabaseUnavailableError) as caught, database.read() as session:
        session.execute(text("SELECT 1"))
    message = str(caught.value)
    assert message.startswith("the database at postgresql://vitrine:***@127.0.0.1:1/vitrine does not serve: ")
    assert "\n" not in message
    assert "geheim" not in message
    assert "DATABASE_URL" in caught.value.hint
    assert "geheim" not in database.shown


@pytest.mark.parametrize("code", ["57P01", "57P02", "57P03"])
def test_a_server_that_says_it_ends_is_away(postgres_url: str, code: str) -> None:
    """Although the connection may look open for a moment; nothing is tried on it any more."""
    database = Database(postgres_url)
    ending = text(f"DO $$ BEGIN RAISE EXCEPTION 'ending' USING ERRCODE = '{code}'; END $$")
    with database.read() as db:
        process = db.scalar(text("SELECT pg_backend_pid()"))
    with pytest.raises(DatabaseUnavailableError, match="ending"), database.write() as db:
        db.execute(ending)
    with database.read() as db:
        assert db.scalar(text("SELECT pg_backend_pid()")) != process
    database.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    """Several processes share the database, so it needs a file."""
    with pytest.raises(ConfigError, match="names no file"):
        Database(url)


def test_what_is_no_url_is_refused() -> None:
    """Without repeating a password in it."""
    with pytest.raises(ConfigError, match=r"it is not a database URL") as caught:
        Database("postgresql//u:geheim@host")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("transaction", ["read", "write"])
def test_a_file_that_cannot_be_made_is_one_line(tmp_path: Path, transaction: str) -> None:
    """It names the path that is in the way."""
    (tmp_path / "file").touch()
    database = Database(f"sqlite:///{tmp_path}/file/vitrine.db")
    with (
        pytest.raises(DatabaseUnavailableError, match=r"cannot be used: .*file") as caught,
        getattr(database, transaction)() as session,
    ):
        session.execute(text("SELECT 1"))
    assert "VITRINE_HOME" in caught.value.hint


def test_a_new_file_may_be_opened_by_several_at_once(tmp_path: Path) -> None:
    """Each switches it to SQLite's log, which SQLite refuses to some of them now and then."""
    together = threading.Barrier(3)

    def open_each() -> list[str]:
        for number in range(100):
            database = Database(f"sqlite:///{tmp_path / str(number)}.db")
            together.wait(PATIENCE_SECONDS)
            try:
                with database.read() as db:
                    db.scalar(select(1))
            except DatabaseUnavailableError as error:
                together.abort()
                return [str(error)]
            finally:
                database.close()
        return []

    with ThreadPoolExecutor() as pool:
        assert [each.result() for each in [pool.submit(open_each) for _ in range(3)]] == [[], [], []]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_file_that_was_replaced_or_removed_is_written_to_no_more(
    tmp_path: Path, *, is_replaced: bool
) -> None:
    """What is written to a file without a name is lost; whoever starts anew has the one that is there."""
    path = tmp_path / "vitrine.db"
    database = Database(f"sqlite:///{path}")
    upgrade(database)
    with database.write() as db:
        db.add(DomainGate(domain="before.example"))
    saved = tmp_path / "saved.db"
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(saved)) as two:
        one.backup(two)
    if is_replaced:
        saved.rename(path)
    else:
        path.unlink()
    for begin in (database.read, database.write):
        with (
            pytest.raises(DatabaseUnavailableError, match="was removed or replaced while it was in use"),
            begin(),
        ):
            pytest.fail("it was begun")
    database.close()
    assert path.exists() is is_replaced
    if is_replaced:
        again = Database(f"sqlite:///{path}")
        with again.read() as db:
            assert list(db.scalars(select(DomainGate.domain))) == ["before.example"]
        again.close()


def test_a_refused_password_is_not_told(postgres_url: str) -> None:
    """Neither the server's answer nor ours repeats it."""
    database = Database(postgres_url.replace("/postgres", "/nowhere?password=geheim"))
    with pytest.raises(DatabaseUnavailableError, match="nowhere") as caught, database.write() as session:
        session.execute(text("SELECT 1"))
    assert "geheim" not in str(caught.value)
