"""Reads files of records: what is whole is given, what is damaged is named, and only that is lost. Pure.

A gzip member has to end as its own checksum says, to begin with `WARC/`, and to hold as much as the record
in it says. Where one does not, reading goes on at the next member that begins a record.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, BinaryIO

from attrs import define, field, frozen

from crawler.warc.digests import Beside, Checks
from crawler.warc.members import (
    BEGIN,
    MAGIC,
    PLAIN_BEGIN_BYTES,
    BadRecordError,
    FileBytes,
    Members,
    Plain,
    candidates,
    size_from,
)
from crawler.warc.messages import MessageHead
from crawler.warc.records import RecordHead

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from crawler.warc.members import Source

NOTHING = "empty"  # a member of nothing but blank lines
HEAD_BYTES = 64 * 1024  # of a block, which hold an HTTP head; kept for whoever asks for no more
MAX_FIELDS_BYTES = 256 * 1024  # of a record's own head
# So many records are read beyond the one that is given, whose digests are made meanwhile.
_AHEAD = 4
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LONGEST_END = 4
_MAX_LENGTH_DIGITS = 18


@frozen
class Bad:
    """A stretch of a file that no whole record can be read from."""

    offset: int
    length: int
    reason: str


@define
class Entry:
    """A record that was read to its end, and found whole."""

    offset: int
    length: int  # with the member, or members, that it lies in
    head: RecordHead
    block: bytes  # the beginning of it, or all
    block_length: int
    is_seekable: bool  # whether a record begins at its offset, and it is this one
    message_bytes: bytes | None = field(
        default=None, repr=False
    )  # the head of the HTTP message that it holds
    _checks: Checks | None = field(default=None, repr=False, eq=False)

    @property
    def is_whole(self) -> bool:
        """Whether the block is all there."""
        return len(self.block) == self.block_length

    @property
    def message(self) -> MessageHead | None:
        """The HTTP message's first line and headers."""
        return None if self.message_bytes is None else MessageHead.of(self.message_bytes)

    @property
    def block_ok(self) -> bool | None:
        """Whether the block is what its digest says; None where none is given, or none that can be made."""
        return None if self._checks is None else self._checks.verdict()[0]

    @property
    def payload_ok(self) -> bool | None:
        """The same of the payload."""
        return None if self._checks is None else self._checks.verdict()[1]

    @property
    def digests_checked(self) -> int:
        """How many of its digests were made again."""
        return sum(ok is not None for ok in (self.block_ok, self.payload_ok))

    @property
    def digests_wrong(self) -> int:
        """How many of them are others."""
        return sum(ok is False for ok in (self.block_ok, self.payload_ok))


# ── one record ──


class RecordStream:
    """A record's fields at once, and its block a piece at a time; it ends well if all of it was whole."""

    def __init__(self, source: Source, begin: bytes = b"") -> None:
        self._source = source
        self.head, self._data = self._read_head(begin)
        self.length = self._block_length()
        self.after = b""  # the record that follows in the same member, once the block was read
        self._left = self.length

    def _read_head(self, begin: bytes) -> tuple[RecordHead, memoryview]:
        """The fields, and what was read of the block with them."""
        data: bytes | bytearray = begin
        looked_at = 0
        while (end := _HEAD_END.search(data, looked_at)) is None:
            if not data.startswith(BEGIN[: len(data)]):
                raise BadRecordError("no_record")
            if len(data) > MAX_FIELDS_BYTES:
                raise BadRecordError("fields_too_long")
            if not (more := self._source.more_of_record()):
                raise BadRecordError("fields_cut_short" if data else NOTHING)
            looked_at = max(0, len(data) - _LONGEST_END)
            data = _joined(data, more) if data else more.lstrip(b"\r\n")
        if not data.startswith(BEGIN):
            raise BadRecordError("no_record")
        head = RecordHead.of(bytes(data[: end.start()]), end.end())
        return head, memoryview(data)[end.end() :]

    def _block_length(self) -> int:
        said = self.head.get("content-length") or ""
        if not (said.isascii() and said.isdigit() and len(said) <= _MAX_LENGTH_DIGITS):
            raise BadRecordError("no_length")
        return int(said)

    def block(self) -> Iterator[bytes]:
        """The block, piece by piece."""
        return map(bytes, self.views())

    def views(self) -> Iterator[memoryview]:
        """The same, uncopied."""
        while self._left:
            if not self._data:
                self._data = memoryview(self._source.more_of_record())
                if not self._data:
                    raise BadRecordError("block_cut_short")
            piece = self._data[: self._left]
            self._data = self._data[len(piece) :]
            self._left -= len(piece)
            yield piece
        self._read_after()

    def _read_after(self) -> None:
        data = bytes(self._data)
        while not (found := data.lstrip(b"\r\n")) and (more := self._source.more()):
            data = more
        if found and not found.startswith(BEGIN) and self._source.ends_with_record:
            raise BadRecordError("longer_than_it_says")
        self.after = found


def _joined(data: bytes | bytearray, more: bytes | memoryview) -> bytearray:
    """Both in one; what grows by many small pieces is not copied for each."""
    grown = data if isinstance(data, bytearray) else bytearray(data)
    grown += more
    return grown


# ── a whole file ──


