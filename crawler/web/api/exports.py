"""Lists of snapshots and changes for whoever works on with them, page by page."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic.alias_generators import to_camel

from crawler.catalogue.export_records import ExportOnRecord
from crawler.db.engine import Database
from crawler.errors import CrawlerError
from crawler.views.export_tables import TABLES, Archived, ArchiveOrder, archived_rows
from crawler.views.exports import Form, lines
from crawler.web.access import WHO
from crawler.web.answers import JsonAnswer, in_camel
from crawler.web.errors import InvalidRequestError
from crawler.web.parameters import MAX_NUMBER, Since, SourceCode, Until
from crawler.web.site import SiteHere

MAX_ROWS = 10_000
DEFAULT_ROWS = 1_000
TYPES = {Form.JSONL: "application/x-ndjson", Form.CSV: "text/csv; charset=utf-8"}
CHUNK = 200  # lines in one piece of the answer


class ExportsDisabledError(CrawlerError):
    """Lists are not given out here."""

    code = "exports_disabled"
    http_status = 403


def _enabled(site: SiteHere) -> None:
    if not site.settings.exports_enabled:
        raise ExportsDisabledError(hint="EXPORTS_ENABLED is off")


router = APIRouter(prefix="/api/exports", tags=["exports"], dependencies=[Depends(_enabled)])


@router.get("")
def exports() -> JsonAnswer:
    """What can be had, and in which forms."""
    found = [
        {"name": what, "url": f"/api/exports/{what}", "fields": list(map(to_camel, TABLES[what].columns))}
        for what in Archived
    ]
    limits = {"default_limit": DEFAULT_ROWS, "max_limit": MAX_ROWS}
    return JsonAnswer(in_camel({"exports": found, "formats": list(TYPES), **limits}))


@router.get("/{what}", response_class=StreamingResponse)
def export(
    site: SiteHere,
    what: Archived,
    *,
    form: Annotated[Literal["jsonl", "csv"], Query(alias="format")] = "jsonl",
    compressed: bool = False,
    source: SourceCode = None,
    after: Annotated[int, Query(alias="afterId", ge=0, le=MAX_NUMBER)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = DEFAULT_ROWS,
    since: Since = None,
    until: Until = None,
) -> StreamingResponse:
    """Rows by their ids; the last one's is the next page's `afterId`."""
    if since and until and since > until:
        raise InvalidRequestError("Invalid date range: 'from' must be <= 'to'.")
    order = ArchiveOrder(what=what, source=source, after_id=after, limit=limit, since=since, until=until)
    name = f"vitrine-{what}.{form}"
    pieces = _in_pieces(on_record(site.database, order, Form(form)))
    if not compressed:
        return _answer(pieces, TYPES[Form(form)], name)
    return _answer(_gzipped(pieces), "application/gzip", f"{name}.gz")


def on_record(database: Database, order: ArchiveOrder, form: Form) -> Iterator[str]:
    """An export's lines; on record before the first one leaves, as failed until the last one has."""
    record = ExportOnRecord.begin(database, order.what.value, form.value, actor=WHO)

    def counted() -> Iterator[str]:
        count = 0 if form is Form.JSONL else -1  # in CSV the first line has the names
        for line in lines(database, archived_rows(order), form, most=order.limit, named=to_camel):
            count += 1
            yield line
        record.end(count, is_complete=True)

    return counted()


def _answer(pieces: Iterator[bytes], kind: str, name: str) -> StreamingResponse:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(pieces, media_type=kind, headers=disposition)


def _in_pieces(lines: Iterator[str]) -> Iterator[bytes]:
    gathered: list[str] = []
    for line in lines:
        gathered.append(line)
        if len(gathered) == CHUNK:
            yield "".join(gathered).encode("utf-8", "replace")
            gathered.clear()
    yield "".join(gathered).encode("utf-8", "replace")


def _gzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()
