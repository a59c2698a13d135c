"""Which artifacts may be read, and how its content comes out of its file."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlalchemy import select

from crawler.db.models import Artifact, CrawlSession
from crawler.evidence.bodies import decoded, is_readable
from crawler.evidence.files import gzipped
from crawler.evidence.folder_store import FolderStore

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from crawler.db.engine import Database

HOUR = timedelta(hours=1)
PAGE = b"<html>" + b"<p>a chair</p>" * 5_000


def artifact(database: Database, **columns: Any) -> UUID:
    """A row of a stored file."""
    key = uuid4()
    with database.write() as db:
        session = CrawlSession(
            id=uuid4(), kind="page", url="https://shop.example/", domain="shop.example", mode="standard",
            retention_policy="standard", crawl_policy_version="v1.2", config_snapshot={}, status="completed",
            created_at=db.now,
        )  # fmt: skip
        db.add(session)
        db.flush()
        named = {
            name: db.now + value if isinstance(value, timedelta) else value for name, value in columns.items()
        }
        db.add(
            Artifact(
                id=key, session_id=session.id, type="html_gz", storage_uri=f"{key}.gz", size_bytes=1,
                checksum="0" * 64, content_sha256="0" * 64, created_at=db.now, **named,
            )
        )  # fmt: skip
    return key


def test_what_is_deleted_or_being_deleted_is_not_read(database: Database) -> None:
    """A cleaner that died holds nothing back once its claim is over."""
    free, died = artifact(database), artifact(database, cleanup_claim="x", cleanup_claimed_until=-HOUR)
    artifact(database, deleted_at=-HOUR)
    artifact(database, cleanup_claim="x", cleanup_claimed_until=HOUR)
    with database.read() as db:
        assert set(db.scalars(select(Artifact.id).where(is_readable(db.now)))) == {free, died}


def test_content_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """Unpacked where its type is packed, and a piece at a time."""
    blobs = FolderStore(tmp_path)
    blobs.publish("page.gz", gzipped(PAGE).data)
    blobs.publish("text.txt", PAGE)
    page = Artifact(type="html_gz", storage_uri="page.gz")
    text = Artifact(type="visible_text", storage_uri="text.txt")
    assert b"".join(decoded(blobs, page)) == b"".join(decoded(blobs, text)) == PAGE
