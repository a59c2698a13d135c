"""The rows of WARC files: what is in each of them, and whether it is still written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import evolve
from sqlalchemy import select, update

from crawler.clock import utc_now
from crawler.db.lists import evened
from crawler.db.models import Record, WarcFile
from crawler.db.upsert import insert_rows
from crawler.evidence.unchanged import original_of
from crawler.warc.cdxj import stored_key
from crawler.warc.records import NOT_MODIFIED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
# A page writes its record with its own row, its file writes all of them, in either order. A page that repeats
# an answer may be written before the answer.
_KNOWN = """("warc_file_id", "offset") DO UPDATE SET "original_id" = excluded."original_id"
    WHERE "records"."original_id" IS NULL AND excluded."original_id" IS NOT NULL"""


class WarcRows:
    """Writes the rows of files and of their answers, as the shelf that writes the files reports them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def opened(self, folder: Path, path: str, session_id: UUID | None) -> int | None:
        """A file was begun."""
        row = WarcFile(folder=_named(folder), path=path, session_id=session_id, created_at=utc_now())
        with self._database.write() as db:
            db.add(row)
            db.flush()
            return row.id

    def answered(self, folder: Path, path: str, answers: Sequence[Shelved]) -> None:
        """Write the records of answers that a file has, pages or not; those that are known stay."""
        which = (WarcFile.folder == _named(folder), WarcFile.path == path)
        with self._database.write() as db:
            file_id = db.scalar(select(WarcFile.id).where(*which))
            if file_id is None:  # its writer died before it had a row
                row = WarcFile(folder=_named(folder), path=path, created_at=utc_now())
                db.add(row)
                db.flush()
                file_id = row.id
            numbers = write_records(db, [evolve(each, file_id=file_id) for each in answers])
        for each in answers:
            if each.pair.status == NOT_MODIFIED:
                self._find_original(numbers[file_id, each.offset])

    def _find_original(self, record_id: int) -> None:
        """Have the record of a 304 name the answer that it repeats."""
        with self._database.read() as db:
            record = db.get_one(Record, record_id)
        original = original_of(self._database, record)
        with self._database.write() as db:
            db.execute(update(Record).where(Record.id == record_id).values(original_id=original))

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

    def answered(self, folder: Path, path: str, answers: Sequence[Shelved]) -> None:
        """Nobody hears of them."""

    def sealed(self, folder: Path, facts: FileFacts) -> None:
        """Nobody hears of it."""

    def left_open(self, _folder: Path, /) -> list[str]:
        """Nobody knows of any."""
        return []


def write_records(db: Session, shelved: Sequence[Shelved]) -> dict[tuple[int | None, int], int]:
    """Write the rows of answers that are stored in WARC files; return their ids, by file and offset."""
    # Always in the same order: two transactions that write the same rows must not wait for each other.
    shelved = sorted(shelved, key=lambda each: (each.file_id or 0, each.offset))
    originals = [each for each in shelved if each.pair.original is None]
    repeats = [each for each in shelved if each.pair.original is not None]
    insert_rows(db, _RECORDS, [_record_row(each, {}) for each in originals], on_conflict=_KNOWN)
    known = _originals_of(db, repeats)
    insert_rows(db, _RECORDS, [_record_row(each, known) for each in repeats], on_conflict=_KNOWN)
    files, offsets = {each.file_id for each in shelved}, [each.offset for each in shelved]
    query = select(Record.warc_file_id, Record.offset, Record.id).where(
        Record.warc_file_id.in_(evened(files)), Record.offset.in_(evened(offsets))
    )
    return {
        (file, offset): number
        for file, offset, number in db.connection().execute(query)
        if offset is not None
    }


def _originals_of(db: Session, repeats: Sequence[Shelved]) -> dict[tuple[int | None, str], int]:
    """Return the ids of the answers that others repeat, by their file and their own name."""
    if not repeats:
        return {}
    files = {each.file_id for each in repeats}
    names = {each.pair.original.record_id for each in repeats if each.pair.original is not None}
    query = select(Record.warc_file_id, Record.record_urn, Record.id).where(
        Record.warc_file_id.in_(evened(files)), Record.record_urn.in_(evened(names))
    )
    return {(file, name or ""): number for file, name, number in db.connection().execute(query)}


def _record_row(shelved: Shelved, originals: Mapping[tuple[int | None, str], int]) -> dict[str, Any]:
    pair = shelved.pair
    original = pair.original and originals.get((shelved.file_id, pair.original.record_id))
    return {
        "warc_file_id": shelved.file_id, "offset": shelved.offset, "length": pair.length,
        "record_urn": pair.record_id, "kind": pair.kind, "original_id": original, "url": pair.url,
        "url_key": stored_key(pair.lookup_url or pair.url), "captured_at": pair.captured_at,
        "mime_type": pair.mime_type, "status_code": pair.status, "payload_digest": pair.payload_digest,
    }  # fmt: skip


def note_erasure(db: Session, path: Path, done: Erasure, reason: str) -> None:
    """Have a file's row say that it is another now, and the rows of what was erased that it is gone."""
    file = row_of(db, path)
    if file is None:
        return
    said = {"sha256_before": done.sha256_before, "records": len(done.records), "why": reason}
    file.damage = {**(file.damage or {}), "erased": [*(file.damage or {}).get("erased", ()), said]}
    file.sha256 = done.sha256_for(file.sha256)
    offsets = [each["offset"] for each in done.records]
    for begin in range(0, len(offsets), OFFSETS_AT_ONCE):
        some = Record.offset.in_(offsets[begin : begin + OFFSETS_AT_ONCE])
        gone = update(Record).where(Record.warc_file_id == file.id, some)
        db.execute(gone.values(gone_at=utc_now()), execution_options={"synchronize_session": False})


def row_of(db: Session, path: Path) -> WarcFile | None:
    """Return the row of the file at a path; None where the database knows of none."""
    whole = WarcFile.folder.concat("/").concat(WarcFile.path)
    return db.scalar(select(WarcFile).where(whole.in_([str(path.absolute()), str(path.resolve())])))


def _named(folder: Path) -> str:
    return str(folder.absolute())
