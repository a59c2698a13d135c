"""Sessions as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from attrs import fields

from crawler.access.process import this_process
from crawler.db.models import CrawlSession
from crawler.errors import NotFoundError
from crawler.views import sessions
from crawler.views.documents import as_json
from crawler.views.paging import Wanted
from tests.unit.views.rows import FACTS, HOUR, NOW, THEN, URL, a_line, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from uuid import UUID

    from crawler.db.engine import Database
    from crawler.views.sessions import SessionDocument

# What other programs rely on.
CONTRACT = {
    "id", "url", "domain", "status", "mode", "error_summary", "cause", "crawl_policy_version", "pdp_url",
    "low_confidence", "created_at", "finished_at", "pages", "artifacts",
}  # fmt: skip
OF_A_PAGE = {"page_type", "viewport", "status", "url", "low_confidence_reasons"}
OF_AN_ARTIFACT = {
    "id", "type", "storage_uri", "size_bytes", "checksum", "content_sha256", "retention_until", "deleted_at",
}  # fmt: skip
# Columns that nobody is shown: who works for whom, and until when.
INNER = {"batch_id", "entry_id", "deaths", "alive_until"}


def store(database: Database, *rows: Any) -> None:
    """Write rows, each after those that it needs."""
    with database.write() as db:
        for row in rows:
            db.add(row)
            db.flush()


def stored(database: Database, **columns: Any) -> UUID:
    """A session with a page and a file."""
    session = a_session(**columns)
    page = a_page(session.id)
    store(database, session, page, an_artifact(session.id, page_id=page.id))
    return session.id


def newest(database: Database, status: str | None = None, **which: Any) -> list[SessionDocument]:
    """The listing."""
    with database.read() as db:
        return sessions.newest(db, NOW, Wanted(**which), status=status)


def test_a_session_says_everything_but_what_is_inner() -> None:
    """A column that is added is shown, or somebody has decided that it is not."""
    shown = {field.name for field in fields(sessions.SessionDocument)}
    assert {column.name for column in CrawlSession.__table__.columns} - shown == INNER


def test_a_session_comes_with_its_pages_and_files(database: Database) -> None:
    """Those of others stay with the others; an attempt is an epoch."""
    one, other = stored(database, epoch=2), stored(database)
    with database.read() as db:
        found, *rest = sessions.of(db, NOW, [one, uuid4(), other])
    assert [each.id for each in (found, *rest)] == [one, other]
    assert (found.attempts, found.epoch, found.config_snapshot) == (2, 2, {"A": "1"})
    assert [page.url for page in found.pages] == [URL]
    assert [file.page_id for file in found.artifacts] == [found.pages[0].id]


def test_its_json_is_the_contract(database: Database) -> None:
    """Times, ids and nested documents included."""
    key = stored(database)
    with database.read() as db:
        document = json.loads(as_json(sessions.shown(db, NOW, str(key))))
    assert document.keys() >= CONTRACT
    assert (document["id"], document["created_at"]) == (str(key), "2026-03-01T12:00:00+00:00")
    assert document["pages"][0].keys() >= OF_A_PAGE
    assert document["artifacts"][0].keys() >= OF_AN_ARTIFACT
    assert document["log"] == []


def test_more_than_one_statement_takes_are_found(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order that was asked for."""
    monkeypatch.setattr(sessions, "AT_ONCE", 2)
    keys = [stored(database) for _ in range(5)]
    with database.read() as db:
        assert [each.id for each in sessions.of(db, NOW, keys[::-1])] == keys[::-1]
        assert sessions.of(db, NOW, []) == []


def test_the_newest_stand_first(database: Database) -> None:
    """By status and by domain, and no more than are wanted."""
    old = stored(database, status="failed")
    new = stored(database, created_at=THEN + HOUR, domain="other.example")
    assert [each.id for each in newest(database)] == [new, old]
    assert [each.id for each in newest(database, limit=1)] == [new]
    assert [each.id for each in newest(database, status="failed")] == [old]
    assert [each.id for each in newest(database, domain="other.example")] == [new]
    assert newest(database, status="queued") == []


def test_one_is_found_by_how_its_id_begins(database: Database) -> None:
    """With its log, in the order of time."""
    key = stored(database)
    store(database, a_line(key, "last", timestamp=THEN + HOUR), a_line(key, "first"))
    with database.read() as db:
        found = sessions.shown(db, NOW, str(key)[:13])
        assert (found.id, [line.message for line in found.log]) == (key, ["first", "last"])
        with pytest.raises(NotFoundError, match="there is no session 'zzz'"):
            sessions.shown(db, NOW, "zzz")


@pytest.mark.parametrize(
    ("columns", "silent"),
    [
        ({"status": "running", "alive_until": NOW - HOUR}, True),
        ({"status": "queued", "alive_until": NOW - HOUR}, True),
        ({"status": "running", "alive_until": NOW + HOUR}, False),
        ({"status": "running"}, False),
        ({"status": "failed", "alive_until": NOW - HOUR}, False),
        ({"status": "queued", "alive_until": NOW - HOUR, "entry_id": "e"}, False),
    ],
)
def test_a_session_whose_process_is_gone_is_told(
    database: Database, columns: dict[str, Any], *, silent: bool
) -> None:
    """It stands as it stands in the database: asking ends nothing. A fleet sees to its own."""
    stored(database, **columns)
    [found] = newest(database)
    assert (found.silent, found.status, found.cause) == (silent, columns["status"], None)


def test_a_process_of_this_machine_that_has_ended_is_known_at_once(database: Database) -> None:
    """Its session is shown as silent before its time is over; one whose process lives is at work."""
    mark = this_process()
    for started, silent in (("0", True), (mark.rpartition("|")[2], False)):
        owner = f"{mark.rpartition('|')[0]}|{started}#1"
        session = a_session(id=uuid4(), status="running", owner=owner, alive_until=NOW + HOUR)
        store(database, session)
        with database.read() as db:
            [found] = sessions.of(db, NOW, [session.id])
        assert (found.silent, found.status) == (silent, "running")


def test_the_product_is_that_of_the_last_good_product_page(database: Database) -> None:
    """Not of the homepage, nor of a page that failed."""
    session = a_session()
    pages = [
        a_page(session.id),
        a_page(session.id, facts={"name": "A table"}, created_at=THEN + HOUR),
        a_page(session.id, status="failed", created_at=THEN + 2 * HOUR),
        a_page(session.id, page_type="homepage", facts={"name": "A shop"}, created_at=THEN + 3 * HOUR),
    ]
    store(database, session, *pages)
    assert newest(database)[0].product == {"name": "A table"}


def test_a_session_without_a_product_page_has_no_product(database: Database) -> None:
    """Whatever its pages say."""
    stored(database, pdp_url=None)
    assert newest(database)[0].product == {}
    stored(database, created_at=THEN + HOUR)
    assert newest(database)[0].product == FACTS
