"""An archive's folder: the state file of the archive tool, temporary folders, WARC files, permissions."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, define, field

from crawler.engines.strategy import Adaptation

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE_FILE = ".archive_state.json"
TEMP_PREFIX = ".tmp"
MAX_STATE_BYTES = 4 * 1024 * 1024
MAX_FOLDERS = 1_000


@define
class ArchiveState:
    """What a tool that goes on needs to know."""

    adaptation: Adaptation | None = None
    temp_folders: list[str] = field(factory=list)  # names below the archive's folder
    crawled: int = 0  # the most pages that an attempt had captured
    stages: int = 0  # attempts of the engine so far

    @classmethod
    def load(cls, folder: Path) -> ArchiveState:
        """What is known; of a file that is damaged, or says what cannot be, only what makes sense."""
        said = _read(folder / STATE_FILE)
        folders = [name for name in _named(said) if is_temp_folder(folder / name)]
        crawled, stages = (_whole(said.get(name)) or 0 for name in ("crawled", "stages"))
        return cls(_adaptation(said.get("adaptation")), folders, crawled, stages)

    def save(self, folder: Path) -> None:
        """Write it: the old one or the new one is there, never half of one."""
        said = {
            "temp_dirs_host_paths": [str(folder / name) for name in self.temp_folders[-MAX_FOLDERS:]],
            "adaptation": None if self.adaptation is None else asdict(self.adaptation),
            "crawled": self.crawled, "stages": self.stages,
        }  # fmt: skip
        write_atomically(folder / STATE_FILE, json.dumps(said, indent=1).encode())

    def note_folders(self, folder: Path) -> None:
        """Remember the temporary folders that are there."""
        known = set(self.temp_folders)
        self.temp_folders += [path.name for path in temp_folders(folder) if path.name not in known]


def named_folders(folder: Path) -> list[str]:
    """The temporary folders that the state file names, whether they are there or not."""
    return [name for name in _named(_read(folder / STATE_FILE)) if name.startswith(TEMP_PREFIX)]


def _named(said: dict[str, Any]) -> list[str]:
    given = said.get("temp_dirs_host_paths")
    paths = given[:MAX_FOLDERS] if isinstance(given, list) else []
    return list(
        dict.fromkeys(Path(each).name for each in paths if isinstance(each, str) and "\x00" not in each)
    )


def temp_folders(folder: Path) -> list[Path]:
    """The temporary folders of an archive, the oldest first; a link is none."""
    with os.scandir(folder) as entries:
        found = [Path(entry.path) for entry in entries if entry.name.startswith(TEMP_PREFIX)]
    return sorted(filter(is_temp_folder, found), key=lambda path: (path.lstat().st_mtime, path.name))


def is_temp_folder(path: Path) -> bool:
    """Whether it is a folder of ours to delete: named so, and no link."""
    if not path.name.startswith(TEMP_PREFIX):
        return False
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def write_atomically(path: Path, data: bytes, mode: int = 0o640) -> None:
    """Write a file that is there as a whole or not at all; a link in its place is replaced, not followed."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def warc_files(folder: Path) -> Iterator[Path]:
    """The WARC files of an archive: its stable ones, then those in temporary folders; no link is followed."""
    for root in [folder / "warcs", *temp_folders(folder)]:
        yield from warc_files_in(root)


def warc_files_in(root: Path) -> Iterator[Path]:
    """Return the WARC files below a folder, unless that is a link."""
    if root.is_symlink():
        return
    for where, _, names in os.walk(root):
        yield from (Path(where) / name for name in sorted(names) if name.endswith((".warc", ".warc.gz")))


def relax_permissions(folder: Path) -> None:
    """Let everybody read our own files in a folder; links and files of others stay as they are."""
    for where, _, names in os.walk(folder):
        for path in [Path(where), *(Path(where) / name for name in names)]:
            found = path.lstat()
            if found.st_uid != os.getuid() or stat.S_ISLNK(found.st_mode):
                continue
            mode = stat.S_IMODE(found.st_mode)
            path.chmod(mode | 0o044 | (0o011 if stat.S_ISDIR(found.st_mode) or mode & 0o100 else 0))


def _read(path: Path) -> dict[str, Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_STATE_BYTES + 1)
        said = json.loads(data) if len(data) <= MAX_STATE_BYTES else None
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _adaptation(said: Any) -> Adaptation | None:
    if not isinstance(said, dict) or _whole(said.get("workers"), 1) is None:
        return None
    last = said.get("last_rotation")
    return Adaptation(
        workers=min(said["workers"], 64),
        reductions=_whole(said.get("reductions")) or 0,
        rotations=_whole(said.get("rotations")) or 0,
        last_rotation=float(last) if isinstance(last, int | float) and not isinstance(last, bool) else None,
        in_vain=_whole(said.get("in_vain")) or 0,
    )


def _whole(value: Any, least: int = 0) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**53
    return value if fits else None
