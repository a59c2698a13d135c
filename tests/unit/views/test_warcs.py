"""WARC files as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.db.models import WarcFile
from crawler.views import warcs
from crawler.views.paging import Wanted
from tests.unit.archive.written import a_file as a_kept_file
from tests.unit.archive.written import a_record
from tests.unit.views.rows import THEN, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database


def a_file(name: str, **columns: Any) -> WarcFile:
    """A file of records in a folder of a job."""
    given = {"folder": "/archive/job", "path": f"{name}.warc.gz", "state": "sealed", "created_at": THEN}
    return WarcFile(**{**given, **columns})


def test_files_are_listed_the_newest_first_and_by_state(database: Database) -> None:
    """With the place where they lie; a limit holds after the state, not before it."""
    with database.write() as db:
        for name, state in (("a", "open"), ("b", "sealed"), ("c", "damaged"), ("d", "sealed")):
            db.add(a_file(name, state=state))
            db.flush()
    with database.read() as db:
        names = [each.path for each in warcs.known(db)]
        assert names == [f"/archive/job/{name}.warc.gz" for name in "dcba"]
        [sealed] = warcs.known(db, Wanted(limit=1), state="sealed")
        assert (sealed.path, sealed.state) == ("/archive/job/d.warc.gz", "sealed")
        assert [each.path for each in warcs.known(db, Wanted(limit=9), state="open")] == names[-1:]
        assert [str(each) for each in warcs.folders_left_open(db)] == ["/archive/job"]


def test_a_file_that_was_found_is_told_as_it_lies(tmp_path: Path) -> None:
    """Nothing is said of what only reading it would tell."""
    path = tmp_path / "odd name.warc.gz"
    path.write_bytes(b"12345")
    seen = warcs.found(path)
    assert (seen.path, seen.size_bytes, seen.id, seen.records) == (str(path), 5, None, None)


def test_a_domains_files_are_those_with_its_answers_or_of_its_sessions(database: Database) -> None:
    """A name that has this one in it is another one."""
    with database.write() as db:
        session = a_session(cause="timeout")
        db.add(session)
        db.flush()
        of_session = a_kept_file(db, session_id=session.id).id
        with_answer = a_kept_file(db)
        a_record(db, "https://www.shop.example/x", warc_file_id=with_answer.id)
        a_record(db, "https://shop.example.evil.example/", warc_file_id=a_kept_file(db).id)
        a_record(db, "https://myshop.example/", warc_file_id=a_kept_file(db).id)
        mine = [with_answer.id, of_session]
    with database.read() as db:
        assert [each.id for each in warcs.known(db, Wanted(domain="shop.example"))] == mine
        assert [each.id for each in warcs.known(db, Wanted(cause="timeout"))] == [of_session]
        assert len(warcs.known(db)) == 4
        assert len(warcs.known(db, Wanted(limit=1))) == 1


def test_folders_where_something_is_open(database: Database) -> None:
    """Each once."""
    with database.write() as db:
        for folder, state in (("/a", "open"), ("/a", "open"), ("/b", "sealed"), ("/c", "open")):
            a_kept_file(db, folder=folder, state=state)
    with database.read() as db:
        assert warcs.folders_left_open(db) == {Path("/a"), Path("/c")}
