"""What the tables hold, read from the models: docstrings, comments beside the columns, foreign keys."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import postgresql

from crawler.db import models
from crawler.db.models import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.orm import Mapper

_ATTRIBUTE = re.compile(r"^    (\w+): Mapped\[")
_SPECIFIED = re.compile(r" \(SPEC [^)]*\)")  # numbers that mean nothing to a reader of the tables
_COMMENT = re.compile(r"(?<!\")#\s(.*)$")
# Columns that are alike wherever they stand, and have no words of their own beside them.
ALIKE = {
    "id": "its key",
    "type": "which kind of file it is",
    "size_bytes": "as stored, in bytes",
    "charset": "as the page declares it",
    "created_at": "when the row was made",
    "retention_until": "the day on which the file goes; null: with its session",
    "deleted_at": "when the file went",
    "legal_hold": "whether a hold keeps it",
    "cleanup_claimed_until": "until when a cleaner has it",
    "cleanup_attempts": "cleanups that failed on it",
    "status": "how it stands, in a word",
    "number": "counted from 1",
    "checksum": "SHA-256",
    "seen_at": "when that was read",
    "source": "a source's code",
    "plugin": "the plugin that found it",
    "key_sha256": "SHA-256 of its key, for the index",
    "url": "in its canonical spelling",
    "title": "as the page has it",
    "versions": "how many there were",
    "first_seen_at": "when it was found first",
    "last_seen_at": "when it was found last",
    "timestamp": "when it happened",
    "actor": "who did it: a user or a program",
    "action": "what was done, in a word",
    "subject": "what it was done to",
    "details": "further fields, as JSON",
    "level": "as of a log: info, warn, error",
    "event_type": "the kind of event",
    "message": "in words",
    "page_id": "a page's key, without a reference",
    "policy": "the version of the rule",
    "is_pdp": "whether the rule took it for a product page",
    "domain": "a host without `www.`, with its port where that is not the usual one",
    "expires_at": "when it ends by itself",
    "delay_reason": "who asked for it: Retry-After or Crawl-delay",
    "stage": "where in the crawl it happened",
    "times": "how often",
    "last_at": "when it happened last",
    "resolved_at": "when somebody had looked at it",
    "resolved_by": "who that was",
    "resolution": "what came of that",
    "what": "the table",
    "format": "csv or jsonl",
    "destination": "the file, or - for standard output",
    "row_count": "rows that were written",
    "position": "its place in the list",
    "name": "as people call it",
    "listing_id": "a product's key, without a reference",
    "who": "whose word it is",
    "why": "the reason that was given",
    "released_at": "when it was lifted",
    "released_by": "who lifted it; `its date` where it ran out",
    "kind": "which kind of thing it is",
    "lease_owner": "the process that has it",
    "updated_at": "when the row was changed last",
    "engine": "what archives: vitrine or zimit",
    "crawler_exit_code": "of the archive tool",
    "crawler_stage": "how far the archive tool had come",
    "last_stats_json": "the figures that it told last",
    "pages_crawled": "pages that were fetched",
    "pages_total": "pages that were known",
    "pages_failed": "pages that were not to be had",
    "warc_file_count": "its WARC files",
    "indexed_page_count": "its captures that can be searched",
    "records_bad": "records that cannot be read",
    "final_zim_path": "the ZIM file, where one was made",
    "combined_log_path": "the log of all attempts",
    "cleanup_status": "what a cleanup has taken of it",
    "cleaned_at": "when that was",
    "warc_bytes_total": "size of its WARC files",
    "output_bytes_total": "size of its folder",
    "tmp_bytes_total": "size of what is only needed meanwhile",
    "tmp_non_warc_bytes_total": "the same without WARC files",
    "storage_scanned_at": "when these sizes were looked up",
    "queued_at": "when it was ordered",
    "started_at": "when it began",
    "finished_at": "when it ended",
    "brand": "as the page says",
    "sku": "as the page says",
    "gtin": "a barcode's number, checked",
    "mpn": "the maker's number",
    "image": "a picture's URL",
    "group_key": "the URL by which captures are of one page",
    "snapshot_count": "its captures",
    "first_at": "of its first capture",
    "shown_at": "of the capture that is shown",
    "outlink_count": "links that go out of it",
    "epoch": "the attempt, counted from 1",
    "page_type": "homepage, pdp, page, media",
    "viewport": "desktop or mobile",
    "http_status": "as the server answered",
    "low_confidence_reasons": "why it is not to be trusted much",
    "load_timings": "how long it took",
    "verdict": "what the rule decided, and on which evidence",
    "facts": "what the page says of its product",
    "price": "an exact decimal",
    "list_price": "the price that it was crossed out from",
    "availability": "as schema.org has it",
    "length": "in bytes",
    "mime_type": "as the server declared it",
    "status_code": "as the server answered",
    "document": "days by collection, as JSON",
    "dry_run": "whether nothing was to be deleted",
    "total_deleted": "rows that went",
    "duration_ms": "how long it took",
    "pattern": "a glob of URLs",
    "reason": "why, in a word",
    "owner": "the process that has it: host, number, and when it began",
    "alive_until": "the process is gone when this is over",
    "max_pages": "no more pages than that are planned",
    "stop_requested_at": "when somebody asked for its stop",
    "last_error": "what went wrong last",
    "subject_id": "the key of what ended",
    "cause": "why it ended so, in a stable word",
    "sessions": "how many there were",
    "median_latency_ms": "of its pages",
    "mode": "standard, debug or evidence_pack",
    "retention_policy": "short, standard or long",
    "heartbeat_at": "the last sign of life",
    "crawl_policy_version": "the version of the rule",
    "final_url": "where its start page was found",
    "pdp_url": "its product page",
    "low_confidence": "whether one of its pages is not to be trusted much",
    "from_job_id": "the job of the earlier capture",
    "to_job_id": "the job of the later capture",
    "from_captured_at": "the earlier capture's time",
    "to_captured_at": "the later capture's time",
    "to_text_id": "the later capture's text",
    "change_type": "what kind of change it is",
    "summary": "the change in a sentence",
    "added_sections": "counted",
    "removed_sections": "counted",
    "changed_sections": "counted",
    "added_lines": "counted",
    "removed_lines": "counted",
    "change_ratio": "how much of the text, from 0 to 1",
    "diff_version": "of the comparison",
    "normalization_version": "of what is compared",
    "computed_at": "when it was compared",
    "error_message": "why it could not be compared",
    "captured_at": "when the answer came",
    "snippet": "the beginning of its text",
    "language": "as the page declares or reads",
    "find_snippet": "the same, folded for the search",
    "find_url": "the URL, folded for the search",
    "base_url": "where it begins",
    "description": "in a sentence",
    "enabled": "whether jobs are made of it",
    "mark": "what stands in the store's own mark",
    "state": "open, sealed or gone",
    "sealed_at": "when it was closed",
    "gone_at": "when it went",
    "gone_why": "why it went",
    "form": "the word as it is written",
    "word": "as the search has it",
}


def tables() -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Each table with what it is and its columns: name, type, and what stands in it."""
    for mapper in sorted(Base.registry.mappers, key=lambda each: str(each.local_table)):
        said = _said(mapper)
        columns = [
            (column.name, _type(column), _about(column, said)) for column in mapper.local_table.columns
        ]
        yield str(mapper.local_table), _first_line(mapper), columns


