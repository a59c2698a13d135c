"""The answers in a job's WARC files, some at a time, with the bodies of those that are pages (SPEC 53-55).

Nothing is written here but the rows of files that nobody had written down.
"""

from __future__ import annotations

import hashlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from attrs import define, evolve, field, frozen
from sqlalchemy import or_, select

from crawler.archive.passes import AT_ONCE, BATCH_BYTES, taken
from crawler.db.lists import evened
from crawler.db.models import Record, Snapshot, WarcFile
from crawler.errors import CrawlerError
from crawler.evidence.warc_tools import digest_of, discover
from crawler.html.content import ContentQuestion
from crawler.storable import as_text
from crawler.warc.cdxj import stored_key
from crawler.warc.messages import decoded
from crawler.warc.methods import GET
from crawler.warc.reader import NOT_SEEKABLE, Bad, body_of, open_record, paired
from crawler.warc.records import ANSWERS
from crawler.warc.scan import walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from crawler.db.engine import Database
    from crawler.warc.reader import Entry

MAX_URL_CHARS = 8192
MAX_FIELD_CHARS = 300
ROWS_AT_ONCE = 16 * AT_ONCE  # answers in a batch, pages or not
MAX_DECODED_BYTES = 64 * 1024 * 1024
WHOLE_BYTES = 1024 * 1024  # of a block that is kept while it is read; longer pages are read again
# What a row and an answer have to agree in, to be the same one.
SAME = {
    "length": "length", "record_urn": "urn", "kind": "kind", "url": "url", "url_key": "url_key",
    "captured_at": "captured_at", "mime_type": "mime_type", "status_code": "status_code",
    "payload_digest": "payload_digest", "date_precision": "date_precision",
}  # fmt: skip
NO_DATE, UNDECODABLE, VANISHED = "no_date", "undecodable", "vanished"


@frozen(kw_only=True)
class Answer:
    """A stored answer, where it lies, and what of it is to be read."""

    offset: int
    length: int
    urn: str | None
    kind: str
    method: str
    url: str
    url_key: str
    captured_at: datetime | None
    date_precision: str | None
    mime_type: str | None
    status_code: int | None
    payload_digest: str | None
    content_hash: str = ""
    problem: str = ""  # why its body cannot be read
    question: ContentQuestion | None = None  # of a page that is to be read
    record_id: int | None = None  # of the row that says the same of it already
    is_unchanged: bool = False  # a page that was read before

    @property
    def is_page(self) -> bool:
        """Whether it can be found by what it says (SPEC 54)."""
        is_dated_answer = self.kind == "response" and self.captured_at is not None
        return is_dated_answer and self.method == GET and is_html(self.mime_type)


@define
class Batch:
    """Some answers of one file, and what in it could not be read."""

    file: WarcFile
    answers: list[Answer] = field(factory=list)
    bad: list[Bad] = field(factory=list)
    read_to: int = 0  # an offset
    is_last: bool = False  # of its file
    sha256: str | None = None  # of the file, in the last batch of one whose row has none yet
    _pages: int = 0
    _size: int = 0  # of their bodies

    def add(self, answer: Answer) -> None:
        """Take one more in."""
        self.answers.append(answer)
        if answer.question is not None:
            self._pages += 1
            self._size += len(answer.question.body)

    @property
    def is_full(self) -> bool:
        """Whether it is enough for one transaction."""
        return self._pages >= AT_ONCE or self._size >= BATCH_BYTES or len(self.answers) >= ROWS_AT_ONCE


def is_html(mime_type: str | None) -> bool:
    """Whether a type is a page's; what has none may be one."""
    return mime_type is None or "html" in mime_type


def files_of(database: Database, output_dir: Path, job_id: int) -> tuple[list[WarcFile], list[WarcFile]]:
    """The rows of a job's files, those that are there and those that should be."""
    found = [(path, path.stat().st_size) for path in discover(output_dir)]
    with database.write() as db:
        named = or_(WarcFile.job_id == job_id, WarcFile.folder.in_([str(output_dir), f"{output_dir}/warcs"]))
        rows = {f"{row.folder}/{row.path}": row for row in db.scalars(select(WarcFile).where(named))}
        there: list[WarcFile] = []
        for path, size in found:
            row = rows.pop(str(path), None)
            if row is None:
                inside = str(path.relative_to(output_dir))
                row = WarcFile(folder=str(output_dir), path=inside, state="sealed", created_at=db.now)
                db.add(row)
            row.job_id, row.size_bytes, row.gone_at, row.gone_why = job_id, size, None, None
            row.state = row.state if row.state != "gone" else "sealed"
            there.append(row)
        db.flush()
    lost = [row for row in rows.values() if row.gone_at is None and row.state != "open"]
    return there, lost


