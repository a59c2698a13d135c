"""`vitrine cleanup` and `purge`: what they end with, and what they ask first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.cli import cleanup as commands
from crawler.retention.plan import CleanupResult
from tests.unit.retention.contents import contents_of
from tests.unit.views.rows import THEN, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine

WELL = {
    "collection": "hauls",
    "error": "",
    "expired_docs": 0,
    "total_docs": 0,
    "ttl_days": 3,
    "deleted_docs": 0,
}
FAILED = {**WELL, "error": "OperationalError: [red]away"}


@pytest.mark.parametrize(
    ("figures", "code"),
    [
        ({}, 0),
        ({"deleted": 2}, 0),
        ({"deleted": 2, "failed": 1}, 3),
        ({"failed": 1}, 1),
        ({"collections": (WELL,), "collections_processed": 1}, 0),
        ({"collections": (WELL, FAILED), "collections_processed": 1}, 3),
        ({"collections": (FAILED,), "failed": 1}, 1),
    ],
)
@pytest.mark.usefixtures("made")
def test_codes_tell_how_much_was_done(
    vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch, figures: dict[str, Any], code: int
) -> None:
    """All 0, some 3, none 1."""
    monkeypatch.setattr(commands, "clean_up", lambda *_: CleanupResult(**figures))
    assert vitrine("cleanup").code == code


@pytest.mark.usefixtures("made")
def test_a_collection_that_failed_is_told(vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the data; what an error says is no markup."""
    monkeypatch.setattr(commands, "clean_up", lambda *_: CleanupResult(collections=(FAILED,)))
    assert "hauls: not looked after: OperationalError: [red]away\n" in vitrine("cleanup").err


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
