"""A database is at this program's revision, or the program says so and stops."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, inspect, select, text

from crawler.archive.groups import unpacked
from crawler.db import migrations, revisions
from crawler.db.engine import Database
from crawler.db.models import Base, LinkCount, Outlink, Task
from crawler.errors import RevisionError
from tests.databases import fresh_database, set_revision

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

NEWER = "9999"
# SQLite does not tell Alembic that an index of it runs downwards.
OF_ONE_DATABASE = ("text_words", "snapshot_grams")  # how tables and indexes begin that no model stands for
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


def index_shape(index: Any) -> tuple[Any, ...]:
    """An index with its condition, which SQLAlchemy gives as an object."""
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return index["name"], index["column_names"], bool(index["unique"]), options


def shape(database: Database) -> dict[str, Any]:
    """Everything that the database knows of its tables."""
    found = inspect(database.engine)
    return {
        table: {
            "columns": {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns(table)},
            "key": found.get_pk_constraint(table),
            "foreign": sorted(found.get_foreign_keys(table), key=lambda key: str(key["name"])),
            "indexes": sorted(
                index_shape(index)
                for index in found.get_indexes(table)
                if not str(index["name"]).startswith(OF_ONE_DATABASE)
            ),
            "unique": sorted(found.get_unique_constraints(table), key=lambda one: str(one["name"])),
            "checks": sorted((one["name"], one["sqltext"]) for one in found.get_check_constraints(table)),
        }
        for table in found.get_table_names()
        if table != "alembic_version"
    }  # fmt: skip


def test_head_is_the_newest_script() -> None:
    """The constant spares each start the loading of Alembic; it must not lie."""
    [folder] = migrations.__path__
    assert ScriptDirectory(folder).get_current_head() == revisions.HEAD


def test_a_new_database_has_the_very_same_tables(tmp_path: Path) -> None:
    """It is made from the models; scripts make the same, with all that the comparison above does not see."""
    made, migrated = (Database(f"sqlite:///{tmp_path}/{name}.db") for name in ("made", "migrated"))
    revisions.upgrade(made)
    revisions.migrate(migrated)
    ours, theirs = shape(made), shape(migrated)
    assert ours.keys() == theirs.keys()
    for table, parts in ours.items():
        for part, found in parts.items():
            assert found == theirs[table][part], f"{part} of {table}"
    assert revisions.current(made) == revisions.current(migrated) == revisions.HEAD
    made.close()
    migrated.close()


def test_scripts_make_the_very_same_tables_on_a_server(postgres_url: str) -> None:
    """As the models would have them: partial indexes, checks and cascades too."""
    with fresh_database(postgres_url) as made_url, fresh_database(postgres_url) as migrated_url:
        made, migrated = Database(made_url), Database(migrated_url)
        # A copy: making tables that refer to each other in a circle spoils the models for SQLite.
        models = MetaData(naming_convention=Base.metadata.naming_convention)
        for table in Base.metadata.tables.values():
            table.to_metadata(models)
        models.create_all(made.engine)
        revisions.migrate(migrated)
        tables = shape(migrated)
        of_its_own = [name for name in tables if name.startswith(OF_ONE_DATABASE)]
        assert [tables.pop(name)["key"]["constrained_columns"] for name in of_its_own] == [["text_id"]]
        assert shape(made) == tables
        made.close()
        migrated.close()


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


def test_an_older_server_is_refused(postgres_database: str) -> None:
    """Upgrading what others use is somebody's decision; it is told which command."""
    set_revision(postgres_database, "0000")
    database = Database(postgres_database)
    with pytest.raises(RevisionError, match=f"revision 0000, this program needs {revisions.HEAD}") as caught:
        revisions.require_current(database)
    database.close()
    assert (caught.value.exit_code, caught.value.hint) == (2, "run `vitrine db upgrade`")


def test_an_embedded_database_is_made_on_first_use(tmp_path: Path) -> None:
    """Nobody has to know that there are migrations."""
    database = Database(f"sqlite:///{tmp_path}/home/vitrine.db")
    revisions.require_current(database)
    assert revisions.current(database) == revisions.HEAD
    database.close()


def test_causes_are_taken_out_of_the_errors_that_are_stored(empty: Database) -> None:
    """Revision 0003: what an earlier program wrote as `cause: words` has a column for each."""
    before = {
        "timeout: took too long": ("timeout", "took too long"),
        "robots_refused: not: for you": ("robots_refused", "not: for you"),
        "filtered by domain rules": ("filtered", "filtered by domain rules"),
        "lease expired": ("lease_expired", "lease expired"),
        "odd: words": (None, "odd: words"),
        "stopped": (None, "stopped"),
    }
    revisions.migrate(empty, "0002")
    with empty.engine.begin() as connection:
        connection.execute(text("INSERT INTO runs (id, source, status, plan, planned, created_at) "
                                "VALUES (1, 'shop', 'stopped', '{}', 0, '2026-05-04 12:00:00')"))  # fmt: skip
        for number, error in enumerate(before):
            connection.execute(
                text("INSERT INTO tasks (run_id, domain, url, url_sha256, kind, depth, created_at, status, "
                     "priority, attempts, next_run_at, lease_epoch, last_error, updated_at) "
                     "VALUES (1, 'shop.example', 'https://shop.example/', :digest, 'page', 0, :at, 'error', "
                     "0, 1, :at, 1, :error, :at)"),
                {"digest": str(number), "error": error, "at": "2026-05-04 12:00:00"},
            )  # fmt: skip
    revisions.upgrade(empty)
    with empty.read() as db:
        found = db.execute(select(Task.cause, Task.last_error).order_by(Task.id)).all()
    assert [tuple(row) for row in found] == list(before.values())


def test_links_are_packed_and_counted(empty: Database) -> None:
    """Revision 0016: what was a row for each link is a row for each page, and how many lead there."""
    revisions.migrate(empty, "0015")
    at = "2026-05-04 12:00:00"
    with empty.engine.begin() as connection:
        connection.execute(text("INSERT INTO sources (id, code, name, enabled, created_at, updated_at) "
                                "VALUES (1, 'shop', 'shop', true, :at, :at)"), {"at": at})  # fmt: skip
        for group in (1, 2):
            connection.execute(
                text("INSERT INTO page_groups (id, source_id, group_key, snapshot_count, inlink_count, "
                     "outlink_count) VALUES (:id, 1, :key, 0, 0, 0)"), {"id": group, "key": f"/{group}"},
            )  # fmt: skip
        for group, target in ((1, 2**63 - 1), (1, -5), (2, -5)):
            connection.execute(text("INSERT INTO outlinks VALUES (:group, :target)"),
                               {"group": group, "target": target})  # fmt: skip
    revisions.upgrade(empty)
    with empty.read() as db:
        packed = db.execute(select(Outlink.group_id, Outlink.targets).order_by(Outlink.group_id)).all()
        counts = db.execute(select(LinkCount.target, LinkCount.pages).order_by(LinkCount.target)).all()
    assert [(group, unpacked(targets)) for group, targets in packed] == [(1, (-5, 2**63 - 1)), (2, (-5,))]
    assert [tuple(row) for row in counts] == [(-5, 2), (2**63 - 1, 1)]
