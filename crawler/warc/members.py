"""The bytes of records, read from gzip members or from a plain file, a piece at a time. Pure."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from isal import igzip_lib, isal_zlib

from crawler.errors import IntegrityError
from crawler.warc.messages import NOT_GZIP

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"\x1f\x8b\x08"
BEGIN = b"WARC/"
PEEK_BYTES = 8192
PLAIN_BEGIN_BYTES = 16
READ_BYTES = 256 * 1024
# isal copies what is read beyond a member's end, so the first step of a member is a small one.
_FIRST_STEP_BYTES, _STEP_BYTES = 32 * 1024, 64 * 1024
_LOOK_BYTES = 64 * 1024
# More than this would be fetched from the system anew for each piece.
_PIECE_BYTES = 120 * 1024
_GZIP_WINDOW = 31
RECORD_BEGINS = re.compile(rb"(?:\A|\n)WARC/[01]\.[0-9]+\r?\n", re.IGNORECASE)


class BadRecordError(IntegrityError):
    """The record is damaged."""

    code = "bad_record"
    http_status = 404  # its content is lost

    def __init__(self, reason: str) -> None:
        super().__init__(f"the record is damaged: {reason}")
        self.reason = reason


def begins_record(data: bytes | bytearray) -> bool:
    """Whether data begins with a record's first word, which may be in small letters."""
    return data[: len(BEGIN)].upper() == BEGIN


class Source(Protocol):
    """Bytes from an offset on, a piece at a time."""

    ends_with_record: bool

    @property
    def end(self) -> int:
        """The offset in the file behind all that was read, once there is no more."""

    def more(self) -> bytes:
        """Return the next piece, up to the end of the member."""

    def more_of_record(self) -> bytes:
        """Return the next piece, also from the following member if that begins no record."""


class FileBytes:
    """A file that is read in large steps, at any offset."""

    def __init__(self, file: BinaryIO, step: int = READ_BYTES) -> None:
        self._file = file
        self._step = min(max(step, PEEK_BYTES), READ_BYTES)
        self._data = memoryview(b"")
        self._at = 0

    def at(self, offset: int, most: int = READ_BYTES) -> memoryview:
        """Return some bytes from `offset` on; none at the file's end."""
        begin = offset - self._at
        if not 0 <= begin < len(self._data):
            self._data, self._at, begin = memoryview(self._read(offset, self._step)), offset, 0
        return self._data[begin : begin + most]

    def _read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def exactly(self, offset: int, length: int) -> bytes:
        """Return `length` bytes, or fewer at the file's end."""
        data = bytes(self.at(offset, length))
        while len(data) < length and (more := self.at(offset + len(data), length - len(data))):
            data += more
        return data


class _Member:
    """One gzip member, unpacked a piece at a time."""

    def __init__(self, file: FileBytes, offset: int) -> None:
        self.end = offset
        self._file = file
        self._machine = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        self._step = _FIRST_STEP_BYTES

    def more(self) -> bytes:
        """Return the next piece; empty at the member's end, once its checksum matched."""
        machine: Any = self._machine
        while not machine.eof:
            data: bytes | memoryview = b""
            if machine.needs_input:
                data = self._file.at(self.end, self._step)
                if not data:
                    raise BadRecordError("cut_short")
                self.end += len(data)
                self._step = _STEP_BYTES
            try:
                piece: bytes = machine.decompress(data, _PIECE_BYTES)
            except NOT_GZIP as error:
                raise BadRecordError("checksum" if "checksum" in str(error) else "gzip") from None
            if machine.eof:
                self.end -= len(machine.unused_data)
            if piece:
                return piece
        return b""


class Members:
    """A gzip member, and those behind it that begin no record: old writers split records into several."""

    ends_with_record = True

    def __init__(self, file: FileBytes, offset: int) -> None:
        self._file = file
        self._member = _Member(file, offset)
        self.more = self._member.more

    @property
    def end(self) -> int:
        """The offset behind the record's last member."""
        return self._member.end

    def more_of_record(self) -> bytes:
        """Return the next piece, also from the following member if that begins no record."""
        piece = self._member.more()
        if not piece and _continues(self._file, self._member.end):
            self._member = _Member(self._file, self._member.end)
            self.more = self._member.more
            piece = self._member.more()
        return piece


class Plain:
    """A file without gzip."""

    ends_with_record = False

    def __init__(self, file: FileBytes, offset: int) -> None:
        self.end = offset
        self._file = file

    def more(self) -> bytes:
        """Return the next piece; empty at the file's end."""
        data = bytes(self._file.at(self.end))
        self.end += len(data)
        return data

    more_of_record = more


def candidates(file: FileBytes, offset: int, *, is_packed: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the places from an offset on where a record begins, each with its first bytes."""
    needle = MAGIC if is_packed else BEGIN
    begins_at = _packed_beginning if is_packed else _plain_beginning
    while data := file.exactly(offset, _LOOK_BYTES):
        at = data.upper().find(needle)
        if at < 0:
            if len(data) < _LOOK_BYTES:
                return
            offset += len(data) - len(needle) + 1
            continue
        offset += at
        head = begins_at(file, offset)
        if head is not None:
            yield offset, head
        offset += 1


def size_from(file: FileBytes, offset: int) -> int:
    """Return the size of a file that reaches at least to `offset`."""
    while data := file.at(offset):
        offset += len(data)
    return offset


def _packed_beginning(file: FileBytes, offset: int) -> bytes | None:
    """Return the first bytes of the record in the member at an offset; None if there is none."""
    machine = isal_zlib.decompressobj(_GZIP_WINDOW)
    with suppress(NOT_GZIP):
        begin: bytes = machine.decompress(file.exactly(offset, PEEK_BYTES), PEEK_BYTES)
        if begins_record(begin):
            return begin
    return None


def _plain_beginning(file: FileBytes, offset: int) -> bytes | None:
    before = file.exactly(max(0, offset - 1), PLAIN_BEGIN_BYTES + 1)
    if RECORD_BEGINS.match(before) is None:
        return None
    return file.exactly(offset, PEEK_BYTES)


def _continues(file: FileBytes, offset: int) -> bool:
    """Whether a member begins here that does not begin a record."""
    data = file.exactly(offset, PEEK_BYTES)
    if not data.startswith(MAGIC):
        return False
    with suppress(NOT_GZIP):
        return not begins_record(isal_zlib.decompressobj(_GZIP_WINDOW).decompress(data, PEEK_BYTES))
    return False
