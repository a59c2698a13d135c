"""Programs out of Debian's packages, unpacked and not installed, for tests that can do without."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 300


def unpacked(package: str, program: str, folder: Path) -> str | None:
    """Where a program is: on this machine, else in the package; None where neither is to be had."""
    if found := shutil.which(program.rpartition("/")[2]):
        return found
    try:
        download = ["apt-get", "download", package]
        subprocess.run(download, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
        [file] = folder.glob(f"{package}_*.deb")
        subprocess.run(["dpkg", "-x", file.name, "."], cwd=folder, check=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return str(folder / program)
