"""Policies and holds as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from crawler.db.models import RetentionResult
from crawler.retention.policies import DEFAULT_DAYS
from crawler.views import retention
from tests.unit.views.rows import HOUR, NOW, THEN, a_hold

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_policies_name_everything_that_is_kept(database: Database) -> None:
    """And the newest cleanup, where there was one."""
    with database.read() as db:
        before = retention.policies(db, NOW, 14)
    assert before.last_cleanup is None
    assert {kind.name for kind in before.policies} >= {"html", "other_files", "listings", *DEFAULT_DAYS}
    assert {kind.name: kind.days for kind in before.policies}["html"] == 14
    with database.write() as db:
        for deleted in (1, 2):
            db.add(
                RetentionResult(
                    timestamp=THEN, dry_run=False, total_deleted=deleted, duration_ms=5, details=[{"n": 1}]
                )
            )
            db.flush()
    with database.read() as db:
        last = retention.policies(db, NOW, 14).last_cleanup
    assert last is not None
    assert (last.timestamp, last.total_deleted, last.details) == (THEN, 2, [{"n": 1}])


def test_the_holds_that_stand_are_told(database: Database) -> None:
    """The oldest first; not those that are over or were lifted."""
    session, listing = uuid4(), uuid4()
    with database.write() as db:
        db.add(a_hold(session_id=session, created_at=THEN + HOUR))
        db.add(a_hold(domain="shop.example", until=NOW + HOUR))
        db.add(a_hold(listing_id=listing, created_at=THEN + 2 * HOUR))
        db.add(a_hold(domain="over.example", until=NOW - HOUR))
        db.add(a_hold(domain="lifted.example", released_at=THEN, released_by="me"))
    with database.read() as db:
        found = retention.standing_holds(db, NOW)
    assert [each.target for each in found] == [
        "domain shop.example", f"session {session}", f"listing {listing}",
    ]  # fmt: skip
    assert (found[0].who, found[0].why, found[0].until) == ("legal", "a case", NOW + HOUR)