def batches(database: Database, files: list[WarcFile], *, again: bool) -> Iterator[Batch]:
    """The answers of all files; `again` has pages read that were read before."""
    return chain.from_iterable(_of_file(database, file, again=again) for file in files)


def _of_file(database: Database, row: WarcFile, *, again: bool) -> Iterator[Batch]:
    path = Path(row.folder) / row.path
    batch = Batch(row)
    try:
        with path.open("rb") as file, path.open("rb") as beside:
            # Whether bytes are what their digests say is the question of `vitrine warcs verify`.
            for found in paired(walk(file, keep=WHOLE_BYTES, digests=False)):
                _add(batch, found, beside)
                if batch.is_full:
                    yield _compared(database, batch, again=again)
                    batch = Batch(row)
    except OSError as error:  # it vanished, or its disk did
        batch.bad.append(Bad(0, row.size_bytes, f"{VANISHED}: {error.strerror}"))
    else:
        batch.sha256 = None if row.sha256 else digest_of(path)
    batch.is_last = True
    yield _compared(database, batch, again=again)


def _add(batch: Batch, found: Entry | Bad, beside: BinaryIO) -> None:
    batch.read_to = found.offset + found.length
    if isinstance(found, Bad):
        batch.bad.append(found)
        return
    url = found.head.url or ""
    if found.head.kind not in ANSWERS or not url[:8].lower().startswith(("http://", "https://")):
        return
    if not found.is_seekable:
        batch.bad.append(Bad(found.offset, found.length, NOT_SEEKABLE))
        return
    answer = _answer(found, as_text(url, MAX_URL_CHARS), beside)
    if answer.captured_at is None:
        batch.bad.append(Bad(found.offset, found.length, NO_DATE))
    batch.add(answer)


def _answer(entry: Entry, url: str, beside: BinaryIO) -> Answer:
    head, message = entry.head, entry.message
    mime = _short(message.mime_type if message else head.get("content-type"))
    answer = Answer(
        offset=entry.offset, length=entry.length, urn=_short(head.get("warc-record-id")), kind=entry.kind,
        method=entry.method, url=url, url_key=_key(entry, url), captured_at=entry.captured_at,
        date_precision=entry.date_precision,
        mime_type=mime.lower() if mime else None,
        status_code=message.status if message else None,
        payload_digest=_short(head.get("warc-payload-digest")),
    )  # fmt: skip
    return _with_body(answer, entry, beside) if answer.is_page else answer


def _key(entry: Entry, url: str) -> str:
    return stored_key(url if entry.method == GET else entry.lookup_url)


def _with_body(answer: Answer, entry: Entry, beside: BinaryIO) -> Answer:
    message = entry.message
    said = (message.get(b"content-type") if message else None) or ""
    language = (message.get(b"content-language") if message else None) or ""
    try:
        body, digest = _body(entry, beside)
    except CrawlerError:  # not packed as it says, or to be unpacked to more than any page
        raw = hashlib.sha256(entry.block).hexdigest()
        return evolve(answer, problem=UNDECODABLE, content_hash=raw)
    question = ContentQuestion(
        body, answer.url, as_text(said, MAX_FIELD_CHARS), as_text(language, MAX_FIELD_CHARS)
    )
    return evolve(answer, question=question, content_hash=digest)


def _body(entry: Entry, beside: BinaryIO) -> tuple[bytes, str]:
    message = entry.message
    if message is not None and entry.is_whole:
        pieces = iter((entry.block[message.size :],))
    else:
        message, pieces = body_of(open_record(beside, entry.offset))
    return taken(decoded(message, pieces, MAX_DECODED_BYTES) if message is not None else pieces)


def _short(text: str | None) -> str | None:
    return as_text(text, MAX_FIELD_CHARS) if text else None


def _compared(database: Database, batch: Batch, *, again: bool) -> Batch:
    """The same, without what is known already: rows that say so, and pages that were read before."""
    if not batch.answers:
        return batch
    offsets = [each.offset for each in batch.answers]
    query = (
        select(Record, Snapshot.id)
        .outerjoin(Snapshot, Snapshot.record_id == Record.id)
        .where(
            Record.warc_file_id == batch.file.id, Record.offset.in_(evened(offsets)), Record.gone_at.is_(None)
        )
    )
    with database.read() as db:
        known = {row.offset: (row, snapshot) for row, snapshot in db.execute(query)}
    batch.answers = [
        _without_known(each, *known.get(each.offset, (None, None)), again=again) for each in batch.answers
    ]
    return batch


def _without_known(answer: Answer, row: Record | None, snapshot: int | None, *, again: bool) -> Answer:
    if row is None or any(getattr(row, name) != getattr(answer, mine) for name, mine in SAME.items()):
        return answer
    if snapshot is None or again or not answer.is_page:
        return evolve(answer, record_id=row.id)
    return evolve(answer, record_id=row.id, question=None, is_unchanged=True)
