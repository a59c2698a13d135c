"""Temporary folders of attempts that came no further: those without a new capture are removed."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.engines.state import is_temp_folder, temp_folders, warc_files, warc_files_in
from crawler.warc.reader import Entry
from crawler.warc.scan import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

CAPTURES = {"response", "resource", "revisit", "conversion"}
_KEY_BYTES = 12


class Leftovers:
    """Knows which URLs an archive has captures of; each WARC file is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: set[Path] = set()
        self._captured: set[bytes] = set()

    def remove_repeats(self, before: Collection[str], note: Callable[[str], object]) -> None:
        """Remove folders that were not there `before` and hold no URL that is new."""
        new = [path for path in temp_folders(self._folder) if path.name not in before]
        self._learn(path for path in warc_files(self._folder) if not _is_below(path, new))
        for folder in new:
            files = list(warc_files_in(folder))
            try:
                captured = set().union(*map(_captures_in, files))
            except OSError:
                continue  # what cannot be read, as a container's user may have it, is not removed
            if captured <= self._captured:
                shutil.rmtree(folder, ignore_errors=True)
            if is_temp_folder(folder):
                self._captured |= captured
                self._read.update(files)
            else:
                note(f"{folder.name} was removed: all that it had was captured before")

    def _learn(self, files: Iterable[Path]) -> None:
        for path in files:
            if path not in self._read:
                self._read.add(path)
                with suppress(OSError):
                    self._captured |= _captures_in(path)


def _captures_in(path: Path) -> set[bytes]:
    """Return a digest of each URL of which a file has a whole record."""
    with path.open("rb") as file:
        return {
            _key(url)
            for each in walk(file, keep=0, digests=False)
            if isinstance(each, Entry) and each.head.kind in CAPTURES
            if (url := each.head.get("warc-target-uri"))
        }


def _key(url: str) -> bytes:
    return hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
