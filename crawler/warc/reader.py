"""Reads files of records: what is whole is given, what is damaged is named, and only that is lost. Pure.

A gzip member has to end as its own checksum says, to begin with `WARC/`, and to hold as much as the record
in it says. Where one does not, reading goes on at the next member that begins a record.
"""

from __future__ import annotations

import base64
import hashlib
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from attrs import define, frozen
from isal import isal_zlib

from crawler.errors import IntegrityError
from crawler.warc.messages import NOT_GZIP, PIECE_BYTES, MessageHead
from crawler.warc.records import RecordHead

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

NOTHING = "empty"  # a member of nothing but blank lines
HEAD_BYTES = 64 * 1024  # of a block, which hold an HTTP head; kept for whoever asks for no more
MAX_FIELDS_BYTES = 256 * 1024  # of a record's own head
_READ_BYTES = 256 * 1024
_MEMBER_READ_BYTES = 64 * 1024
_MAGIC = b"\x1f\x8b\x08"
_BEGIN = b"WARC/"
_FIELDS_END = re.compile(rb"\r?\n\r?\n")
_RECORD_BEGINS = re.compile(rb"(?:\A|\n)WARC/[01]\.[0-9]+\r?\n")
_PLAIN_BEGIN_BYTES = 16
_PEEK_BYTES = 8192
_GZIP_WINDOW = 31
_DIGESTS = {"md5", "sha1", "sha256", "sha384", "sha512"}
_MAX_LENGTH_DIGITS = 18


class BadRecordError(IntegrityError):
    """The record is damaged."""

    code = "bad_record"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the record is damaged: {reason}")
        self.reason = reason


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
    block_ok: bool | None = None  # None: no digest is given, or none that can be made
    payload_ok: bool | None = None
    message: MessageHead | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the block is all there."""
        return len(self.block) == self.block_length

    @property
    def digests_checked(self) -> int:
        """How many of its digests were made again."""
        return sum(ok is not None for ok in (self.block_ok, self.payload_ok))

    @property
    def digests_wrong(self) -> int:
        """How many of them are others."""
        return sum(ok is False for ok in (self.block_ok, self.payload_ok))


# ── where bytes come from: one gzip member, or the file itself ──


class _Source(Protocol):
    """Bytes from an offset on, a piece at a time."""

    ends_with_record: bool

    @property
    def end(self) -> int:
        """Where the bytes that were given lie in the file, once there are no more."""

    def more(self) -> bytes:
        """The next piece, up to the end of the member."""

    def more_of_record(self) -> bytes:
        """The next piece, from the member behind it as well, if that begins no record."""


class _File:
    """A file read in large steps, from wherever it is asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data = memoryview(b"")
        self._at = 0

    def at(self, offset: int, most: int = _READ_BYTES) -> memoryview:
        """Some of the bytes from `offset` on; none at the file's end."""
        begin = offset - self._at
        if not 0 <= begin < len(self._data):
            self._file.seek(offset)
            self._data, self._at, begin = memoryview(self._file.read(_READ_BYTES)), offset, 0
        return self._data[begin : begin + most]

    def exactly(self, offset: int, length: int) -> bytes:
        """As many bytes as there are, up to `length`."""
        data = bytes(self.at(offset, length))
        while len(data) < length and (more := self.at(offset + len(data), length - len(data))):
            data += more
        return data


class _Member:
    """One gzip member, unpacked a piece at a time."""

    def __init__(self, file: _File, offset: int) -> None:
        self.end = offset
        self._file = file
        self._machine = isal_zlib.decompressobj(_GZIP_WINDOW)
        self._rest: bytes | memoryview = b""

    def more(self) -> bytes:
        """The next piece; empty at the member's end, where its checksum was found right."""
        machine: Any = self._machine
        while not machine.eof:
            data = self._rest or self._file.at(self.end, _MEMBER_READ_BYTES)
            if not data:
                raise BadRecordError("cut_short")
            if not self._rest:
                self.end += len(data)
            try:
                piece: bytes = machine.decompress(data, PIECE_BYTES)
            except NOT_GZIP as error:
                raise BadRecordError("checksum" if "checksum" in str(error) else "gzip") from None
            self._rest = machine.unconsumed_tail
            if machine.eof:
                self.end -= len(machine.unused_data)
                self._rest = b""
            if piece:
                return piece
        return b""


class _Members:
    """A member, and those behind it that begin no record: old writers ended one where they liked."""

    ends_with_record = True

    def __init__(self, file: _File, offset: int) -> None:
        self._file = file
        self._member = _Member(file, offset)

    @property
    def end(self) -> int:
        return self._member.end

    def more(self) -> bytes:
        return self._member.more()

    def more_of_record(self) -> bytes:
        piece = self._member.more()
        if not piece and _continues(self._file, self._member.end):
            self._member = _Member(self._file, self._member.end)
            piece = self._member.more()
        return piece


