"""Records of pictures that are kept as files, so that an archived page is shown with them.

They are written with the picture's own row. What lies in WARC files has its records from whoever wrote those;
a page gets its own with its snapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, select

from crawler.capture.artifact_types import MEDIA
from crawler.db.models import Artifact, Page, Record
from crawler.db.upsert import insert_into
from crawler.evidence.bodies import is_readable
from crawler.sessions.page_rows import Hooks
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.sessions.page_rows import KeptPage

AT_ONCE = 500  # in one transaction: other writers wait for it
_PICTURES = (
    select(Artifact, Page)
    .join(Page, Page.id == Artifact.page_id)
    .where(Artifact.type == MEDIA.name, ~exists().where(Record.artifact_id == Artifact.id))
)


class MediaRecords(Hooks):
    """Writes along where pages are stored."""

    def pages_kept(self, db: Session, kept: Sequence[KeptPage]) -> None:
        """A record of each of them that is a picture, and lies in a file of its own."""
        mine = [each.page.id for each in kept if each.capture.media is not None and each.files]
        if mine:
            _write(db, _PICTURES.where(Page.id.in_(mine)))


def write_media_records(database: Database) -> int:
    """Write a record of each picture that has none, as from before they were written along; how many."""
    written = 0
    while True:
        with database.write() as db:
            some = _write(db, _some(db.now))
        if not some:
            return written
        written += some


def _write(db: Session, pictures: Select[Artifact, Page]) -> int:
    rows = [record_row(artifact, page, artifact.content_sha256) for artifact, page in db.execute(pictures)]
    if rows:  # somebody else may be at the same ones
        db.execute(insert_into(db, Record).on_conflict_do_nothing(index_elements=["artifact_id"]), rows)
    return len(rows)


def _some(now: datetime) -> Select[Artifact, Page]:
    return _PICTURES.where(is_readable(now)).limit(AT_ONCE)


def record_row(artifact: Artifact, page: Page, digest: str | None) -> dict[str, Any]:
    """The record of a page that lies in a file of its own, as it is written."""
    return {
        "artifact_id": artifact.id, "kind": "response", "url": page.url, "url_key": stored_key(page.url),
        "captured_at": page.created_at, "mime_type": artifact.content_type, "status_code": page.http_status,
        "payload_digest": f"sha256:{digest}",
    }  # fmt: skip
