"""Stored files as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from crawler.errors import NotFoundError
from crawler.evidence.bodies import Examined, Finding
from crawler.views import artifacts
from tests.unit.views.rows import HOUR, NOW, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.db.models import Artifact


def stored(database: Database, **columns: Any) -> Artifact:
    """A file of a session."""
    session = a_session()
    row = an_artifact(session.id, **columns)
    with database.write() as db:
        db.add(session)
        db.flush()
        db.add(row)
    return row


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"deleted_at": NOW}, "was deleted at 2026-03-02 12:00Z, as its retention says"),
        ({"cleanup_claim": "x", "cleanup_claimed_until": NOW + HOUR}, "was deleted just now"),
    ],
)
def test_what_is_gone_is_told(database: Database, columns: dict[str, Any], message: str) -> None:
    """With the day on which it went; what a cleaner is at counts as gone."""
    row = stored(database, **columns)
    with database.read() as db, pytest.raises(NotFoundError, match=message):
        artifacts.readable(db, NOW, str(row.id))
    with database.read() as db:
        assert artifacts.count(db, NOW) == 0


def test_what_is_there_is_found(database: Database) -> None:
    """By how its id begins; a cleaner that is gone hides nothing."""
    row = stored(database, cleanup_claim="x", cleanup_claimed_until=NOW - HOUR)
    with database.read() as db:
        assert artifacts.readable(db, NOW, row.id.hex[:12]).id == row.id
        assert artifacts.count(db, NOW) == 1


def test_a_verification_names_what_is_damaged() -> None:
    """And counts the rest."""
    session = UUID(int=1)
    rows = [an_artifact(session) for _ in range(3)]
    findings = (Finding.INTACT, Finding.MISSING, Finding.INTACT)
    done = artifacts.verification(map(Examined, rows, findings))
    assert (done.checked, done.intact, done.bytes) == (3, 2, 300)
    [damaged] = done.failed
    assert (damaged.id, damaged.session_id, damaged.finding) == (rows[1].id, session, "missing")


def test_a_picture_is_its_sessions_and_there(database: Database) -> None:
    """Neither another session's, nor another kind of file, nor one that is gone, whatever id is asked for."""
    shot = {"type": "screenshot", "checksum": "p" * 64, "retention_until": None}
    row, html = stored(database, **shot), stored(database)
    gone = stored(database, **shot, deleted_at=NOW)
    with database.read() as db:
        found = artifacts.picture(db, NOW, str(row.session_id), row.id)
        assert (found.storage_uri, found.checksum, found.content_type) == (
            row.storage_uri, "p" * 64, "image/png"
        )  # fmt: skip
        for session, each in ((html.session_id, row), (html.session_id, html), (gone.session_id, gone)):
            with pytest.raises(NotFoundError, match="no such picture"):
                artifacts.picture(db, NOW, str(session), each.id)
