"""The WARC files that a process writes: appended to in one thread, flushed when asked, sealed at the end.

A file is called `NAME.warc.gz.open` and locked while it is written. What a killed process leaves has no lock:
whoever opens the folder next cuts off what is not whole, and seals it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice, starmap
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Protocol
from uuid import uuid4

from attrs import define, evolve, field, frozen

from crawler import logs
from crawler.clock import utc_now
from crawler.evidence.blobs import CHUNK_BYTES, StoreUnavailableError, as_store_error
from crawler.warc.messages import Resource
from crawler.warc.reader import Entry, paired
from crawler.warc.records import ANSWERS, EXCHANGED, Original, Pair, PairWriter, Shelved, read_date
from crawler.warc.scan import walk

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from concurrent.futures import Future
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from crawler.warc.messages import Exchange
    from crawler.warc.records import About

    Order = tuple[Exchange | Resource, UUID | None]  # what is to be written, and of which session

ENDING = ".warc.gz"
OPEN = ".open"
FLUSHERS = 4
REPORTED_AT_ONCE = 500  # answers that the register hears of together
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOUND = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC

log = logs.get_logger(__name__)


@frozen
class FileFacts:
    """What is known of a file: its row says it, and `vitrine warcs list` shows it."""

    path: str  # below its folder, as it is called once it is sealed
    size_bytes: int = 0
    sha256: str | None = None
    records: int = 0  # answers
    cut_bytes: int = 0  # that a killed process had left of a record
    first_at: datetime | None = None
    last_at: datetime | None = None

    def with_answer(self, at: datetime | None) -> FileFacts:
        """The same after one more answer."""
        if at is None:
            return evolve(self, records=self.records + 1)
        first, last = min(self.first_at or at, at), max(self.last_at or at, at)
        return evolve(self, records=self.records + 1, first_at=first, last_at=last)


class Register(Protocol):
    """Hears of files; called in the thread that writes them."""

    def opened(self, folder: Path, path: str, session_id: UUID | None) -> int | None:
        """A file was begun; its number."""

    def answered(self, folder: Path, path: str, answers: Sequence[Shelved]) -> None:
        """Answers of a file lie on the disk, each at its place."""

    def sealed(self, folder: Path, facts: FileFacts) -> None:
        """A file will not be written any more; without a size it is gone."""

    def left_open(self, folder: Path, /) -> list[str]:
        """The files of a folder that were begun, and of whose end nobody has heard."""


@define(eq=False)
class _OpenFile:
    """A file that is being written."""

    handle: int
    facts: FileFacts
    file_id: int | None
    writer: PairWriter
    digest: hashlib._Hash = field(factory=hashlib.sha256)
    is_dirty: bool = False
    unreported: list[Shelved] = field(factory=list)  # answers that the register has not heard of

    def write(self, data: bytes) -> None:
        """Append all of it or nothing."""
        begin = self.facts.size_bytes
        try:
            if not os.fstat(self.handle).st_nlink:
                raise StoreUnavailableError(f"{self.facts.path}{OPEN} was removed while it was written")
            view = memoryview(data)
            while view:
                view = view[os.write(self.handle, view) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self.handle, begin)
            raise as_store_error(error, self.facts.path) from error
        self.digest.update(data)
        self.is_dirty = True
        self.facts = evolve(self.facts, size_bytes=begin + len(data))


class WarcShelf:
    """Takes exchanges from any thread; each visit has a file of its own, or several, one after the other."""

    def __init__(
        self, folder: Path, about: About, register: Register, *, max_bytes: int, revisits: str = "off"
    ) -> None:
        """Make the folder if it is not there, and bring what others left in it in order."""
        self.folder = folder
        self._about = about
        self._register = register
        self._max_bytes = max_bytes
        self._revisits = revisits
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _require_writable(folder)
            self._at = os.open(folder, _FOLDER)
        self._files: dict[UUID | None, _OpenFile] = {}
        self._closing = Lock()  # a file is not closed while it is picked for a flush
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="warc")
        self._flushers = ThreadPoolExecutor(FLUSHERS, thread_name_prefix="warc-flush")
        self._thread.submit(recover, folder, register).result()

    def append(self, orders: Sequence[Order]) -> Future[list[Shelved | Exception]]:
        """Have answers with their requests written, or what was made of them; each may fail by itself."""
        return self._thread.submit(lambda: list(starmap(self._appended, orders)))

    def sync(self) -> None:
        """Make everything last that was appended so far; any thread may ask."""
        with self._closing:
            dirty = [file for file in self._files.values() if file.is_dirty]
            handles = [os.dup(file.handle) for file in dirty]
            for file in dirty:
                file.is_dirty = False
        try:
            with _told(self.folder):
                list(self._flushers.map(os.fdatasync, handles))
        except BaseException:
            for file in dirty:
                file.is_dirty = True
            raise
        finally:
            for handle in handles:
                os.close(handle)

    def seal(self, session_id: UUID | None) -> Future[FileFacts | None]:
        """Have a visit's file sealed; None where it has none."""
        return self._thread.submit(self._seal, session_id)

    def close(self) -> None:
        """Seal what is open, and let go of the folder."""
        ends = [self.seal(key) for key in list(self._files)]
        self._thread.shutdown()
        self._flushers.shutdown()
        os.close(self._at)
        for end in ends:
            end.result()

    # ── in the writing thread ──

    def _appended(self, exchange: Exchange | Resource, key: UUID | None) -> Shelved | Exception:
        try:
            return self._append(exchange, key)
        except Exception as error:  # ruff: ignore[blind-except] - raised where it was ordered
            return error

    def _append(self, exchange: Exchange | Resource, key: UUID | None) -> Shelved:
        file = self._files.get(key) or self._begin(key)
        writer = file.writer
        pair = writer.made(exchange) if isinstance(exchange, Resource) else writer.pair(exchange)
        offset = file.facts.size_bytes
        file.write(pair.data)
        file.facts = file.facts.with_answer(pair.captured_at)
        shelved = Shelved(file.file_id, file.facts.path, offset, pair)
        if pair.kind in EXCHANGED:
            file.unreported.append(evolve(shelved, pair=evolve(pair, data=b"")))
            if len(file.unreported) % REPORTED_AT_ONCE == 0:
                self._report(file)
        if file.facts.size_bytes >= self._max_bytes:
            self._seal(key)
        return shelved

    def _begin(self, key: UUID | None) -> _OpenFile:
        now = utc_now()
        whose = f"{key.hex}-{uuid4().hex[:8]}" if key else uuid4().hex
        path = f"vitrine-{now:%Y%m%d%H%M%S}-{whose}{ENDING}"
        with _told(self.folder):
            if not os.fstat(self._at).st_nlink:
                raise StoreUnavailableError(f"the folder {self.folder} was removed", hint="check WARC_DIR")
            handle = os.open(path + OPEN, _NEW, 0o640, dir_fd=self._at)
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.fsync(self._at)
        try:
            file_id = self._register.opened(self.folder, path, key)
            file = _OpenFile(handle, FileFacts(path), file_id, PairWriter(self._revisits))
            file.write(self._about.member(path, file.writer.file_id, now))
        except BaseException:
            os.close(handle)
            raise
        with self._closing:
            self._files[key] = file
        return file

    def _report(self, file: _OpenFile) -> None:
        """Have the answers registered that were written so far; a failure is tried again with the next."""
        try:
            os.fdatasync(file.handle)
            self._register.answered(self.folder, file.facts.path, file.unreported)
        except Exception as error:
            log.exception("warc.not_registered", file=file.facts.path, error=str(error))
        else:
            file.unreported = []

    def _seal(self, key: UUID | None) -> FileFacts | None:
        with self._closing:
            file = self._files.pop(key, None)
        if file is None:
            return None
        try:
            _name(self._at, self.folder, file.handle, file.facts.path)
        finally:
            with self._closing:
                os.close(file.handle)
        facts = evolve(file.facts, sha256=file.digest.hexdigest())
        self._register.answered(self.folder, facts.path, file.unreported)
        self._register.sealed(self.folder, facts)
        log.info("warc.sealed", file=facts.path, records=facts.records, bytes=facts.size_bytes)
        return facts


