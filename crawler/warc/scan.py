"""All records of a file in order: what is whole is given, what is damaged is named. Pure.

A gzip member has to end as its own checksum says, to begin with `WARC/`, and to hold as much as the record
in it says. Where one does not, reading goes on at the next member that begins a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from crawler.warc.digests import Checks
from crawler.warc.members import (
    BEGIN,
    MAGIC,
    BadRecordError,
    FileBytes,
    Members,
    Plain,
    begins_record,
    candidates,
    size_from,
)
from crawler.warc.messages import HEAD_END
from crawler.warc.reader import (
    LONGEST_END,
    MAX_FIELDS_BYTES,
    NOTHING,
    Bad,
    Entry,
    RecordStream,
    joined,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from crawler.warc.members import Source

HEAD_BYTES = 64 * 1024  # of a block, which hold an HTTP head
MOST_REQUEST_BYTES = 64 * 1024  # of a request that are kept


def walk(
    file: BinaryIO, *, keep: int = HEAD_BYTES, start: int = 0, digests: bool = True
) -> Iterator[Entry | Bad]:
    """Yield every record of a file with `keep` bytes of its block, and every stretch that is none, in order.

    Without `digests` only the checksums of gzip members are compared.
    """
    return _Scan(file, keep, digests=digests).entries(start)


class _Scan:
    """One way through a file."""

    def __init__(self, file: BinaryIO, keep: int, *, digests: bool) -> None:
        self._is_packed = packed(file)
        self._file = FileBytes(file)
        self._keep = keep
        self._digests = digests
        self._end = 0  # where the next record begins
        self._mark: str | None = None  # the WARC-Warcinfo-ID of the records that were read

    def entries(self, offset: int) -> Iterator[Entry | Bad]:
        """Yield the records and bad stretches from an offset on."""
        while self._file.at(offset, 1):
            try:
                yield from self._at(offset)
            except BadRecordError as error:
                self._end = self._resync(offset)
                if error.reason != NOTHING:
                    yield Bad(offset, self._end - offset, error.reason)
            offset = self._end

    def _at(self, offset: int) -> Generator[Entry]:
        """Yield the records of the member at an offset, each once it is known to be whole."""
        if not self._is_packed:
            yield self._plain(offset)
            return
        if self._file.exactly(offset, len(MAGIC)) != MAGIC:
            raise BadRecordError("no_member")
        source = Members(self._file, offset)
        entry, rest = self._read(source, b"", offset)
        while rest:  # records that share a member
            following, rest = self._read(source, rest, offset)
            entry.is_seekable = following.is_seekable = False
            yield entry
            entry = following
        self._end = source.end
        entry.length = source.end - offset
        yield entry

    def _plain(self, offset: int) -> Entry:
        source = Plain(self._file, offset)
        entry, rest = self._read(source, b"", offset)
        self._end = source.end - len(rest)
        entry.length = self._end - offset
        return entry

    def _read(self, source: Source, begin: bytes, offset: int) -> tuple[Entry, bytes]:
        record = RecordStream(source, begin)
        head = record.head
        # The payload of a revisit is in another record, and that of a segment is in several.
        is_elsewhere = head.kind == "revisit" or head.get("warc-segment-number") is not None
        payload = None if is_elsewhere else head.get("warc-payload-digest")
        entry = Entry(offset, 0, head, b"", record.length, is_seekable=True)
        checks = Checks(head.get("warc-block-digest"), payload) if self._digests else None
        # What an answer is looked up by may depend on what its request sent.
        keep = max(self._keep, MOST_REQUEST_BYTES) if head.kind == "request" else self._keep
        _Block(entry, checks, keep).read(record)
        self._mark = head.get("warc-warcinfo-id") or self._mark
        return entry, record.after

    def _resync(self, offset: int) -> int:
        """Return the offset of the next record, or the file's end.

        A site may send a WARC file as its answer, so that its records are found behind damage. A record
        that names the same WARC-Warcinfo-ID as the records before is therefore preferred.
        """
        first: int | None = None
        for at, head in candidates(self._file, offset + 1, is_packed=self._is_packed):
            if self._mark is None or self._mark.encode() in head:
                return at
            first = at if first is None else first
        return size_from(self._file, offset) if first is None else first


def packed(file: BinaryIO) -> bool:
    """Whether records are stored in gzip members."""
    file.seek(0)
    return not begins_record(file.read(len(BEGIN)))


class _Block:
    """Reads a block to its end: keeps its beginning, finds its HTTP head, computes its digests."""

    def __init__(self, entry: Entry, checks: Checks | None, keep: int) -> None:
        self._entry = entry
        self._checks = checks
        self._keep = keep
        self._kept: list[memoryview] = []
        self._begin: bytes | bytearray = b""  # of a message whose head has not ended yet

    def read(self, record: RecordStream) -> None:
        """Read the block; damage raises BadRecordError."""
        entry, left, in_head = self._entry, self._keep, record.head.is_http
        for piece in record.views():
            body_at = self._body_at(piece) if in_head else 0
            in_head = in_head and body_at is None
            if self._checks is not None:
                self._checks.update(piece, body_at)
            if left:
                self._kept.append(piece[:left])
                left -= len(self._kept[-1])
        if in_head and record.length <= MAX_FIELDS_BYTES:
            entry.message_bytes = bytes(self._begin) + b"\r\n\r\n"
        entry.block = b"".join(self._kept)
        if self._checks is not None:
            entry.block_ok, entry.payload_ok = self._checks.verdict()

    def _body_at(self, piece: memoryview) -> int | None:
        """Return where in a piece the message's body begins; None if it does not yet."""
        before = len(self._begin)
        data: memoryview | bytes | bytearray = joined(self._begin, piece) if before else piece
        end = HEAD_END.search(data, max(0, before - LONGEST_END))
        if end is not None:
            self._entry.message_bytes = bytes(data[: end.end()])
            return end.end() - before
        if len(data) > MAX_FIELDS_BYTES:
            if self._checks is not None:
                self._checks.without_payload()
            return len(piece)
        self._begin = bytes(data) if isinstance(data, memoryview) else data
        return None
