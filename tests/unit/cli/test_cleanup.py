"""`vitrine cleanup` and `purge`: what they end with, and what they ask first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.retention.contents import contents_of
from tests.unit.views.rows import THEN, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine


@pytest.mark.parametrize(
    ("files", "folders", "code"), [((), (), 0), (("a",), (), 0), (("a",), ("b",), 3), ((), ("b",), 1)]
)
def test_the_exit_code_says_how_much_was_deleted(
    vitrine: Vitrine, database: Database, database_url: str,
    files: tuple[str, ...], folders: tuple[str, ...], code: int,
) -> None:  # fmt: skip
    """All 0, some 3, none 1: a folder in the place of a file cannot be deleted as one."""
    where = {"DATABASE_URL": database_url, "ARTIFACTS_DIR": "kept"}
    assert vitrine("artifacts", "adopt", **where).code == 0
    session = a_session()
    with database.write() as db:
        db.add(session)
        db.flush()
        db.add_all(
            an_artifact(session.id, storage_uri=name, retention_until=THEN) for name in files + folders
        )
    for name in files:
        Path("kept", name).write_bytes(b"page")
    for name in folders:
        Path("kept", name).mkdir()
    done = vitrine("cleanup", "--only", "artifacts", "--json", **where)
    assert (done.code, done.document["deleted"], done.document["failed"]) == (code, len(files), len(folders))
    assert not any(Path("kept", name).exists() for name in files)


def test_a_dry_run_leaves_everything_as_it_is(
    vitrine: Vitrine, database: Database, database_url: str
) -> None:
    """Not even a session whose process is gone is ended by it; a pass does that first (SPEC B47)."""
    dead = {"status": "running", "finished_at": None, "owner": "gone", "alive_until": THEN}
    with database.write() as db:
        db.add(a_session(**dead))
    before = contents_of(database)
    assert vitrine("cleanup", "--dry-run", DATABASE_URL=database_url).code == 0
    assert contents_of(database) == before
    assert vitrine("cleanup", "--no-dry-run").code == 0
    assert contents_of(database)["sessions"] != before["sessions"]


def test_a_purge_asks_first(vitrine: Vitrine, database: Database, database_url: str) -> None:
    """Nobody is there to answer, so nothing goes."""
    session = a_session()
    with database.write() as db:
        db.add(session)
        db.flush()
        db.add(an_artifact(session.id, retention_until=THEN))
    vitrine("artifacts", "adopt", DATABASE_URL=database_url)
    done = vitrine("purge", "--domain", "shop.example", DATABASE_URL=database_url)
    assert (done.code, done.out) == (2, "")
    assert "domain shop.example: 1 sessions" in done.err
    assert "hint: give --yes" in done.err
    assert len(vitrine("sessions", "list", "--json").document["sessions"]) == 1
