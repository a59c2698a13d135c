"""Processes whose wall clocks are wrong, by a library of ours that stands between them and the system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.databases import do_without
from tests.servers import MissingServerError

SOURCE = Path(__file__).with_name("skewed_clock.c")


@pytest.fixture(scope="session")
def wrong_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that makes the clock of a process wrong; see `skewed_by`."""
    compiler = shutil.which("cc")
    if compiler is None:
        do_without(MissingServerError("no C compiler (cc) for a clock that is wrong"))
    library = tmp_path_factory.mktemp("clock") / "skewed_clock.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def skewed_by(seconds: int, library: Path) -> dict[str, str]:
    """What a process finds in its environment whose clock is wrong by so much."""
    return {"LD_PRELOAD": str(library), "CLOCK_SKEW_SECONDS": str(seconds)}