# ── what a killed process left ──


def recover(folder: Path, register: Register) -> list[FileFacts]:
    """Seal the files that nobody writes any more, without what is not whole at their ends."""
    with _told(folder):
        at = os.open(folder, _FOLDER)
    try:
        begun = register.left_open(folder)  # before the names: what is begun later is nobody's
        names = [name for name in _names(folder) if name.endswith(ENDING + OPEN)]
        found = [_recovered(at, folder, name, register) for name in names]
        found += [_heard_of(at, folder, path, register) for path in begun if path + OPEN not in names]
        return [facts for facts in found if facts is not None]
    finally:
        os.close(at)


def _recovered(at: int, folder: Path, name: str, register: Register) -> FileFacts | None:
    try:
        handle = os.open(name, _FOUND, dir_fd=at)
    except OSError as error:  # a link, or gone since
        log.warning("warc.not_recovered", file=name, error=error.strerror)
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(handle).st_nlink:
            return None  # another was faster
        facts = _brought_in_order(at, folder, handle, name)
        if facts.records:
            _report_all(handle, folder, facts.path, register)
    except BlockingIOError:
        return None  # it is being written
    finally:
        os.close(handle)
    register.sealed(folder, facts)
    log.warning("warc.recovered", file=facts.path, records=facts.records, cut_bytes=facts.cut_bytes)
    return facts


