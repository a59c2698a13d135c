"""The example plugins, installed as a user would install them, into a folder for PYTHONPATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "example_plugin"


@pytest.fixture(scope="session")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of the plugin `headings`, and one of plugins that fail in every way.

    Whoever has it on PYTHONPATH has them all.
    """
    folder = tmp_path_factory.mktemp("plugins")
    # Building leaves files beside the sources.
    sources = [shutil.copytree(source, folder / source.name) for source in sorted(SOURCES.iterdir())]
    command = [*_installer(), "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target"]
    done = subprocess.run(
        [*command, str(folder / "installed"), *map(str, sources)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "installed"


def python_path(*folders: Path) -> dict[str, str]:
    """An environment in which these folders can be imported from, beside what can be already."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, folders), *([before] if before else [])])}


def _installer() -> list[str]:
    """Pip, or uv where it made the environment and left pip out."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir"]
    return ["uv", "pip", "install", "--python", sys.executable]
