"""Reads one record from its offset; `scan` reads all records of a file. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Self

from attrs import define, field, frozen

from crawler.warc.members import (
    BEGIN,
    MAGIC,
    PLAIN_BEGIN_BYTES,
    RECORD_BEGINS,
    BadRecordError,
    FileBytes,
    Members,
    Plain,
    begins_record,
)
from crawler.warc.messages import HEAD_END, MessageHead, as_words
from crawler.warc.methods import GET, lookup_url, sent_query
from crawler.warc.records import EXCHANGED, NOT_MODIFIED, RecordHead, date_precision, read_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from crawler.warc.members import Source

NOT_SEEKABLE = "not_seekable"  # a record that shares its gzip member with others: no offset leads to it
NOTHING = "empty"  # a gzip member that has blank lines at most
MAX_FIELDS_BYTES = 256 * 1024  # of a record's own head
LONGEST_END = 4
_MAX_LENGTH_DIGITS = 18


@frozen
class Bad:
    """A stretch of a file that holds no whole record."""

    offset: int
    length: int
    reason: str


@define
class Entry:
    """A whole record: its fields, the beginning of its block, and the results of its digests."""

    offset: int
    length: int  # of its bytes in the file: of its gzip members, where it has any
    head: RecordHead
    block: bytes  # its beginning, as much as was asked for
    block_length: int
    is_seekable: bool  # whether a record begins at its offset, and it is this one
    message_bytes: bytes | None = field(default=None, repr=False)  # the head of the HTTP message in it
    # Whether the digests match; None where none is given, or its algorithm is unknown.
    block_ok: bool | None = None
    payload_ok: bool | None = None
    request: Self | None = field(default=None, repr=False)  # of a response, if it is the next record to it

    @property
    def is_whole(self) -> bool:
        """Whether `block` is all of the block."""
        return len(self.block) == self.block_length

    @property
    def message(self) -> MessageHead | None:
        """The HTTP message's first line and headers."""
        return None if self.message_bytes is None else MessageHead.of(self.message_bytes)

    @property
    def captured_at(self) -> datetime | None:
        """The time of capture: that of WARC-Date, else that of the HTTP Date header."""
        at = read_date(self.head.get("warc-date"))
        if at is None and (message := self.message) is not None:
            return read_date(message.get(b"date"))
        return at

    @property
    def date_precision(self) -> str | None:
        """The last unit of a WARC-Date without seconds: minute, day, month or year."""
        return date_precision(self.head.get("warc-date"))

    @property
    def kind(self) -> str:
        """Its type; a response with status 304 counts as a revisit."""
        message = self.message if self.head.kind == "response" else None
        return "revisit" if message is not None and message.status == NOT_MODIFIED else self.head.kind

    @property
    def method(self) -> str:
        """The method of its request; GET if no request is known."""
        message = self.request.message if self.request is not None else None
        return GET if message is None else as_words(message.first.partition(b" ")[0]).upper() or GET

    @property
    def lookup_url(self) -> str:
        """The URL that it is looked up by: with what its request sent, unless that was a GET."""
        url, method = self.head.url or "", self.method
        return url if method == GET else lookup_url(url, method, *self._sent)

    @property
    def sent(self) -> str:
        """The body of its request as parameters of a query."""
        kind, body = self._sent
        return sent_query(kind, body) if body else ""

    @property
    def _sent(self) -> tuple[str, bytes]:
        message = self.request.message if self.request is not None else None
        if message is None or self.request is None:
            return "", b""
        return message.get(b"content-type") or "", self.request.block[message.size :]

    @property
    def digests_checked(self) -> int:
        """The number of its digests that were compared."""
        return sum(ok is not None for ok in (self.block_ok, self.payload_ok))

    @property
    def digests_wrong(self) -> int:
        """The number of its digests that do not match."""
        return sum(ok is False for ok in (self.block_ok, self.payload_ok))


def paired(records: Iterable[Entry | Bad]) -> Iterator[Entry | Bad]:
    """Yield the same records; each response has its request, if that is the record before or behind it."""
    before: Entry | Bad | None = None
    for each in records:
        if isinstance(before, Entry) and isinstance(each, Entry):
            _join(before, each)
        if before is not None:
            yield before
        before = each
    if before is not None:
        yield before


