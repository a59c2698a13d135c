"""Where an artifact lies below the artifacts' root (SPEC F144). Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

FILE_NAMES = {
    "html_gz": "html.gz",
    "visible_text": "visible_text.txt",
    "features_json": "features.json",
    "session_logs_jsonl": "session_logs.jsonl",
}
# Endings that say what is inside; whatever a site calls its file, no other is given.
MEDIA_ENDINGS = {
    "application/json": "json",
    "application/pdf": "pdf",
    "audio/mpeg": "mp3",
    "image/avif": "avif",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/css": "css",
    "text/plain": "txt",
    "video/mp4": "mp4",
    "video/webm": "webm",
}
SPIDER_PAGE = "page"  # a page of a spider that has no page types of its own
_UNSAFE = re.compile(r"[^a-z0-9.\-]")


def session_folder(domain: str, session_id: UUID, epoch: int) -> str:
    """A session's folder; a later attempt has one of its own, so that none overwrites another's files."""
    safe = _UNSAFE.sub("_", domain.lower()).strip(".") or "unknown-domain"
    folder = f"{safe}__{session_id}"
    return folder if epoch <= 1 else f"{folder}/attempt-{epoch}"


def page_file(folder: str, *, page_type: str, viewport: str, page_id: UUID, artifact_type: str) -> str:
    """The name of one of a page's files."""
    where = f"pages/{page_id}" if page_type == SPIDER_PAGE else f"{page_type}/{viewport}"
    return f"{folder}/{where}/{FILE_NAMES[artifact_type]}"


def media_file(folder: str, sha256: str, content_type: str | None) -> str:
    """The name of a file that is no page; a session has the same bytes once."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    return f"{folder}/media/{sha256}.{MEDIA_ENDINGS.get(kind, 'bin')}"


def session_file(folder: str, artifact_type: str, number: int = 1) -> str:
    """The name of a file about the session as a whole; an end that comes again gets a number."""
    name = FILE_NAMES[artifact_type]
    if number > 1:
        stem, dot, ending = name.partition(".")
        name = f"{stem}-{number}{dot}{ending}"
    return f"{folder}/{name}"
