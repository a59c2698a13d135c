"""The package as scrapyd runs it: zipped into an egg, which has no folders and is on nobody else's path."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, MutableMapping
    from importlib.resources.abc import Traversable

# The file or folder from which this package was loaded.
ORIGIN = Path(__file__).absolute().parents[1]


def hand_over(environment: MutableMapping[str, str] = os.environ, origin: Path = ORIGIN) -> None:
    """Have the processes that are started from here load the same package, where it comes from an egg."""
    if origin.is_file():
        paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([str(origin), *paths]))


@contextmanager
def as_folder(package: str) -> Generator[Path]:
    """The files of a package in a folder: in their own, or out of an egg in one for the meantime."""
    found = files(package)
    if isinstance(found, Path):
        yield found
        return
    with TemporaryDirectory(prefix="vitrine-") as folder:
        _copy(found, Path(folder))
        yield Path(folder)


def _copy(found: Traversable, folder: Path) -> None:
    for each in found.iterdir():
        if each.is_dir():
            (folder / each.name).mkdir()
            _copy(each, folder / each.name)
        else:
            (folder / each.name).write_bytes(each.read_bytes())
