"""WARC files as others write them: warcio's, in the folders that zimit leaves."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from attrs import frozen
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

HTML = "text/html; charset=utf-8"
ZIMIT = ".tmpabc/collections/crawl-20260501/archive"


@frozen
class Page:
    """An answer as a site gave it."""

    url: str
    body: str | bytes
    at: str = "2026-05-01T12:00:00Z"
    status: str = "200 OK"
    content_type: str | None = HTML
    headers: tuple[tuple[str, str], ...] = ()
    repeats: Page | None = None  # which it is a revisit of


def write_warc(path: Path, pages: Iterable[Page]) -> list[int]:
    """Write a file with an answer for each page; where each begins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    offsets = []
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "test"}))
        for page in pages:
            offsets.append(file.tell())
            writer.write_record(_record(writer, page))
    return offsets


def _record(writer: WARCWriter, page: Page):  # type: ignore[no-untyped-def] # ruff: ignore[missing-return-type-private-function] - warcio has no types
    headers = [*page.headers, *([("Content-Type", page.content_type)] if page.content_type else [])]
    http = StatusAndHeaders(page.status, headers, protocol="HTTP/1.1")
    if page.repeats is not None:
        digest = writer.create_warc_record(
            page.url, "response", payload=BytesIO(_bytes(page.repeats)), http_headers=http
        )
        writer.ensure_digest(digest, payload=True)
        return writer.create_revisit_record(
            page.url, digest.rec_headers.get_header("WARC-Payload-Digest"), page.repeats.url, page.repeats.at,
            http_headers=http, warc_headers_dict={"WARC-Date": page.at},
        )  # fmt: skip
    return writer.create_warc_record(
        page.url, "response", payload=BytesIO(_bytes(page)), http_headers=http,
        warc_headers_dict={"WARC-Date": page.at},
    )  # fmt: skip


def _bytes(page: Page) -> bytes:
    return page.body if isinstance(page.body, bytes) else page.body.encode()
