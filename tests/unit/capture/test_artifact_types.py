"""The table of artifact types, and those who have to agree with it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from crawler.capture.artifact_types import (
    ARTIFACT_TYPES,
    EXPIRING,
    HTML,
    RESPONSE,
)
from crawler.capture.items import PageCapture, Sent
from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession
from crawler.evidence.files import files_of, gunzipped
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit

if TYPE_CHECKING:
    from crawler.db.engine import Database


def a_visit(run_id: int | None = None) -> Visit:
    """A session's first start."""
    order, session_id = SessionOrder("https://shop.example/", "shop.example", run_id=run_id), uuid4()
    return Visit(Fence(session_id, "me", 1), order, Journal(str(session_id), order.domain))


def test_the_tables_let_only_those_expire_that_do(database: Database) -> None:
    """By the CHECK that the migrations wrote; a further type that expires needs a migration."""
    session = {
        "id": uuid4(), "url": "https://shop.example/", "domain": "shop.example", "mode": "standard",
        "retention_policy": "standard", "status": "completed", "crawl_policy_version": "v1.2",
        "config_snapshot": {}, "created_at": utc_now(),
    }  # fmt: skip
    with database.write() as db:
        db.execute(insert(CrawlSession), session)
    taken = set()
    for name in ARTIFACT_TYPES:
        row = {
            "id": uuid4(), "session_id": session["id"], "type": name, "storage_uri": name, "size_bytes": 1,
            "checksum": "", "content_sha256": "", "created_at": utc_now(), "retention_until": utc_now(),
        }  # fmt: skip
        with suppress(IntegrityError), database.write() as db:
            db.execute(insert(Artifact), row)
            taken.add(name)
    assert taken == EXPIRING == {"html_gz", "warc"}


def test_a_page_has_a_file_of_each_type_that_it_gave() -> None:
    """Its HTML keeps what the site said of it; a log belongs to the session."""
    visit = a_visit()
    capture = PageCapture(
        session_id=visit.id, page_type="pdp", url="https://shop.example/p", content_type="text/html",
        charset="utf-8", body=b"<html>", visible_text=b"text", features=b"{}", screenshot=b"PNG",
        sent=Sent(b"<html><script>", "text/html; charset=latin-1", "iso-8859-1"),
    )  # fmt: skip
    kept = files_of(visit, capture)
    folder = f"shop.example__{visit.id}/pdp/desktop"
    names = ("html.gz", "response.html.gz", "screenshot.png", "visible_text.txt", "features.json")
    assert [file.uri for file in kept] == [f"{folder}/{name}" for name in names]
    assert gunzipped(kept[0].packed.data) == b"<html>"
    assert [(file.type, file.content_type, file.charset) for file in kept[:2]] == [
        (HTML, "text/html", "utf-8"),
        (RESPONSE, "text/html; charset=latin-1", "iso-8859-1"),
    ]
    assert not any(file.is_shared for file in kept)


def test_the_pages_of_a_run_lie_apart_whatever_their_type() -> None:
    """Two pages of one type do not want one name."""
    visit = a_visit(run_id=7)
    for number in range(2):
        capture = PageCapture(visit.id, "pdp", f"https://shop.example/{number}", body=b"<h1>")
        [file] = files_of(visit, capture)
        assert file.uri == f"shop.example__{visit.id}/pages/{capture.page_id}/html.gz"


def test_media_go_by_their_digest() -> None:
    """The same bytes are one file of a session, whatever they were called."""
    visit = a_visit()
    capture = PageCapture(
        session_id=visit.id, page_type="media", url="https://shop.example/a.png", content_type="image/png",
        media=b"bytes",
    )  # fmt: skip
    [file] = files_of(visit, capture)
    assert file.uri == f"shop.example__{visit.id}/media/{file.packed.content_sha256}.png"
    assert file.is_shared
