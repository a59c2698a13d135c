"""Disks of any size, in memory: full ones, and ones that cannot be written."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path


@contextmanager
def mounted(folder: Path, options: str) -> Generator[Callable[[str], None]]:
    """A file system in memory, of its own size; gives what mounts it otherwise."""
    if os.geteuid():
        pytest.skip("only root may mount a file system")
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "vitrine-test", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")

    def remount(other: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{other}", folder], check=True)

    try:
        yield remount
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
