"""Processes whose wall clocks are wrong, by a library of ours that stands between them and the system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.embedded.binaries import MissingServerError

SOURCE = Path(__file__).with_name("skewed_clock.c")


def built_in(folder: Path) -> Path:
    """The library, made by the system's compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise MissingServerError("no C compiler (cc) for a clock that is wrong")
    library = folder / "skewed_clock.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def skewed_by(seconds: int, library: Path) -> dict[str, str]:
    """What a process finds in its environment whose clock is wrong by so much."""
    return {"LD_PRELOAD": str(library), "CLOCK_SKEW_SECONDS": str(seconds)}
