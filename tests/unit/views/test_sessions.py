"""Sessions as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from crawler.access.process import this_process
from crawler.views import sessions
from crawler.views.documents import as_json
from tests.unit.views.rows import FACTS, HOUR, NOW, THEN, a_page, a_session, an_artifact

if TYPE_CHECKING:
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
MARK, _, STARTED = this_process().rpartition("|")


def store(database: Database, *rows: Any) -> None:
    """Write rows, each after those that it needs."""
    with database.write() as db:
        for row in rows:
            db.add(row)
            db.flush()


def newest(database: Database, status: str | None = None) -> list[SessionDocument]:
    """The listing."""
    with database.read() as db:
        return sessions.newest(db, NOW, status=status)


def test_the_json_of_a_session_is_the_contract(database: Database) -> None:
    """Times, ids and nested documents included; pages of other sessions stay with those."""
    one, other = a_session(), a_session()
    page = a_page(one.id)
    store(database, one, other, page, a_page(other.id), an_artifact(one.id, page_id=page.id))
    with database.read() as db:
        document = json.loads(as_json(sessions.shown(db, NOW, str(one.id))))
    assert document.keys() >= CONTRACT
    assert (document["id"], document["created_at"]) == (str(one.id), "2026-03-01T12:00:00+00:00")
    assert [each["id"] for each in document["pages"]] == [str(page.id)]
    assert document["pages"][0].keys() >= OF_A_PAGE
    assert document["artifacts"][0].keys() >= OF_AN_ARTIFACT


@pytest.mark.parametrize(
    ("columns", "silent"),
    [
        ({"status": "running", "alive_until": NOW - HOUR}, True),
        ({"status": "queued", "alive_until": NOW - HOUR}, True),
        ({"status": "running", "alive_until": NOW + HOUR}, False),
        ({"status": "running"}, False),
        ({"status": "failed", "alive_until": NOW - HOUR}, False),
        ({"status": "queued", "alive_until": NOW - HOUR, "entry_id": "e"}, False),  # the fleet's
        ({"status": "running", "alive_until": NOW + HOUR, "owner": f"{MARK}|0#1"}, True),  # it has ended
        ({"status": "running", "alive_until": NOW + HOUR, "owner": f"{MARK}|{STARTED}#1"}, False),
    ],
)
def test_a_session_whose_process_is_gone_is_shown_as_silent(
    database: Database, columns: dict[str, Any], *, silent: bool
) -> None:
    """At once if the process was of this machine; showing it ends nothing."""
    store(database, a_session(**columns))
    [found] = newest(database)
    assert (found.silent, found.status, found.cause) == (silent, columns["status"], None)
    assert [newest(database, status) for status in (found.status, "partial")] == [[found], []]


def test_the_product_is_that_of_the_last_good_product_page(database: Database) -> None:
    """Not of the homepage, nor of a page that failed; without a product page there is none."""
    session = a_session()
    none = a_session(pdp_url=None, created_at=THEN - HOUR)
    pages = [
        a_page(session.id), a_page(session.id, facts={"name": "A table"}, created_at=THEN + HOUR),
        a_page(session.id, status="failed", created_at=THEN + 2 * HOUR),
        a_page(session.id, page_type="homepage", facts={"name": "A shop"}, created_at=THEN + 3 * HOUR),
        a_page(none.id, facts=FACTS),
    ]  # fmt: skip
    store(database, session, none, *pages)
    assert [each.product for each in newest(database)] == [{"name": "A table"}, {}]