class _Plain:
    """A file that is not packed."""

    ends_with_record = False

    def __init__(self, file: _File, offset: int) -> None:
        self.end = offset
        self._file = file

    def more(self) -> bytes:
        data = bytes(self._file.at(self.end))
        self.end += len(data)
        return data

    more_of_record = more


# ── one record ──


class RecordStream:
    """A record's fields at once, and its block a piece at a time; it ends well if all of it was whole."""

    def __init__(self, source: _Source, begin: bytes = b"") -> None:
        self._source = source
        self._data = begin
        self.head = self._read_head()
        self.length = self._block_length()
        self.after = b""  # the record that follows in the same member, once the block was read
        self._left = self.length

    def _read_head(self) -> RecordHead:
        while (end := _FIELDS_END.search(self._data)) is None:
            if not self._data.startswith(_BEGIN[: len(self._data)]):
                raise BadRecordError("no_record")
            if len(self._data) > MAX_FIELDS_BYTES:
                raise BadRecordError("fields_too_long")
            if not (more := self._source.more_of_record()):
                raise BadRecordError("fields_cut_short" if self._data else NOTHING)
            self._data = (self._data + more).lstrip(b"\r\n")
        if not self._data.startswith(_BEGIN):
            raise BadRecordError("no_record")
        head = RecordHead.of(self._data, end.start(), end.end())
        self._data = self._data[end.end() :]
        return head

    def _block_length(self) -> int:
        said = self.head.get("content-length") or ""
        if not (said.isascii() and said.isdigit() and len(said) <= _MAX_LENGTH_DIGITS):
            raise BadRecordError("no_length")
        return int(said)

    def block(self) -> Iterator[bytes]:
        """The block, piece by piece."""
        while self._left:
            if not self._data:
                self._data = self._source.more_of_record()
                if not self._data:
                    raise BadRecordError("block_cut_short")
            piece = self._data[: self._left]
            self._data = self._data[len(piece) :]
            self._left -= len(piece)
            yield piece
        self._read_after()

    def _read_after(self) -> None:
        data = self._data
        while not (found := data.lstrip(b"\r\n")) and (more := self._source.more()):
            data = more
        if found and not found.startswith(_BEGIN) and self._source.ends_with_record:
            raise BadRecordError("longer_than_it_says")
        self.after = found


# ── a whole file ──


def walk(file: BinaryIO, *, keep: int = HEAD_BYTES, start: int = 0) -> Iterator[Entry | Bad]:
    """Every record of a file with `keep` bytes of its block, and every stretch that is none, in order."""
    return _Walk(file, keep).entries(start)


def open_record(file: BinaryIO, offset: int) -> RecordStream:
    """The record that begins at an offset; raises BadRecordError where none does."""
    source = _File(file)
    if source.exactly(offset, len(_MAGIC)) == _MAGIC:
        return RecordStream(_Members(source, offset))
    return RecordStream(_Plain(source, offset))


def body_of(record: RecordStream) -> tuple[MessageHead | None, Iterator[bytes]]:
    """What was answered: the head, and the body as it was sent; of what is no HTTP message the block."""
    if not record.head.is_http:
        return None, record.block()
    begin, pieces = b"", record.block()
    for piece in pieces:
        begin += piece
        if (head := MessageHead.of(begin)) is not None:
            return head, _chained(begin[head.size :], pieces)
        if len(begin) > MAX_FIELDS_BYTES:
            raise BadRecordError("http_head_too_long")
    head = MessageHead.of(begin + b"\r\n\r\n")
    return head, iter(())


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


