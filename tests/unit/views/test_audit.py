"""The audit log as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.db.models import AuditEntry
from crawler.views import audit
from tests.unit.views.rows import THEN

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_entries_come_page_by_page_the_newest_first(database: Database) -> None:
    """Each once, with all that was written down; before the first there is nothing."""
    with database.write() as db:
        for number in range(3):
            db.add(
                AuditEntry(
                    id=number + 1, timestamp=THEN, actor="legal", action="retention.hold",
                    subject=f"domain {number}.example", details={"why": "case 17"},
                )
            )  # fmt: skip
    with database.read() as db:
        newest = audit.newest(db, 2, before=2**53)
        older = audit.newest(db, 2, before=newest[-1].id)
        assert audit.newest(db, 2, before=older[-1].id) == []
    assert [each.subject for each in (*newest, *older)] == [
        "domain 2.example",
        "domain 1.example",
        "domain 0.example",
    ]
    assert (older[0].actor, older[0].timestamp, older[0].details) == ("legal", THEN, {"why": "case 17"})
