"""Pages and files of many sessions: the newest first, each with its session's domain."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.clock import utc_now
from crawler.errors import CrawlerError
from crawler.views.paging import Wanted
from crawler.views.stored import newest_artifacts, newest_pages
from tests.unit.views.rows import THEN, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database

HOUR = timedelta(hours=1)


@pytest.fixture
def sessions(database: Database) -> list[str]:
    """Two, the second of another domain and failed."""
    made = [a_session(), a_session(domain="other.example", status="failed", cause="timeout")]
    with database.write() as db:
        for number, session in enumerate(made):
            db.add(session)
            db.flush()
            status = "ok" if number == 0 else "failed"
            db.add(a_page(session.id, created_at=THEN + number * HOUR, status=status))
            db.add(an_artifact(session.id, created_at=THEN + number * HOUR))
            db.add(an_artifact(session.id, type="screenshot", retention_until=None, deleted_at=utc_now()))
    return [str(each.id) for each in made]


def test_pages(database: Database, sessions: list[str]) -> None:
    """By session, state, type, domain and the cause of the session's end."""
    with database.read() as db:
        assert [each.domain for each in newest_pages(db)] == ["other.example", "shop.example"]
        assert [str(each.session_id) for each in newest_pages(db, session=sessions[0][:13])] == sessions[:1]
        assert [each.cause for each in newest_pages(db, status="failed")] == ["timeout"]
        assert newest_pages(db, page_type="homepage") == []
        assert len(newest_pages(db, Wanted(domain="shop.example"))) == 1
        assert len(newest_pages(db, Wanted(cause="timeout", limit=5))) == 1


def test_files(database: Database, sessions: list[str]) -> None:
    """Those that are gone as well."""
    with database.read() as db:
        assert len(newest_artifacts(db)) == 4
        gone = newest_artifacts(db, session=sessions[1], kind="screenshot")
    assert [(each.domain, each.deleted_at is not None) for each in gone] == [("other.example", True)]


@pytest.mark.parametrize("given", ["zz", "00000000-0000-0000-0000-000000000000", "%", ""])
def test_a_session_that_is_none(database: Database, sessions: list[str], given: str) -> None:
    """Is an error, not an empty list."""
    with database.read() as db, pytest.raises(CrawlerError):
        newest_pages(db, session=given)
