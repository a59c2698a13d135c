"""The files of a page or of a session, from their content to the values of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from attrs import frozen

from crawler.evidence import naming, packing

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.sessions.items import PageCapture
    from crawler.sessions.visit import Visit


@frozen
class KeptFile:
    """A published file, and the row that it gets."""

    type: str
    uri: str
    packed: packing.Packed
    content_type: str | None
    charset: str | None


def files_of(visit: Visit, capture: PageCapture) -> list[KeptFile]:
    """A capture's files, named and packed."""
    folder = naming.session_folder(visit.order.domain, visit.fence.session_id, visit.fence.epoch)
    kinds = (
        ("html_gz", capture.body, packing.gzipped, capture.content_type, capture.charset),
        ("visible_text", capture.visible_text, packing.plain, "text/plain", "utf-8"),
        ("features_json", capture.features, packing.plain, "application/json", "utf-8"),
    )
    return [
        KeptFile(
            kind,
            naming.page_file(
                folder,
                # a run has many pages of every type
                page_type=naming.SPIDER_PAGE if visit.order.run_id else capture.page_type,
                viewport=capture.viewport,
                page_id=capture.page_id,
                artifact_type=kind,
            ),
            pack(content),
            content_type,
            charset,
        )
        for kind, content, pack, content_type, charset in kinds
        if content is not None
    ]


def artifact_row(
    file: KeptFile,
    session_id: UUID,
    *,
    now: datetime,
    page_id: UUID | None = None,
    until: datetime | None = None,
) -> dict[str, Any]:
    """The row of a published file."""
    return {
        "id": uuid4(),
        "session_id": session_id,
        "page_id": page_id,
        "type": file.type,
        "storage_uri": file.uri,
        "size_bytes": len(file.packed.data),
        "checksum": file.packed.checksum,
        "content_sha256": file.packed.content_sha256,
        "content_type": file.content_type,
        "charset": file.charset,
        "created_at": now,
        "retention_until": until,
    }