def _heard_of(at: int, folder: Path, path: str, register: Register) -> FileFacts | None:
    """Have a file's end written down whose writer died, or lost the database, just after it.

    One that is not there stays as it is: whoever looks for what was in it has to learn that it is missing.
    """
    try:
        handle = os.open(path, _READ, dir_fd=at)
    except OSError as error:
        log.warning("warc.not_recovered", file=path, error=error.strerror)
        return None
    try:
        size = os.fstat(handle).st_size
        facts = evolve(_whole_part(handle, path), size_bytes=size, cut_bytes=0, sha256=_digest(handle, size))
        _report_all(handle, folder, path, register)
    finally:
        os.close(handle)
    register.sealed(folder, facts)
    log.warning("warc.recovered", file=path, records=facts.records, cut_bytes=0)
    return facts


def _brought_in_order(at: int, folder: Path, handle: int, name: str) -> FileFacts:
    """Cut off what is not whole, and seal the rest; a file without an answer goes."""
    facts = _whole_part(handle, name.removesuffix(OPEN))
    with _told(folder):
        if not facts.records:
            os.unlink(name, dir_fd=at)
            return FileFacts(facts.path)
        os.ftruncate(handle, facts.size_bytes)
        _name(at, folder, handle, facts.path)
    return facts


def _whole_part(handle: int, path: str) -> FileFacts:
    """How much of a file is whole records; damage before the last of them is not this function's business."""
    facts = FileFacts(path)
    with os.fdopen(os.dup(handle), "rb") as file:
        for each in walk(file, keep=0, digests=False):
            if isinstance(each, Entry):
                facts = evolve(facts, size_bytes=each.offset + each.length)
                if each.head.kind in ANSWERS:
                    facts = facts.with_answer(read_date(each.head.get("warc-date")))
    cut = os.fstat(handle).st_size - facts.size_bytes
    return evolve(facts, cut_bytes=cut, sha256=_digest(handle, facts.size_bytes))


def _report_all(handle: int, folder: Path, path: str, register: Register) -> None:
    """Have the answers of a file registered that its writer may not have reported."""
    with os.fdopen(os.dup(handle), "rb") as file:
        answers = answers_in(file, path)
        while some := list(islice(answers, REPORTED_AT_ONCE)):
            register.answered(folder, path, some)


def answers_in(file: BinaryIO, path: str) -> Iterator[Shelved]:
    """Yield the answers of a file of ours, and where in it each of them is."""
    for each in paired(walk(file, keep=0, digests=False)):
        if isinstance(each, Entry) and each.head.kind in EXCHANGED and each.is_seekable:
            yield _shelved(path, each)


def _shelved(path: str, entry: Entry) -> Shelved:
    """Return where an answer lies and what its record says, as its writer knew it."""
    head, message, repeated = entry.head, entry.message, entry.head.get("warc-refers-to")
    assert entry.captured_at is not None  # ruff: ignore[assert] - files of ours have a date in each record
    original = None
    if repeated:
        of_url, of_date = head.get("warc-refers-to-target-uri"), head.get("warc-refers-to-date")
        original = Original(repeated, of_url or "", of_date or "")
    pair = Pair(
        data=b"", length=entry.length, record_id=head.get("warc-record-id") or "", kind=entry.kind,
        url=head.url or "", captured_at=entry.captured_at, date=head.get("warc-date") or "",
        payload_digest=head.get("warc-payload-digest") or "", status=message.status if message else None,
        mime_type=message.mime_type if message else None,
        original=original, lookup_url=entry.lookup_url,
    )  # fmt: skip
    return Shelved(None, path, entry.offset, pair)


def _digest(handle: int, size: int) -> str:
    digest, at = hashlib.sha256(), 0
    while at < size and (data := os.pread(handle, min(CHUNK_BYTES, size - at), at)):
        digest.update(data)
        at += len(data)
    return digest.hexdigest()


def _name(at: int, folder: Path, handle: int, path: str) -> None:
    """Make a file last, then give it the name of one that is whole; never that of another."""
    with _told(folder):
        os.fsync(handle)
        os.link(path + OPEN, path, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
        os.unlink(path + OPEN, dir_fd=at)
        os.fsync(at)


def _require_writable(folder: Path) -> None:
    """Find out before anything is asked of a site."""
    if not os.access(folder, os.W_OK | os.X_OK):
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        number = errno.EROFS if is_read_only else errno.EACCES
        raise OSError(number, os.strerror(number), str(folder))


@contextmanager
def _told(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise as_store_error(error, str(folder), hint="check WARC_DIR and its permissions") from error


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
