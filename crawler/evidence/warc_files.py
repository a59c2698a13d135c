"""The rows of WARC files: what is in each of them, and whether it is still written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import insert, select, update

from crawler.clock import utc_now
from crawler.db.models import Record, WarcFile
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.warc_shelf import FileFacts
    from crawler.evidence.warc_tools import Erasure
    from crawler.warc.records import Shelved

OFFSETS_AT_ONCE = 500
_RECORDS = cast("Table", Record.__table__)
# Built once: building a statement costs more than running it.
_RECORD = insert(_RECORDS).returning(_RECORDS.c.id, _RECORDS.c.warc_file_id, _RECORDS.c.offset)


class WarcRows:
    """Writes down which files there are; what hears of them from the shelf that writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def opened(self, folder: Path, path: str, session_id: UUID | None) -> int | None:
        """A file was begun."""
        row = WarcFile(folder=_named(folder), path=path, session_id=session_id, created_at=utc_now())
        with self._database.write() as db:
            db.add(row)
            db.flush()
            return row.id

    def sealed(self, folder: Path, facts: FileFacts) -> None:
        """A file is whole; one that nothing was in is gone. What nobody had written down is written now."""
        now = utc_now()
        values: dict[str, Any] = {
            "size_bytes": facts.size_bytes, "sha256": facts.sha256, "records": facts.records,
            "first_at": facts.first_at, "last_at": facts.last_at, "sealed_at": now, "state": "sealed",
        }  # fmt: skip
        if facts.cut_bytes:
            values["damage"] = {"cut_bytes": facts.cut_bytes, "why": "its writer died"}
        if not facts.size_bytes:
            values |= {"state": "gone", "gone_at": now, "gone_why": "empty"}
        which = (WarcFile.folder == _named(folder), WarcFile.path == facts.path)
        with self._database.write() as db:
            found = db.scalars(update(WarcFile).where(*which).values(**values).returning(WarcFile.id)).all()
            if not found and facts.size_bytes:
                db.add(WarcFile(folder=_named(folder), path=facts.path, created_at=now, **values))

    def left_open(self, folder: Path) -> list[str]:
        """Those whose rows say that they are written."""
        with self._database.read() as db:
            which = (WarcFile.folder == _named(folder), WarcFile.state == "open")
            return list(db.scalars(select(WarcFile.path).where(*which)))


class NoRows:
    """For who reads files that no database knows."""

    def opened(self, folder: Path, path: str, session_id: UUID | None) -> int | None:
        """Nobody hears of it."""

    def sealed(self, folder: Path, facts: FileFacts) -> None:
        """Nobody hears of it."""

    def left_open(self, _folder: Path, /) -> list[str]:
        """Nobody knows of any."""
        return []


def write_records(db: Session, shelved: Sequence[Shelved]) -> dict[tuple[int | None, int], int]:
    """Write the rows of answers that WARC files have; their numbers, by file and offset."""
    numbers: dict[tuple[int | None, int], int] = {}
    for repeats in (False, True):  # what is repeated may be among them, and has its number first
        rows = [_record_row(db, each) for each in shelved if (each.pair.original is not None) is repeats]
        if rows:
            written = db.connection().execute(_RECORD, rows)
            numbers |= {(file, offset): number for number, file, offset in written}
    return numbers


def _record_row(db: Session, shelved: Shelved) -> dict[str, Any]:
    pair = shelved.pair
    original = None
    if pair.original is not None:
        its = (Record.warc_file_id == shelved.file_id, Record.record_urn == pair.original.record_id)
        original = db.scalar(select(Record.id).where(*its).limit(1))
    return {
        "warc_file_id": shelved.file_id, "offset": shelved.offset, "length": pair.length,
        "record_urn": pair.record_id, "kind": pair.kind, "original_id": original, "url": pair.url,
        "url_key": stored_key(pair.url), "captured_at": pair.captured_at, "mime_type": pair.mime_type,
        "status_code": pair.status, "payload_digest": pair.payload_digest,
    }  # fmt: skip


def note_erasure(db: Session, path: Path, done: Erasure, reason: str) -> None:
    """Have a file's row say that it is another now, and the rows of what was erased that it is gone."""
    whole = WarcFile.folder.concat("/").concat(WarcFile.path)
    file = db.scalar(select(WarcFile).where(whole == str(path.absolute())))
    if file is None:
        return
    said = {"sha256_before": done.sha256_before, "records": len(done.records), "why": reason}
    file.damage = {**(file.damage or {}), "erased": [*(file.damage or {}).get("erased", ()), said]}
    file.sha256 = done.sha256
    offsets = [each["offset"] for each in done.records]
    for begin in range(0, len(offsets), OFFSETS_AT_ONCE):
        some = Record.offset.in_(offsets[begin : begin + OFFSETS_AT_ONCE])
        gone = update(Record).where(Record.warc_file_id == file.id, some)
        db.execute(gone.values(gone_at=utc_now()), execution_options={"synchronize_session": False})


def _named(folder: Path) -> str:
    return str(folder.absolute())
