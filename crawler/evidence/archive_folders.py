"""What an archive's folder takes, what its manifest says, and its logs. No link is followed."""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.engines.state import is_temp_folder, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MANIFEST = "manifest.json"
LOGS = "archive_*.combined.log"
VERSION = 1
MAX_MANIFEST_BYTES = 64 * 1024 * 1024


# ── how much there is ──


@frozen
class Sizes:
    """How much an archive takes (SPEC 21)."""

    warc_file_count: int = 0
    warc_bytes_total: int = 0
    output_bytes_total: int = 0
    tmp_bytes_total: int = 0
    tmp_non_warc_bytes_total: int = 0


def sizes_of(folder: Path) -> Sizes:
    """Count the files of an archive; what goes meanwhile is not counted."""
    counts = dict.fromkeys(("files", "warc", "output", "tmp", "tmp_other"), 0)
    for path, size in _files(folder):
        is_warc = path.name.endswith((".warc", ".warc.gz")) and size > 0
        top = folder / path.relative_to(folder).parts[0]
        is_temp = is_temp_folder(top)
        counts["output"] += size
        counts["tmp"] += size * is_temp
        counts["tmp_other"] += size * (is_temp and not is_warc)
        if is_warc and (is_temp or top.name == "warcs"):
            counts["files"] += 1
            counts["warc"] += size
    return Sizes(counts["files"], counts["warc"], counts["output"], counts["tmp"], counts["tmp_other"])


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where) / name
            with suppress(FileNotFoundError):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode):
                    yield path, found.st_size


# ── what its manifest says ──


def entries_of(folder: Path) -> list[dict[str, Any]]:
    """What a manifest says of each file; nothing where there is none, or none that can be read."""
    said = said_in(folder / MANIFEST, MAX_MANIFEST_BYTES)
    said = said.get("entries") if isinstance(said, dict) else said
    return [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []


def said_in(path: Path, most: int) -> Any:
    """A JSON document of some tool's, as far as so many bytes go; None where there is none, or it is none."""
    try:
        with path.open("rb") as file:
            return json.loads(file.read(most))
    except (OSError, ValueError, RecursionError):
        return None


def write_entries(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write what `vitrine warcs verify --manifest` compares."""
    said = json.dumps({"version": VERSION, "entries": entries}, indent=1)
    write_atomically(folder / MANIFEST, said.encode())


def correct_entry(path: Path, sha256: str | None) -> None:
    """Have the manifest beside a file say what the file is now; one without a digest is gone from it too."""
    before = entries_of(path.parent)
    its = [each for each in before if each.get("path") == path.name]
    if not its:
        return
    now = [] if sha256 is None else [{**its[0], "size_bytes": path.stat().st_size, "sha256": sha256}]
    write_entries(path.parent, [*(each for each in before if each not in its), *now])


def found_at(path: Path) -> Path | None:
    """What a file below `warcs/` was linked or copied from, if that is still there."""
    said = next(
        (each.get("found_at") for each in entries_of(path.parent) if each.get("path") == path.name), ""
    )
    parts = Path(said).parts if isinstance(said, str) and "\0" not in said else ()
    if not parts or ".." in parts or Path(*parts).is_absolute():
        return None
    folder = path.parent.parent
    before = folder.joinpath(*parts)
    is_inside = is_temp_folder(folder / parts[0]) and before.resolve().is_relative_to(folder.resolve())
    with suppress(OSError):  # a name that is none
        return before if is_inside and before.is_file() and not before.is_symlink() else None
    return None


# ── its logs, and what they name ──


def logs_in(folder: Path, since: float = 0) -> Iterator[Path]:
    """The logs that were written since then, the newest first; nothing that only leads to a file."""
    found = []
    for path in folder.glob(LOGS):
        with suppress(OSError):
            known = path.lstat()
            if stat.S_ISREG(known.st_mode) and known.st_mtime >= since:
                found.append((known.st_mtime, path))
    yield from (path for _, path in sorted(found, reverse=True))


def lines_naming(folder: Path, name: str) -> int:
    """How many lines of the logs of an archive name a domain, or a session."""
    is_named = _naming(name)
    return sum(sum(map(bool, map(is_named.search, _lines(path)))) for path in logs_in(folder))


def cut_lines_naming(folder: Path, name: str) -> int:
    """Take these lines out, a log at a time, each as a whole or not at all; how many they were."""
    is_named = _naming(name)
    return sum(_cut(path, is_named) for path in logs_in(folder))


def _cut(path: Path, is_named: re.Pattern[bytes]) -> int:
    beside = path.with_name(f".{path.name}.cut")
    beside.unlink(missing_ok=True)  # of a purge that was killed, or a link that somebody laid
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    gone = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            for line in _lines(path):
                if is_named.search(line):
                    gone += 1
                else:
                    file.write(line)
            file.flush()
            os.fchmod(file.fileno(), stat.S_IMODE(path.lstat().st_mode))
            os.fsync(file.fileno())
        if gone:
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return gone


def _naming(name: str) -> re.Pattern[bytes]:
    # With its subdomains, and not as a part of a longer name; behind what is escaped in URLs and JSON, too.
    words = b"|".join(re.escape(word.encode()) for word in {name, _spelled_out(name)})
    escaped = (rb"%[0-9a-f]{2}", rb"%25[0-9a-f]{2}", rb"\\[bfnrt]", rb"\\x[0-9a-f]{2}", rb"\\u[0-9a-f]{4}")
    before = rb"(?:(?<![a-z0-9-])|" + b"|".join(rb"(?<=%b)" % each for each in escaped) + b")"
    return re.compile(before + rb"(?:" + words + rb")(?![a-z0-9-]|\.[a-z0-9])", re.IGNORECASE)


def _spelled_out(name: str) -> str:
    try:
        return name.encode().decode("idna")
    except UnicodeError:
        return name


def _lines(path: Path) -> Iterator[bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        yield from file
