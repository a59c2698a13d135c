"""What is done to WARC files that lie somewhere: found, verified, erased from, indexed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from attrs import evolve, field, frozen

from crawler.engines.state import is_temp_folder, named_folders, temp_folders, write_atomically
from crawler.errors import CrawlerError, IntegrityError, NotFoundError
from crawler.evidence.archive_folders import MANIFEST, MAX_MANIFEST_BYTES, entries_of
from crawler.evidence.blobs import CHUNK_BYTES, as_store_error
from crawler.warc.cdxj import line_of, sorted_lines
from crawler.warc.eraser import TooShortError, erasure
from crawler.warc.reader import NOT_SEEKABLE, Bad, Entry, paired
from crawler.warc.records import ANSWERS
from crawler.warc.scan import packed, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from datetime import datetime

ENDINGS = (".warc.gz", ".warc")
RECOMPRESS = "run `warcio recompress` first, which gives each record a member of its own"
NOT_THERE = "the archive names it, and it is not there"
_MANY = 1000  # bad stretches are named up to so many, and counted beyond


# ── which there are ──


def discover(output_dir: Path, *, with_empty: bool = False) -> list[Path]:
    """Return the WARC files of a crawl's output folder, each once.

    Its stable copies in `warcs/` come first; of a file that lies in a temporary folder as well, by name and
    size, only the copy counts. Nothing is written, and no link is followed.
    """
    found = list(_files_below(output_dir / "warcs", with_empty=with_empty))
    known = {(path.name, path.stat().st_size) for path in found}
    for folder in temp_folders(output_dir) if output_dir.is_dir() else ():
        inside = folder / "collections"
        for path in _files_below(inside if inside.is_dir() else folder, with_empty=with_empty):
            if (key := (path.name, path.stat().st_size)) not in known:
                known.add(key)
                found.append(path)
    return found


def missing_in(output_dir: Path) -> list[Path]:
    """Return what the state and the manifest of an output folder name, and what is not there.

    A temporary folder counts by its name alone, so that an archive may be moved. One whose files were copied
    to `warcs/` is not missed.
    """
    stable = output_dir / "warcs"
    entries = entries_of(stable)
    copied = {str(each.get("found_at")).partition("/")[0] for each in entries}
    folders = [output_dir / name for name in named_folders(output_dir) if name not in copied]
    names = [Path(each["path"]).name for each in entries if isinstance(each.get("path"), str)]
    files = [stable / name for name in names if name and "\0" not in name]
    return [
        *(folder for folder in folders if not is_temp_folder(folder)),
        *(file for file in files if not file.is_file()),
    ]


def _files_below(folder: Path, *, with_empty: bool = False) -> Iterator[Path]:
    """The files, sorted; what is empty counts for who looks for damage alone."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for at, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(at) / name
            if not name.endswith(ENDINGS) or not path.is_file() or path.is_symlink():
                continue
            if with_empty or path.stat().st_size:
                yield path


def in_folder(folder: Path, *, with_empty: bool = False) -> list[Path]:
    """The files directly in a folder, those that are being written left out."""
    return [path for path in _files_below(folder, with_empty=with_empty) if path.parent == folder]


# ── whether they are whole ──


@frozen
class Verified:
    """What came of reading a file to its end."""

    file: str
    state: str  # sealed, open, damaged, missing
    records: int = 0
    records_bad: int = 0
    bad: tuple[Bad, ...] = ()
    digests_checked: int = 0
    digests_wrong: int = 0
    wrong: tuple[int, ...] = ()  # where records begin whose digests are others
    error: str | None = field(default=None)
    sha256: str | None = None  # of the file, where all of it was read
    sha256_recorded: str | None = None  # as its row has it

    @property
    def is_well(self) -> bool:
        """Whether nothing is bad."""
        return not (self.records_bad or self.digests_wrong or self.state in {"damaged", "missing"})


def lacking(path: Path) -> Verified:
    """Return what is said of a file or folder that an archive names and that is not there."""
    return Verified(str(path), "missing", records_bad=1, error=NOT_THERE)


class Level(IntEnum):
    """How closely files are looked at (SPEC 137)."""

    THERE = 0  # and not empty
    WHOLE = 1  # members, records, lengths
    DIGESTS = 2  # and every digest made again


def verify(path: Path, level: Level = Level.DIGESTS) -> Verified:
    """Read a file as closely as that."""
    state = "open" if path.name.endswith(".open") else "sealed"
    try:
        with path.open("rb") as file:
            records = walk(file, keep=0, digests=level is Level.DIGESTS) if level else ()
            found = _tally(Verified(str(path), state), records)
            size = file.seek(0, os.SEEK_END)
    except OSError as error:
        return Verified(str(path), "missing", records_bad=1, error=error.strerror)
    if not size:
        return evolve(found, state="damaged", records_bad=1, error="the file is empty")
    if level is Level.DIGESTS and state == "sealed":
        found = evolve(found, sha256=digest_of(path))
    return found if found.is_well else evolve(found, state="damaged")