def walk(
    file: BinaryIO, *, keep: int = HEAD_BYTES, start: int = 0, digests: bool = True
) -> Generator[Entry | Bad]:
    """Every record of a file with `keep` bytes of its block, and every stretch that is none, in order.

    Without `digests` only members' own checksums are looked at.
    """
    with Beside() as beside:
        found = _Walk(file, keep, beside, digests=digests).entries(start)
        yield from _later(found, _AHEAD) if digests else found


def _later(found: Iterable[Entry | Bad], by: int) -> Iterator[Entry | Bad]:
    """The same, each after so many others were read; an error comes after what was read before it."""
    waiting: deque[Entry | Bad] = deque()
    try:
        for each in found:
            waiting.append(each)
            if len(waiting) > by:
                yield waiting.popleft()
    except OSError:
        yield from waiting
        raise
    yield from waiting


def open_record(file: BinaryIO, offset: int, length: int | None = None) -> RecordStream:
    """The record that begins at an offset; raises BadRecordError where none does.

    Where its length is known, not more than that is read of the file at once.
    """
    source = FileBytes(file) if length is None else FileBytes(file, length)
    if source.exactly(offset, len(MAGIC)) == MAGIC:
        return RecordStream(Members(source, offset))
    return RecordStream(Plain(source, offset))


def body_of(record: RecordStream) -> tuple[MessageHead | None, Iterator[bytes]]:
    """What was answered: the head, and the body as it was sent; of what is no HTTP message the block."""
    if not record.head.is_http:
        return None, record.block()
    begin, looked_at, pieces = bytearray(), 0, record.block()
    for piece in pieces:
        begin += piece
        if (end := _HEAD_END.search(begin, looked_at)) is not None:
            head = MessageHead.of(bytes(begin[: end.end()]))
            return head, _chained(bytes(begin[end.end() :]), pieces)
        if len(begin) > MAX_FIELDS_BYTES:
            raise BadRecordError("http_head_too_long")
        looked_at = max(0, len(begin) - _LONGEST_END)
    return MessageHead.of(bytes(begin) + b"\r\n\r\n"), iter(())


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


class _Walk:
    """Goes through one file."""

    def __init__(self, file: BinaryIO, keep: int, beside: Beside, *, digests: bool) -> None:
        self._file = FileBytes(file)
        self._keep = max(keep, 0)
        self._beside = beside
        self._digests = digests
        self._set: str | None = None  # the file's own mark in its records
        begin = self._file.exactly(0, PLAIN_BEGIN_BYTES)
        self._is_packed = not begin.startswith(BEGIN)
        self._end = 0

    def entries(self, offset: int) -> Iterator[Entry | Bad]:
        while self._file.at(offset, 1):
            try:
                yield from self._at(offset)
                following = self._end
            except BadRecordError as error:
                following = self._resync(offset)
                if error.reason == NOTHING:
                    offset = following
                    continue
                yield Bad(offset, following - offset, error.reason)
            offset = following

    def _at(self, offset: int) -> Generator[Entry]:
        """The records of the member at an offset; each is given once it is known to be whole."""
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
        # What a revisit has in place of its payload is somewhere else.
        payload = None if head.kind == "revisit" else head.get("warc-payload-digest")
        checks = Checks(self._beside, head.get("warc-block-digest"), payload) if self._digests else None
        entry = Entry(offset, 0, head, b"", record.length, is_seekable=True, checks=checks)
        _Block(entry, checks, self._keep).read(record)
        self._set = head.get("warc-warcinfo-id") or self._set
        return entry, record.after

    def _resync(self, offset: int) -> int:
        """Where the next record begins, or the file's end.

        A stored answer may itself be such a file, put there to be found by whoever looks for records in a
        damaged one. So a member that bears the mark of the records before is believed before others.
        """
        first: int | None = None
        for at, head in candidates(self._file, offset + 1, is_packed=self._is_packed):
            if self._set is None or self._set.encode() in head:
                return at
            first = at if first is None else first
        return size_from(self._file, offset) if first is None else first


class _Block:
    """Reads a block to its end: keeps its beginning, finds the message in it, has its digests made again."""

    def __init__(self, entry: Entry, checks: Checks | None, keep: int) -> None:
        self._entry = entry
        self._checks = checks
        self._keep = keep
        self._kept: list[memoryview] = []
        self._begin: bytes | bytearray = b""  # of a message whose head has not ended yet

    def read(self, record: RecordStream) -> None:
        """To its end, or to where it is damaged."""
        left, in_head = self._keep, record.head.is_http
        for piece in record.views():
            body_at = self._body_at(piece) if in_head else 0
            in_head = in_head and body_at is None
            if self._checks is not None:
                self._checks.update(piece, body_at)
            if left:
                self._kept.append(piece[:left])
                left -= len(self._kept[-1])
        if in_head and record.length <= MAX_FIELDS_BYTES:
            self._entry.message_bytes = bytes(self._begin) + b"\r\n\r\n"
        self._entry.block = b"".join(self._kept)

    def _body_at(self, piece: memoryview) -> int | None:
        """Where in a piece the message's body begins; None where it does not yet."""
        before = len(self._begin)
        data: memoryview | bytes | bytearray = _joined(self._begin, piece) if before else piece
        end = _HEAD_END.search(data, max(0, before - _LONGEST_END))
        if end is not None:
            self._entry.message_bytes = bytes(data[: end.end()])
            return end.end() - before
        if len(data) > MAX_FIELDS_BYTES:
            if self._checks is not None:
                self._checks.without_payload()
            return len(piece)
        self._begin = bytes(data) if isinstance(data, memoryview) else data
        return None
