"""The table of artifact types, and those who have to agree with it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from crawler.capture.artifact_types import (
    ARTIFACT_TYPES,
    EXPIRING,
    GZIPPED,
    HTML,
    MEDIA,
    RESPONSE,
    SESSION_LOG,
    WARC,
    ArtifactType,
)
from crawler.capture.items import PageCapture, Sent
from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession
from crawler.evidence.files import KeptFile, files_of, gunzipped
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit

if TYPE_CHECKING:
    from crawler.db.engine import Database

EVERY = pytest.mark.parametrize("kind", ARTIFACT_TYPES.values(), ids=ARTIFACT_TYPES)


def a_visit() -> Visit:
    """A session's first start."""
    order, session_id = SessionOrder("https://shop.example/", "shop.example"), uuid4()
    return Visit(Fence(session_id, "me", 1), order, Journal(str(session_id), order.domain))


def test_the_contract_names_them() -> None:
    """What people and programs find in `artifacts` (SPEC F143)."""
    assert {kind.name: kind.file_name for kind in ARTIFACT_TYPES.values()} == {
        "html_gz": "html.gz",
        "screenshot": "screenshot.png",
        "visible_text": "visible_text.txt",
        "features_json": "features.json",
        "session_logs_jsonl": "session_logs.jsonl",
        "warc": "session.warc.gz",
        "media": "",
    }
    assert {"html_gz"} == GZIPPED
    assert {"html_gz", "warc"} == EXPIRING


@EVERY
def test_the_tables_let_exactly_those_expire_that_do(kind: ArtifactType, database: Database) -> None:
    """Of the CHECK that the migrations wrote; a further type that expires needs a migration."""
    session = {
        "id": uuid4(), "url": "https://shop.example/", "domain": "shop.example", "mode": "standard",
        "retention_policy": "standard", "status": "completed", "crawl_policy_version": "v1.2",
        "config_snapshot": {}, "created_at": utc_now(),
    }  # fmt: skip
    row = {
        "id": uuid4(), "session_id": session["id"], "type": kind.name, "storage_uri": "a", "size_bytes": 1,
        "checksum": "", "content_sha256": "", "created_at": utc_now(), "retention_until": utc_now(),
    }  # fmt: skip
    is_taken = True
    try:
        with database.write() as db:
            db.execute(insert(CrawlSession), session)
            db.execute(insert(Artifact), row)
    except IntegrityError:
        is_taken = False
    assert is_taken is kind.expires


@EVERY
def test_a_file_is_packed_as_its_type_says(kind: ArtifactType) -> None:
    """And what it decodes to is what was given."""
    file = KeptFile.of(kind, "a", b"content")
    assert (gunzipped(file.packed.data) if kind.is_gzipped else file.packed.data) == b"content"
    assert (file.content_type, file.charset) == (kind.content_type, kind.charset)


def test_a_page_has_a_file_of_each_type_that_it_gave() -> None:
    """Its HTML keeps what the site said of it; a log belongs to the session."""
    visit = a_visit()
    capture = PageCapture(
        session_id=visit.id, page_type="pdp", url="https://shop.example/p", content_type="text/html",
        charset="utf-8", body=b"<html>", visible_text=b"text", features=b"{}", screenshot=b"PNG",
        sent=Sent(b"<html><script>", "text/html; charset=latin-1", "iso-8859-1"),
    )  # fmt: skip
    kept = files_of(visit, capture)
    folder = f"shop.example__{visit.id}/pdp/desktop/"
    kinds = [HTML, RESPONSE, *(kind for kind in ARTIFACT_TYPES.values() if kind is not HTML)]
    assert [file.uri for file in kept] == [
        folder + kind.file_name for kind in kinds if kind not in {MEDIA, SESSION_LOG, WARC}
    ]
    assert [(file.type, file.content_type, file.charset) for file in kept[:2]] == [
        (HTML, "text/html", "utf-8"),
        (RESPONSE, "text/html; charset=latin-1", "iso-8859-1"),
    ]
    assert not any(file.is_shared for file in kept)


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