def _tally(begin: Verified, found: Iterable[Entry | Bad]) -> Verified:
    records, count, checked, wrong_digests = 0, 0, 0, 0
    bad: list[Bad] = []
    wrong: list[int] = []
    for each in found:
        if isinstance(each, Bad):
            count += 1
            if count <= _MANY:
                bad.append(each)
            continue
        records += 1
        checked += each.digests_checked
        if each.digests_wrong:
            wrong_digests += each.digests_wrong
            wrong.append(each.offset)
    return evolve(
        begin, records=records, records_bad=count, bad=tuple(bad), digests_checked=checked,
        digests_wrong=wrong_digests, wrong=tuple(wrong[:_MANY]),
    )  # fmt: skip


def verify_manifest(folder: Path) -> list[Verified]:
    """The files that a `warcs/manifest.json` names, by size and digest (SPEC 137)."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            said = json.loads(file.read(MAX_MANIFEST_BYTES))
        entries = said["entries"] if isinstance(said, dict) else said
        named = [(str(each["path"]), each.get("size_bytes"), each.get("sha256")) for each in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotFoundError(f"there is no manifest to be read in {folder}: {error}") from error
    return [_as_listed(folder, *each) for each in named]


def _as_listed(folder: Path, name: str, size: Any, sha256: Any) -> Verified:
    path = folder / Path(name).name
    try:
        has_size, has_digest = path.stat().st_size, digest_of(path)
    except (OSError, CrawlerError) as error:
        return Verified(str(path), "missing", records_bad=1, error=str(error))
    if size not in {None, has_size}:
        return Verified(str(path), "damaged", records_bad=1, error=f"{has_size} bytes instead of {size}")
    if sha256 not in {None, has_digest}:
        return Verified(str(path), "damaged", records_bad=1, error="the file's digest is another")
    return Verified(str(path), "sealed")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with reading(path) as file:
        while data := file.read(CHUNK_BYTES):
            digest.update(data)
    return digest.hexdigest()


@contextmanager
def reading(path: Path) -> Generator[BinaryIO]:
    """A file, opened to be read; what keeps it from that is an error in one line."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise as_store_error(error, str(path), hint="check the path and its permissions") from error


# ── records taken out ──


@frozen
class Erasure:
    """The records of a URL in a file, and what came of them."""

    file: str
    url: str
    records: tuple[dict[str, Any], ...]
    is_done: bool
    others: int = 0  # answers that stay
    sha256_before: str | None = None
    sha256: str | None = None

    def sha256_for(self, recorded: str | None) -> str | None:
        """Return the digest to record; an altered file keeps the old one, so that checks go on to fail."""
        return recorded if recorded and self.sha256_before not in {None, recorded} else self.sha256

    @property
    def answers(self) -> int:
        """How many of the records are answers."""
        return sum(each["type"] in ANSWERS for each in self.records)


def erase(path: Path, url: str, at: datetime, *, dry_run: bool) -> Erasure:
    """Overwrite the records of a URL in place: answers, their requests, and revisits of them."""
    return erase_where(path, lambda each: each == url, at, what=url, dry_run=dry_run)


def erase_where(
    path: Path, wants: Callable[[str], bool], at: datetime, *, what: str, dry_run: bool = False
) -> Erasure:
    """The same for all URLs of a kind; `what` names it."""
    goes_on = not dry_run and _go_on(path, at)
    with reading(path) as file:
        found, others = _records_of(file, wants)
    records = tuple(
        {"offset": each.offset, "length": each.length, "type": each.head.kind, "url": each.head.url}
        for each in found
    )
    if dry_run or not found:
        return Erasure(str(path), what, records, is_done=False, others=others)
    if any(not each.is_seekable for each in found):
        raise IntegrityError(f"records of {path} share a member", hint=RECOMPRESS)
    before = None if goes_on else digest_of(path)  # half erased, a file has a digest that nobody recorded
    _overwrite(path, [(each.offset, each.length) for each in found], at)
    return Erasure(
        str(path), what, records, is_done=True, others=others, sha256_before=before, sha256=digest_of(path)
    )


def _overwrite(path: Path, places: list[tuple[int, int]], at: datetime) -> None:
    """Fill the places; whoever dies in the midst of one has written down which they were."""
    plan = _plan_of(path)
    with _told_of(path):
        pieces = _pieces(path, places, at)
        write_atomically(plan, json.dumps(places).encode())
        _fill(path, pieces)
        plan.unlink(missing_ok=True)  # where somebody else has filled them as well