class _Walk:
    """Goes through one file."""

    def __init__(self, file: BinaryIO, keep: int) -> None:
        self._file = _File(file)
        self._keep = keep
        self._set: str | None = None  # the file's own mark in its records
        begin = self._file.exactly(0, _PLAIN_BEGIN_BYTES)
        self._is_packed = not begin.startswith(_BEGIN)
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
        if self._file.exactly(offset, len(_MAGIC)) != _MAGIC:
            raise BadRecordError("no_member")
        source = _Members(self._file, offset)
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
        source = _Plain(self._file, offset)
        entry, rest = self._read(source, b"", offset)
        self._end = source.end - len(rest)
        entry.length = self._end - offset
        return entry

    def _read(self, source: _Source, begin: bytes, offset: int) -> tuple[Entry, bytes]:
        record = RecordStream(source, begin)
        entry = Entry(offset, 0, record.head, b"", record.length, is_seekable=True)
        _read_block(entry, record, self._keep)
        self._set = entry.head.get("warc-warcinfo-id") or self._set
        return entry, record.after

    def _resync(self, offset: int) -> int:
        """Where the next record begins, or the file's end.

        A stored answer may itself be such a file, put there to be found by whoever looks for records in a
        damaged one. So a member that bears the mark of the records before is believed before others.
        """
        first: int | None = None
        for at, head in self._candidates(offset + 1):
            if self._set is None or self._set.encode() in head:
                return at
            first = at if first is None else first
        return self._size(offset) if first is None else first

    def _candidates(self, offset: int) -> Iterator[tuple[int, bytes]]:
        needle = _MAGIC if self._is_packed else _BEGIN
        while data := self._file.exactly(offset, _READ_BYTES):
            at = data.find(needle)
            if at < 0:
                if len(data) < _READ_BYTES:
                    return
                offset += len(data) - len(needle) + 1
                continue
            offset += at
            head = self._begins_at(offset)
            if head is not None:
                yield offset, head
            offset += 1

    def _begins_at(self, offset: int) -> bytes | None:
        """The beginning of the record that begins here; None where none does."""
        if self._is_packed:
            return _beginning(self._file, offset)
        before = self._file.exactly(max(0, offset - 1), _PLAIN_BEGIN_BYTES + 1)
        if _RECORD_BEGINS.match(before) is None:
            return None
        return self._file.exactly(offset, _PEEK_BYTES)

    def _size(self, offset: int) -> int:
        while data := self._file.at(offset):
            offset += len(data)
        return offset


def _beginning(file: _File, offset: int) -> bytes | None:
    """The first bytes of the record in the member at an offset; None where there is none."""
    machine = isal_zlib.decompressobj(_GZIP_WINDOW)
    with suppress(NOT_GZIP):
        begin: bytes = machine.decompress(file.exactly(offset, _PEEK_BYTES), _PEEK_BYTES)
        if begin.startswith(_BEGIN):
            return begin
    return None


def _continues(file: _File, offset: int) -> bool:
    """Whether a member begins here that is no record of its own."""
    data = file.exactly(offset, _PEEK_BYTES)
    if not data.startswith(_MAGIC):
        return False
    with suppress(NOT_GZIP):
        return not isal_zlib.decompressobj(_GZIP_WINDOW).decompress(data, _PEEK_BYTES).startswith(_BEGIN)
    return False


# ── digests ──


def _read_block(entry: Entry, record: RecordStream, keep: int) -> None:
    """Read a block to its end, keep its beginning, and compare the digests that the record gives."""
    block = _Digest.of(record.head.get("warc-block-digest"))
    is_message = record.head.is_http
    # What a revisit has in place of its payload is somewhere else.
    given = None if record.head.kind == "revisit" else record.head.get("warc-payload-digest")
    payload = _Digest.of(given)
    kept: list[bytes] = []
    size, is_payload = 0, not is_message
    for piece in record.block():
        block.update(piece)
        if is_payload:
            payload.update(piece)
        if size < keep or not is_payload:
            kept.append(piece)
            size += len(piece)
        if not is_payload:
            begin = kept[0] if len(kept) == 1 else b"".join(kept)
            entry.message = MessageHead.of(begin)
            if entry.message is not None:
                is_payload = True
                payload.update(memoryview(begin)[entry.message.size :])
            elif size > MAX_FIELDS_BYTES:
                is_payload, payload = True, _Digest(None)
    if is_message and entry.message is None and size == record.length:
        entry.message = MessageHead.of(b"".join(kept) + b"\r\n\r\n")
    entry.block = (kept[0] if len(kept) == 1 else b"".join(kept))[: max(keep, 0)]
    entry.block_ok, entry.payload_ok = block.is_right(), payload.is_right()


class _Digest:
    """Compares what is read with what a field says of it."""

    def __init__(self, algorithm: str | None, wanted: bytes = b"") -> None:
        self._machine = None if algorithm is None else hashlib.new(algorithm, usedforsecurity=False)
        self._wanted = wanted

    @classmethod
    def of(cls, field: str | None) -> _Digest:
        algorithm, _, value = (field or "").partition(":")
        name = algorithm.strip().lower().replace("-", "")
        if name not in _DIGESTS:
            return cls(None)
        wanted = _binary(value.strip(), hashlib.new(name, usedforsecurity=False).digest_size)
        return cls(name, wanted)

    def update(self, data: bytes | memoryview) -> None:
        if self._machine is not None:
            self._machine.update(data)

    def is_right(self) -> bool | None:
        return None if self._machine is None else self._machine.digest() == self._wanted


def _binary(value: str, size: int) -> bytes:
    """A digest's bytes, in whichever of the usual ways they are written; empty where in none."""
    with suppress(ValueError):
        if len(value) == 2 * size:
            return bytes.fromhex(value)
        bare = value.rstrip("=")
        if len(bare) == -(-size * 8 // 5):
            return base64.b32decode(bare.upper() + "=" * (-len(bare) % 8))
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    return b""