def _join(one: Entry, other: Entry) -> None:
    answer, request = (other, one) if one.head.kind == "request" else (one, other)
    if request.head.kind != "request" or answer.head.kind not in EXCHANGED:
        return
    names = one.head.get("warc-record-id"), other.head.get("warc-record-id")
    if other.head.get("warc-concurrent-to") == names[0] or one.head.get("warc-concurrent-to") == names[1]:
        answer.request = request


class RecordStream:
    """A record's fields, and its block a piece at a time.

    Damage raises BadRecordError where it is met; a block that was read to its end is whole.
    """

    def __init__(self, source: Source, begin: bytes = b"") -> None:
        self._source = source
        self.head, self._data = self._read_head(begin)
        self.length = self._block_length()
        self.after = b""  # the beginning of the next record in the same member, once the block was read
        self._left = self.length

    def _read_head(self, begin: bytes) -> tuple[RecordHead, memoryview]:
        """Return the fields, and what was read of the block with them."""
        data: bytes | bytearray = begin
        looked_at = 0
        while (end := HEAD_END.search(data, looked_at)) is None:
            if not BEGIN.startswith(data[: len(BEGIN)].upper()):
                raise BadRecordError("no_record")
            if len(data) > MAX_FIELDS_BYTES:
                raise BadRecordError("fields_too_long")
            if not (more := self._source.more_of_record()):
                raise BadRecordError("fields_cut_short" if data else NOTHING)
            looked_at = max(0, len(data) - LONGEST_END)
            data = joined(data, more) if data else more.lstrip(b"\r\n")
        if not begins_record(data):
            raise BadRecordError("no_record")
        head = RecordHead.of(bytes(data[: end.start()]), end.end())
        return head, memoryview(data)[end.end() :]

    def _block_length(self) -> int:
        said = self.head.get("content-length") or ""
        if not (said.isascii() and said.isdigit() and len(said) <= _MAX_LENGTH_DIGITS):
            raise BadRecordError("no_length")
        return int(said)

    def block(self) -> Iterator[bytes]:
        """Yield the block, piece by piece."""
        return map(bytes, self.views())

    def views(self) -> Iterator[memoryview]:
        """Yield the block as views of the buffers that it was read into."""
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
        found = bytes(self._data).lstrip(b"\r\n")
        while len(found) < len(BEGIN) and (more := self._source.more()):
            found = (found + more).lstrip(b"\r\n")
        if found and not begins_record(found) and self._source.ends_with_record:
            self._skip_surplus(found)
            found = b""
        self.after = found

    def _skip_surplus(self, data: bytes) -> None:
        """Read to the member's end; what is there belongs to no record, and so must not look like one."""
        while data:
            if RECORD_BEGINS.search(data):
                raise BadRecordError("longer_than_it_says")
            more = self._source.more()
            data = data[-PLAIN_BEGIN_BYTES:] + more if more else b""


def joined(data: bytes | bytearray, more: bytes | memoryview) -> bytearray:
    """Append `more` to `data`, in place if possible, so that many small pieces do not cost quadratic time."""
    grown = data if isinstance(data, bytearray) else bytearray(data)
    grown += more
    return grown


def open_record(file: BinaryIO, offset: int, length: int | None = None) -> RecordStream:
    """Open the record that begins at an offset; raise BadRecordError if none does.

    With its `length`, no more than that is read of the file at once.
    """
    source = FileBytes(file) if length is None else FileBytes(file, length)
    if source.exactly(offset, len(MAGIC)) == MAGIC:
        return RecordStream(Members(source, offset))
    return RecordStream(Plain(source, offset))


def body_of(record: RecordStream) -> tuple[MessageHead | None, Iterator[bytes]]:
    """Return the HTTP head and the body as it was sent; None and the block, if it is no HTTP message."""
    if not record.head.is_http:
        return None, record.block()
    begin, looked_at, pieces = bytearray(), 0, record.block()
    for piece in pieces:
        begin += piece
        if (end := HEAD_END.search(begin, looked_at)) is not None:
            head = MessageHead.of(bytes(begin[: end.end()]))
            return head, _chained(bytes(begin[end.end() :]), pieces)
        if len(begin) > MAX_FIELDS_BYTES:
            raise BadRecordError("http_head_too_long")
        looked_at = max(0, len(begin) - LONGEST_END)
    return MessageHead.of(bytes(begin) + b"\r\n\r\n"), iter(())


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
