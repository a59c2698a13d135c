"""A database is at this program's revision, or the program says so and stops."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from crawler.db import migrations, revisions
from crawler.db.engine import Database
from crawler.db.models import Base
from crawler.errors import RevisionError
from tests.databases import fresh_database, set_revision

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

NEWER = "9999"
OPEN_FIRST = """
import sys
from crawler.db.engine import Database
from crawler.db.revisions import require_current, upgrade
database = Database(sys.argv[1])
(require_current if database.is_sqlite else upgrade)(database)
"""


@pytest.fixture
def empty(empty_database_url: str) -> Generator[Database]:
    """A database without any table."""
    database = Database(empty_database_url)
    yield database
    database.close()


def test_head_is_the_newest_script() -> None:
    """The constant spares each start the loading of Alembic; it must not lie."""
    [folder] = migrations.__path__
    assert ScriptDirectory(folder).get_current_head() == revisions.HEAD


def test_the_first_script_makes_what_a_new_database_has(tmp_path: Path) -> None:
    """An empty database may be brought up by the scripts, too."""
    database = Database(f"sqlite:///{tmp_path}/vitrine.db")
    with database.engine.begin() as connection, Operations.context(MigrationContext.configure(connection)):
        import_module(f"crawler.db.migrations.versions.{revisions.FIRST}_the_tables").upgrade()
        assert inspect(connection).has_table("sessions")
    database.close()


def test_a_server_and_a_file_have_the_same_tables(postgres_url: str, tmp_path: Path) -> None:
    """Whichever a process made first: what refers to what is there in both."""
    with fresh_database(postgres_url) as server_url:
        found = []
        for url in (server_url, f"sqlite:///{tmp_path}/vitrine.db"):
            database = Database(url)
            revisions.upgrade(database)
            look = inspect(database.engine)
            found.append(
                {
                    name: {(*each["constrained_columns"], each["referred_table"]) for each in keys}
                    for name in Base.metadata.tables
                    if (keys := look.get_foreign_keys(name))
                }
            )
            database.close()
        assert found[0] == found[1]


def test_several_processes_open_a_new_database(empty: Database, empty_database_url: str) -> None:
    """One makes the tables, the others wait for it; none fails."""
    openers = [subprocess.Popen([sys.executable, "-c", OPEN_FIRST, empty_database_url]) for _ in range(2)]
    assert [opener.wait(60) for opener in openers] == [0, 0]
    assert revisions.current(empty) == revisions.HEAD


def test_a_newer_database_is_refused(database: Database, database_url: str) -> None:
    """Whoever wrote it knows more than this program; nothing is touched."""
    set_revision(database_url, NEWER)
    for act in (revisions.require_current, revisions.upgrade):
        with pytest.raises(RevisionError, match=f"revision {NEWER}, newer than this program's") as caught:
            act(database)
        assert caught.value.exit_code == 2
        assert "update Vitrine" in caught.value.hint
    assert revisions.current(database) == NEWER


def test_a_database_of_before_the_first_release_is_refused(database: Database, database_url: str) -> None:
    """It is left as it is, and one line says what to do."""
    set_revision(database_url, "0025")
    for act in (revisions.require_current, revisions.upgrade):
        with pytest.raises(RevisionError, match="made before the first release") as caught:
            act(database)
        assert "name a new one" in caught.value.hint
    assert revisions.current(database) == "0025"


def test_a_server_without_tables_is_refused(postgres_url: str) -> None:
    """Upgrading what others use is somebody's decision; it is told which command."""
    database = Database(postgres_url)
    with pytest.raises(RevisionError, match=f"revision none, this program needs {revisions.HEAD}") as caught:
        revisions.require_current(database)
    database.close()
    assert (caught.value.exit_code, caught.value.hint) == (2, "run `vitrine db upgrade`")


def test_an_embedded_database_is_made_on_first_use(tmp_path: Path) -> None:
    """Nobody has to know that there are migrations."""
    database = Database(f"sqlite:///{tmp_path}/home/vitrine.db")
    revisions.require_current(database)
    assert revisions.current(database) == revisions.HEAD
    database.close()
