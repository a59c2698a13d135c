"""`vitrine db` says where a database stands, and brings it up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.db import revisions
from tests.databases import set_revision

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import Vitrine


def test_an_absent_database_is_not_made_by_looking(vitrine: Vitrine, tmp_path: Path) -> None:
    """Exit code 1, the next command, and no file."""
    done = vitrine("db", "current", VITRINE_HOME=str(tmp_path / "home"))
    assert done.code == 1
    assert f"revision none, this program needs {revisions.HEAD}" in done.out
    assert done.err == "next: vitrine db upgrade\n"
    assert not (tmp_path / "home").exists()


def test_upgrade_then_current(vitrine: Vitrine, empty_database_url: str) -> None:
    """On both kinds of database; the second upgrade finds nothing to do."""
    first = vitrine("db", "upgrade", "--json", DATABASE_URL=empty_database_url)
    assert (first.code, first.document["before"], first.document["after"]) == (0, None, revisions.HEAD)
    assert vitrine("db", "upgrade").out.endswith(f"revision {revisions.HEAD}, is up to date\n")
    now = vitrine("db", "current", "--json")
    assert now.code == 0
    assert (now.document["current"], now.document["head"]) == (revisions.HEAD, revisions.HEAD)


def test_a_server_is_upgraded_by_nobody_else(vitrine: Vitrine, postgres_url: str) -> None:
    """A command that meets one without tables says which command helps; exit code 2."""
    done = vitrine("sessions", "list", DATABASE_URL=postgres_url)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error[db_revision]: the database is at revision none, this program needs {revisions.HEAD}\n"
        "hint: run `vitrine db upgrade`\n"
    )


def test_a_newer_database_is_refused(vitrine: Vitrine, database_url: str) -> None:
    """Whatever command it is; exit code 2."""
    set_revision(database_url, "9999")
    for command in (("sessions", "list"), ("db", "upgrade")):
        done = vitrine(*command, DATABASE_URL=database_url)
        assert done.code == 2
        assert "newer than this program's" in done.err


def test_a_backup_is_named_by_its_time(vitrine: Vitrine, tmp_path: Path) -> None:
    """In a folder, of which the newest copies stay; a file has the name that is given."""
    vitrine("db", "upgrade")
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "vitrine-20200101T000000Z.db").touch()
    done = vitrine("db", "backup", str(folder), "--keep", "1", "--json")
    [copy] = folder.iterdir()
    assert done.document["file"] == str(copy)
    assert done.document["removed"] == [str(folder / "vitrine-20200101T000000Z.db")]
    assert re.fullmatch(r"vitrine-\d{8}T\d{6}Z.db", copy.name)


def test_a_backup_makes_its_folder(vitrine: Vitrine, tmp_path: Path) -> None:
    """A name with a slash at its end is a folder's, and so is one with --keep; a file's folder, too."""
    vitrine("db", "upgrade")
    for given, made in (
        (("new/",), "new/vitrine-*.db"), (("kept", "--keep", "2"), "kept/vitrine-*.db"),
        (("a/b/copy.db",), "a/b/copy.db"), (("copy",), "copy"),
    ):  # fmt: skip
        done = vitrine("db", "backup", *given)
        assert done.code == 0, done.err
        assert [path.is_file() for path in tmp_path.glob(made)] == [True]
    (tmp_path / "file").touch()
    done = vitrine("db", "backup", "file/copy.db")
    assert (done.code, done.err) == (2, "error[backup]: the folder file cannot be made: File exists\n")
