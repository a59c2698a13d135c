"""What is kept, how much there is of it, and what goes next; on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession, Diagnostic, Price
from crawler.retention import holds
from crawler.retention.forecast import Forecast, forecast, last_result
from crawler.retention.holds import Target
from crawler.retention.policies import DEFAULT_DAYS

if TYPE_CHECKING:
    from tests.integration.catalogue.visits import Visits

DAY = timedelta(days=1)


def told(visits: Visits) -> dict[str, Forecast]:
    """The kinds by name."""
    with visits.database.read() as db:
        return {kind.name: kind for kind in forecast(db, 14, db.now)}


def due(kind: Forecast) -> tuple[int, int, int]:
    """How many go now, within a week, and within a month."""
    return kind.due_now, kind.due_in_7_days, kind.due_in_30_days


def test_every_kind_is_told_with_its_days(visits: Visits) -> None:
    """Evidence, collections in their order, and what is exempt."""
    kinds = told(visits)
    assert list(kinds) == ["html", "other_files", *DEFAULT_DAYS, "listings"]
    days = {name: kind.days for name, kind in kinds.items()}
    assert days == {"html": 14, "other_files": 90, **DEFAULT_DAYS, "listings": None}
    with visits.database.read() as db:
        assert last_result(db) is None


def test_what_goes_when(visits: Visits) -> None:
    """HTML by its own date; rows by their age; the other files with the row of their session."""
    session = visits.visit()
    visits.change(Diagnostic, timestamp=utc_now() - 85 * DAY)
    kinds = told(visits)
    assert (kinds["html"].rows, due(kinds["html"])) == (1, (0, 0, 1))
    assert (kinds["diagnostics"].rows, due(kinds["diagnostics"])) == (3, (0, 1, 1))
    assert (kinds["other_files"].rows, due(kinds["other_files"])) == (3, (0, 0, 0))
    assert kinds["listings"].rows == 1
    visits.change(Artifact, Artifact.type == "html_gz", deleted_at=utc_now())
    visits.change(Price, session_id=uuid4())  # another session's proof
    visits.change(CrawlSession, CrawlSession.id == session, finished_at=utc_now() - 85 * DAY)
    assert due(told(visits)["other_files"]) == (0, 3, 3)


def test_what_is_held_is_told_apart(visits: Visits) -> None:
    """It is not due, however old it is."""
    session = visits.visit()
    visits.change(Diagnostic, timestamp=utc_now() - 100 * DAY)
    with visits.database.write() as db:
        holds.hold(db, Target(session_id=session), who="legal", why="case", until=None, now=db.now)
    kinds = told(visits)
    assert (kinds["html"].held, due(kinds["html"])) == (1, (0, 0, 0))
    assert kinds["other_files"].held == 3
    assert (kinds["diagnostics"].held, due(kinds["diagnostics"])) == (1, (0, 0, 0))
