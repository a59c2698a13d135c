"""What is kept, until when, and what is held, on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession, Diagnostic, Price
from crawler.retention import holds
from crawler.retention.holds import Target
from crawler.retention.policies import DEFAULT_DAYS
from crawler.views import retention
from crawler.views.paging import listed
from crawler.views.retention import Forecast, forecast
from tests.integration.catalogue.visits import new_visits
from tests.unit.views.rows import HOUR, NOW, THEN, a_hold

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database
    from tests.integration.catalogue.visits import Visits

DAY = timedelta(days=1)


def test_the_holds_in_force_are_listed(database: Database) -> None:
    """The newest first; not those that are over or were lifted."""
    session, listing = uuid4(), uuid4()
    with database.write() as db:
        db.add(a_hold(session_id=session, created_at=THEN + HOUR))
        db.add(a_hold(domain="shop.example", until=NOW + HOUR))
        db.add(a_hold(listing_id=listing, created_at=THEN + 2 * HOUR))
        db.add(a_hold(domain="over.example", until=NOW - HOUR))
        db.add(a_hold(domain="lifted.example", released_at=THEN, released_by="me"))
    with database.read() as db:
        found = listed(db, retention.HOLDS, standing_at=NOW)
    assert [each.target for each in found] == [
        f"listing {listing}", f"session {session}", "domain shop.example",
    ]  # fmt: skip
    assert (found[2].who, found[2].why, found[2].until) == ("legal", "a case", NOW + HOUR)


@pytest.fixture
def visits(database: Database, tmp_path: Path) -> Visits:
    """Nothing was visited yet."""
    return new_visits(database, tmp_path / "artifacts")


def forecasts(visits: Visits) -> dict[str, Forecast]:
    """The kinds by name."""
    with visits.database.read() as db:
        return {kind.name: kind for kind in forecast(db, 14, db.now)}


def due(kind: Forecast) -> tuple[int, int, int]:
    """How many go now, within a week, and within a month."""
    return kind.due_now, kind.due_in_7_days, kind.due_in_30_days


def test_the_forecast_says_what_goes_when(visits: Visits) -> None:
    """HTML by its own date, rows by their age, the other files with the row of their session."""
    session = visits.visit()
    visits.change(Diagnostic, timestamp=utc_now() - 85 * DAY)
    kinds = forecasts(visits)
    days = {name: kind.days for name, kind in kinds.items()}
    assert days == {"html": 14, "other_files": 90, **DEFAULT_DAYS, "listings": None}
    assert (kinds["html"].rows, due(kinds["html"])) == (1, (0, 0, 1))
    assert (kinds["diagnostics"].rows, due(kinds["diagnostics"])) == (3, (0, 1, 1))
    assert (kinds["other_files"].rows, due(kinds["other_files"])) == (3, (0, 0, 0))
    assert kinds["listings"].rows == 1
    visits.change(Artifact, Artifact.type == "html_gz", deleted_at=utc_now())
    visits.change(Price, session_id=uuid4())  # another session's proof
    visits.change(CrawlSession, CrawlSession.id == session, finished_at=utc_now() - 85 * DAY)
    assert due(forecasts(visits)["other_files"]) == (0, 3, 3)


def test_what_is_held_is_not_due(visits: Visits) -> None:
    """However old it is; it is counted apart."""
    session = visits.visit()
    visits.change(Diagnostic, timestamp=utc_now() - 100 * DAY)
    with visits.database.write() as db:
        holds.hold(db, Target(session_id=session), who="legal", why="case", until=None, now=db.now)
    kinds = forecasts(visits)
    assert (kinds["html"].held, due(kinds["html"])) == (1, (0, 0, 0))
    assert kinds["other_files"].held == 3
    assert (kinds["diagnostics"].held, due(kinds["diagnostics"])) == (1, (0, 0, 0))


def test_the_warc_of_a_session_goes_as_its_html(visits: Visits) -> None:
    """By the date in its row, and not with the row of its session."""
    session = visits.visit()
    before = forecasts(visits)
    with visits.database.write() as db:
        html = db.scalars(select(Artifact).where(Artifact.type == "html_gz")).one()
        row = {
            each.name: getattr(html, each.name) for each in Artifact.__table__.columns if each.name != "id"
        }
        db.add(Artifact(**{**row, "session_id": session, "type": "warc", "storage_uri": "a/session.warc.gz",
                           "size_bytes": 1000, "retention_until": db.now - DAY}))  # fmt: skip
    after = forecasts(visits)
    assert (after["html"].rows, after["html"].bytes) == (2, before["html"].bytes + 1000)
    assert due(after["html"]) == (1, 1, 2)
    assert after["other_files"] == before["other_files"]