def _first_line(mapper: Mapper[Any]) -> str:
    return _SPECIFIED.sub("", (mapper.class_.__doc__ or "").strip().splitlines()[0])


def _type(column: Any) -> str:
    words = str(column.type.compile(dialect=postgresql.dialect())).lower()  # type: ignore[no-untyped-call]
    words = words.replace("timestamp with time zone", "time").replace("character varying", "text")
    words = words.replace("varchar", "text")
    return words if not column.nullable else f"{words}, or null"


def _about(column: Any, said: dict[str, str]) -> str:
    parts = [said.get(column.name, "")]
    parts += [f"refers to `{key.column.table.name}.{key.column.name}`" for key in column.foreign_keys]
    words = _SPECIFIED.sub("", "; ".join(part for part in parts if part))
    return words or ALIKE[column.name]


def _said(mapper: Mapper[Any]) -> dict[str, str]:
    """The comments beside the attributes of a model, and above them."""
    said: dict[str, str] = {}
    above: list[str] = []
    name = ""
    for kind in reversed(mapper.class_.__mro__):
        if kind.__module__.startswith(models.__name__):
            for line in inspect.getsource(kind).splitlines():
                comment = _COMMENT.search(line)
                if found := _ATTRIBUTE.match(line):
                    name = found[1]
                    said[name] = " ".join(above)
                    above = []
                elif comment and line.strip().startswith("#"):
                    above.append(comment[1])
                    continue
                elif not line.strip():
                    above = []
                if comment and name:
                    said[name] = "; ".join(part for part in (said[name], comment[1]) if part)
    return said
