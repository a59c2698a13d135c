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
def example_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the plugin `headings`; whoever has it on PYTHONPATH has the plugin."""
    return _installed("headings", tmp_path_factory)


@pytest.fixture(scope="session")
def broken_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a package whose plugins do not load, or fail at every page (`raises`)."""
    return _installed("broken", tmp_path_factory)


@pytest.fixture(scope="session")
def hanging_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a package whose plugins never come back from a start page."""
    return _installed("hanging", tmp_path_factory)


def python_path(*folders: Path) -> dict[str, str]:
    """An environment in which these folders can be imported from, beside what can be already."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, folders), *([before] if before else [])])}


def _installed(name: str, factory: pytest.TempPathFactory) -> Path:
    folder = factory.mktemp(name)
    # Building leaves files beside the sources.
    source, target = folder / "source", folder / "installed"
    shutil.copytree(SOURCES / name, source)
    command = [*_installer(), "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target"]
    done = subprocess.run(
        [*command, str(target), str(source)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return target


def _installer() -> list[str]:
    """Pip, or uv where it made the environment and left pip out."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir"]
    return ["uv", "pip", "install", "--python", sys.executable]