def _go_on(path: Path, at: datetime) -> bool:
    """Finish an erasure that was broken off, and return whether there was one.

    Half a record cannot be found by its URL any more.
    """
    plan = _plan_of(path)
    with _told_of(path), suppress(FileNotFoundError):
        with suppress(TooShortError):  # such a plan is none of ours
            _fill(path, _pieces(path, _places(plan.read_bytes(), path.stat().st_size), at))
        plan.unlink()
        return True
    return False


def _pieces(path: Path, places: Iterable[tuple[int, int]], at: datetime) -> list[tuple[int, list[bytes]]]:
    with path.open("rb") as file:
        is_packed = packed(file)
    return [(offset, list(erasure(length, at, is_packed=is_packed))) for offset, length in places]


def _fill(path: Path, pieces: Iterable[tuple[int, list[bytes]]]) -> None:
    with path.open("r+b") as file:
        for offset, data in pieces:
            file.seek(offset)
            file.writelines(data)
        file.flush()
        os.fsync(file.fileno())


def _plan_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.erasing")


def _places(plan: bytes, size: int) -> list[tuple[int, int]]:
    """What a plan names; one that makes no sense was laid there by somebody else."""
    try:
        named = [(int(offset), int(length)) for offset, length in json.loads(plan)]
    except (TypeError, ValueError, RecursionError):
        return []
    return [(offset, length) for offset, length in named if offset >= 0 and 0 < length <= size - offset]


@contextmanager
def _told_of(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise as_store_error(error, str(path), hint="check the path and its permissions") from error


def _records_of(file: BinaryIO, wants: Callable[[str], bool]) -> tuple[list[Entry], int]:
    """The records of wanted URLs, with those that belong to them; and how many other answers there are."""
    entries = [each for each in walk(file, keep=0, digests=False) if isinstance(each, Entry)]
    for each in entries:
        each.message_bytes, each.block = None, b""
    wanted = [bool(each.head.url) and wants(each.head.url or "") for each in entries]
    ids = {each.head.get("warc-record-id") for each, is_it in zip(entries, wanted, strict=True) if is_it}
    named = ("warc-concurrent-to", "warc-refers-to")
    found = [
        each
        for each, is_it in zip(entries, wanted, strict=True)
        if is_it
        or wants(each.head.get("warc-refers-to-target-uri") or "")
        or any(each.head.get(name) in ids for name in named if each.head.get(name))
    ]
    total = sum(each.head.kind in ANSWERS for each in entries)
    return found, total - sum(each.head.kind in ANSWERS for each in found)


# ── their index ──


def index(paths: Iterable[Path], on_bad: Callable[[Path, Bad], None]) -> Iterator[bytes]:
    """The lines of all files, sorted, in bounded memory; of what is damaged `on_bad` hears."""
    return _indexed({path: path.name for path in paths}, on_bad)


def _indexed(names: Mapping[Path, str], on_bad: Callable[[Path, Bad], None]) -> Iterator[bytes]:
    return sorted_lines(_lines(names, on_bad), tempfile.TemporaryFile)


def _lines(names: Mapping[Path, str], on_bad: Callable[[Path, Bad], None]) -> Iterator[bytes]:
    for path, name in names.items():
        with reading(path) as file:
            for each in paired(walk(file, keep=0, digests=False)):
                if isinstance(each, Bad):
                    on_bad(path, each)
                elif not each.is_seekable:
                    if each.length:  # the last of those that share a member says how long that is
                        on_bad(path, Bad(each.offset, each.length, NOT_SEEKABLE))
                elif (line := line_of(each, name)) is not None:
                    yield line


def make_collection(paths: Iterable[Path], folder: Path, on_bad: Callable[[Path, Bad], None]) -> None:
    """A collection as pywb has it: the files linked, each under a name of its own, and one index."""
    try:
        _fill_collection(dict.fromkeys(path.resolve() for path in paths), folder, on_bad)
    except OSError as error:
        raise as_store_error(error, str(folder), hint="check the path and its permissions") from error


def _fill_collection(paths: Iterable[Path], folder: Path, on_bad: Callable[[Path, Bad], None]) -> None:
    archive, indexes = folder / "archive", folder / "indexes"
    for each in (archive, indexes):
        each.mkdir(parents=True, exist_ok=True)
    names = {path: _linked(archive, path) for path in paths}
    part = indexes / "index.cdxj.part"
    with part.open("wb") as file:
        file.writelines(_indexed(names, on_bad))
    part.replace(indexes / "index.cdxj")


def _linked(archive: Path, path: Path) -> str:
    """Link a file into a collection; where another has its name, under its own and a mark of its folder."""
    mark = hashlib.sha256(os.fsencode(path.parent)).hexdigest()[:8]
    for name in (path.name, f"{mark}-{path.name}"):
        link = archive / name
        if os.path.lexists(link) and not link.exists():
            link.unlink()  # what it led to is gone
        if not os.path.lexists(link):
            link.symlink_to(path)
        if link.resolve() == path:
            return name
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(archive / path.name))
