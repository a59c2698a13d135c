"""All records of a file, in order; where digests are made, threads read stretches of it side by side.

Unpacking and digests let other threads run. A thread that does both for a stretch of the file hands over
once for many records, and finds in its own processor's cache what it has just unpacked. A stretch begins
where a record seems to begin: it counts if the one before it ends there. Else that part is read again, by
whoever knows where it begins.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO

from attrs import define, field

from crawler.warc.digests import Beside
from crawler.warc.members import FileBytes, candidates
from crawler.warc.reader import Bad, Entry
from crawler.warc.scan import Scan, packed

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Future

HEAD_BYTES = 64 * 1024  # of a block, which hold an HTTP head; kept for whoever asks for no more
STRETCH_BYTES = 256 * 1024
MOST_READERS = 4  # more of them would wait for the interpreter
_STEP_BYTES = 64 * 1024  # more at once would be memory that is new each time
_AHEAD = 2  # stretches that wait to be given, for each reader
# What a stretch may hold of what is in its records, and of records; the rest is read when it is asked for.
_MOST_HELD_BYTES = 4 * 1024 * 1024
_MOST_HELD = 4096


def walk(
    file: BinaryIO, *, keep: int = HEAD_BYTES, start: int = 0, digests: bool = True
) -> Generator[Entry | Bad]:
    """Every record of a file with `keep` bytes of its block, and every stretch that is none, in order.

    Without `digests` only members' own checksums are looked at.
    """
    if not digests:
        yield from Scan(FileBytes(file), keep, None, is_packed=packed(file)).entries(start)
        return
    size = file.seek(0, os.SEEK_END)
    if size - start > STRETCH_BYTES:
        yield from _Stretches(file, keep, start).entries(size)
        return
    with Beside() as beside:
        yield from Scan(FileBytes(file), keep, beside, is_packed=packed(file)).entries(start)


class _SharedBytes(FileBytes):
    """A file that several threads read."""

    def __init__(self, file: BinaryIO, readers: _Stretches) -> None:
        super().__init__(file, _STEP_BYTES)
        self._readers = readers

    def _read(self, offset: int, size: int) -> bytes:
        with self._readers.turn:
            return b"" if self._readers.is_over else super()._read(offset, size)


@define
class _Stretch:
    """What a thread found where it did not know that a record begins."""

    begin: int = -1
    end: int = -1
    mark: str | None = None
    found: list[Entry | Bad] = field(factory=list)
    error: OSError | None = None


class _Stretches:
    """Reads a file's stretches ahead of whoever asks for its records."""

    def __init__(self, file: BinaryIO, keep: int, start: int) -> None:
        self._file = file
        self._keep = keep
        self._start = self._at = start  # where the next record to be given begins
        self.turn = Lock()
        self.is_over = False  # then nobody reads any more, whatever he is in the midst of
        self._is_packed = packed(file)
        self._waiting: deque[tuple[int, Future[_Stretch]]] = deque()

    def entries(self, size: int) -> Generator[Entry | Bad]:
        """The records of a file that is, or was a moment ago, so long."""
        readers = min(MOST_READERS, os.cpu_count() or 1)
        pool = ThreadPoolExecutor(readers, thread_name_prefix="warc-read")
        try:
            with Beside() as beside:
                scan = self._scan(_SharedBytes(self._file, self), beside)
                for begin in (begins := range(self._start, size, STRETCH_BYTES)):
                    until = begin + STRETCH_BYTES if begin != begins[-1] else sys.maxsize
                    self._waiting.append((until, pool.submit(self._read, begin, until)))
                    if len(self._waiting) > readers * _AHEAD:
                        yield from self._given(scan)
                while self._waiting:
                    yield from self._given(scan)
        finally:
            with self.turn:
                self.is_over = True
            pool.shutdown(cancel_futures=True)

    def _given(self, scan: Scan) -> Generator[Entry | Bad]:
        """What the oldest stretch has, if it begins where the last one ended; `scan` reads the rest."""
        until, future = self._waiting.popleft()
        stretch = future.result()
        if stretch.begin == self._at:
            yield from stretch.found
            self._at, scan.mark = stretch.end, stretch.mark or scan.mark
            if stretch.error is not None:
                raise stretch.error
        if self._at < until:
            yield from scan.entries(self._at, until)
            self._at = scan.end

    def _scan(self, file: FileBytes, beside: Beside) -> Scan:
        return Scan(file, self._keep, beside, is_packed=self._is_packed)

    # ── in a thread ──

    def _read(self, begin: int, until: int) -> _Stretch:
        file, stretch = _SharedBytes(self._file, self), _Stretch()
        try:
            with Beside() as beside:
                scan = self._scan(file, beside)
                stretch.begin = self._beginning(file, begin, until)
                if stretch.begin >= 0:
                    self._fill(stretch, scan, until)
        except OSError as error:
            stretch.error = error
        return stretch

    def _beginning(self, file: FileBytes, begin: int, until: int) -> int:
        if begin == self._start:
            return begin
        found = candidates(file, begin, is_packed=self._is_packed, until=until)
        return next((at for at, _ in found), -1)

    def _fill(self, stretch: _Stretch, scan: Scan, until: int) -> None:
        """Take what it has, but neither too much nor what only who knows the records before can judge."""
        held = 0
        for each in scan.entries(stretch.begin, until):
            is_doubtful = scan.mark is None if isinstance(each, Bad) else not each.is_seekable
            if is_doubtful or held > _MOST_HELD_BYTES or len(stretch.found) > _MOST_HELD:
                stretch.end = each.offset
                return
            held += _size_of(each)
            stretch.found.append(each)
            stretch.mark = scan.mark
        stretch.end = scan.end


def _size_of(each: Entry | Bad) -> int:
    if isinstance(each, Bad):
        return 0
    return each.head.size + len(each.message_bytes or b"") + len(each.block)
