"""The rows of pages say what was captured, and of each file when it goes; hooks hear of all at once."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture, Sent
from crawler.db.models import Artifact, Page
from crawler.sessions.page_rows import Hooks, PageWrite, write_pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.db.engine import Database
    from crawler.sessions.visit import Visit
    from tests.unit.sessions.conftest import Process

SITE = "https://shop.example/"
BODY = b"<h1>Jug</h1>"
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Hook(Hooks):
    """Remembers what it was called with."""

    def __init__(self) -> None:
        self.heard: list[list[str]] = []

    def pages_kept(self, _db: object, kept: Any) -> None:
        """Some pages."""
        self.heard.append([each.page.url for each in kept])


@pytest.fixture
def visit(process_of: Callable[..., Process]) -> Visit:
    """A running session."""
    return process_of().begin()


def written(database: Database, visit: Visit, *captures: PageCapture, hooks: Any = ()) -> list[Page]:
    """Their rows, in the order of the captures."""
    with database.write() as db:
        kept = write_pages(db, [PageWrite(each, visit, 30, hooks) for each in captures])
    assert [each.capture for each in kept] == list(captures)
    with database.read() as db:
        return [db.get_one(Page, each.page_id) for each in captures]


def artifacts(database: Database) -> list[Artifact]:
    """All of them, by name."""
    with database.read() as db:
        return list(db.scalars(select(Artifact).order_by(Artifact.storage_uri)))


def capture(visit: Visit, url: str = SITE, **said: Any) -> PageCapture:
    """A page on its way."""
    return PageCapture(visit.id, said.pop("page_type", "pdp"), url, **said)


def test_a_page_has_a_row_for_each_of_its_files(database: Database, visit: Visit) -> None:
    """HTML has a date on which it goes, others last as long as their session."""
    page = capture(
        visit, body=BODY, visible_text=b"Jug", screenshot=b"png", content_type="text/html", charset="cp1252",
        sent=Sent(b"<p>", "text/html", "utf-8"),
    )  # fmt: skip
    [row] = written(database, visit, page)
    assert (row.status, row.content_sha256, row.epoch) == ("ok", sha256(BODY).hexdigest(), 1)
    found = artifacts(database)
    assert {each.page_id for each in found} == {page.page_id}
    lasts = {
        each.storage_uri.rpartition("/")[2]: each.retention_until and each.retention_until - each.created_at
        for each in found
    }
    month = timedelta(days=30)
    assert lasts == {
        "html.gz": month, "response.html.gz": month, "screenshot.png": None, "visible_text.txt": None,
    }  # fmt: skip
    assert {each.charset for each in found if each.type == "html_gz"} == {"cp1252", "utf-8"}


def test_a_failed_page_has_no_file_and_no_digest(database: Database, visit: Visit) -> None:
    """Its status is what came, if anything did."""
    rows = written(
        database,
        visit,
        capture(visit, cause=Cause.HTTP_ERROR, http_status=404),
        capture(visit, cause=Cause.BLOCKED),
    )
    said = [(row.status, row.http_status, row.content_sha256, row.verdict) for row in rows]
    assert said == [("failed", 404, None, None), ("failed", None, None, None)]
    assert artifacts(database) == []


def test_what_a_database_refuses_is_not_written(database: Database, visit: Visit) -> None:
    """A site may put a NUL, or half a character, into an address."""
    [row] = written(database, visit, capture(visit, f"{SITE}a\0b\ud800"))
    assert "\0" not in row.url
    row.url.encode()


def test_hooks_hear_of_a_group_once(database: Database, visit: Visit) -> None:
    """In its order; nothing is written, and nothing heard, of no pages."""
    hook, other = Hook(), Hook()
    pages = [capture(visit, f"{SITE}{number}", page_type="page") for number in range(3)]
    written(database, visit, *pages, hooks=(hook, other))
    assert hook.heard == other.heard == [[page.url for page in pages]]
    with database.write() as db:
        assert write_pages(db, []) == []
    assert len(hook.heard) == 1
