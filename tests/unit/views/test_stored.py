"""Stored pages and files: which are there, what became of the others, and whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.clock import utc_now
from crawler.db.models import Artifact, WarcFile
from crawler.errors import CrawlerError, NotFoundError
from crawler.views import artifacts, warcs
from crawler.views.paging import Wanted, listed
from crawler.views.stored import ARTIFACTS, PAGES
from tests.unit.archive.written import a_file, a_record
from tests.unit.views.rows import HOUR, NOW, THEN, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database


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
def test_a_deleted_file_is_refused_with_its_date(
    database: Database, columns: dict[str, Any], message: str
) -> None:
    """A file that a cleaner has claimed counts as deleted."""
    row = stored(database, **columns)
    with database.read() as db, pytest.raises(NotFoundError, match=message):
        artifacts.readable(db, NOW, str(row.id))


def test_the_claim_of_a_dead_cleaner_hides_nothing(database: Database) -> None:
    """The file is found by how its id begins."""
    row = stored(database, cleanup_claim="x", cleanup_claimed_until=NOW - HOUR)
    with database.read() as db:
        assert artifacts.readable(db, NOW, row.id.hex[:12]).id == row.id
        assert artifacts.count(db, NOW) == 1


def test_a_picture_is_shown_with_its_own_session_only(database: Database) -> None:
    """Neither another session's, nor another kind of file, nor one that is gone."""
    shot = {"type": "screenshot", "checksum": "p" * 64, "retention_until": None}
    row, html = stored(database, **shot), stored(database)
    gone = stored(database, **shot, deleted_at=NOW)
    with database.read() as db:
        assert artifacts.picture(db, NOW, str(row.session_id), row.id).storage_uri == row.storage_uri
        for session, each in ((html.session_id, row), (html.session_id, html), (gone.session_id, gone)):
            with pytest.raises(NotFoundError, match="no such picture"):
                artifacts.picture(db, NOW, str(session), each.id)


def test_pages_and_files_of_many_sessions(database: Database) -> None:
    """By session, state and type, deleted files too; an unknown session is an error, not an empty list."""
    made = [a_session(), a_session(domain="other.example", status="failed", cause="timeout")]
    with database.write() as db:
        for number, session in enumerate(made):
            db.add(session)
            db.flush()
            at = {"created_at": THEN + number * HOUR}
            db.add(a_page(session.id, status="failed" if number else "ok", **at))
            db.add(an_artifact(session.id, **at))
            db.add(an_artifact(session.id, type="screenshot", retention_until=None, deleted_at=utc_now()))
    first, second = (str(each.id) for each in made)
    with database.read() as db:
        assert [str(each.session_id) for each in listed(db, PAGES)] == [second, first]
        assert [str(each.session_id) for each in listed(db, PAGES, session=first[:13])] == [first]
        assert [each.cause for each in listed(db, PAGES, status="failed")] == ["timeout"]
        assert listed(db, PAGES, page_type="homepage") == []
        assert len(listed(db, ARTIFACTS)) == 4
        [gone] = listed(db, ARTIFACTS, session=second, kind="screenshot")
        assert (gone.domain, gone.deleted_at is None) == ("other.example", False)
        for wrong in ("zz", "00000000-0000-0000-0000-000000000000", "%", ""):
            with pytest.raises(CrawlerError):
                listed(db, PAGES, session=wrong)


def test_warc_files_are_listed_by_state(database: Database) -> None:
    """The newest first; a limit holds after the state, not before it."""
    with database.write() as db:
        for name, state in (("a", "open"), ("b", "sealed"), ("c", "damaged"), ("d", "sealed")):
            db.add(WarcFile(folder="/archive/job", path=f"{name}.warc.gz", state=state, created_at=THEN))
            db.flush()
    with database.read() as db:
        assert [each.path for each in warcs.known(db)] == [f"/archive/job/{name}.warc.gz" for name in "dcba"]
        [sealed] = warcs.known(db, Wanted(limit=1), state="sealed")
        assert (sealed.path, sealed.state) == ("/archive/job/d.warc.gz", "sealed")
        assert [str(each) for each in warcs.folders_left_open(db)] == ["/archive/job"]


def test_the_warc_files_of_a_domain_are_those_with_its_answers_or_of_its_sessions(database: Database) -> None:
    """A domain whose name has this one in it is another one."""
    with database.write() as db:
        session = a_session(cause="timeout")
        db.add(session)
        db.flush()
        of_session = a_file(db, session_id=session.id).id
        with_answer = a_file(db)
        a_record(db, "https://www.shop.example/x", warc_file_id=with_answer.id)
        a_record(db, "https://shop.example.evil.example/")
        a_record(db, "https://myshop.example/")
        mine = [with_answer.id, of_session]
    with database.read() as db:
        assert [each.id for each in warcs.known(db, Wanted(domain="shop.example"))] == mine
        assert [each.id for each in warcs.known(db, Wanted(cause="timeout"))] == [of_session]
