"""Programs of others for WARC files, in an environment of their own: `.peers`, which `make peers` makes."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

from tests.databases import do_without
from tests.servers import MissingServerError

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).parents[2]
FOLDER_VARIABLE = "PEERS"


@pytest.fixture(scope="session")
def peers() -> Path:
    """The folder of other people's programs for WARC files."""
    try:
        return peers_folder()
    except MissingServerError as error:
        do_without(error)


def peers_folder() -> Path:
    """The folder of their programs."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or ROOT / ".peers" / "bin")
    if not (folder / "wayback").exists():
        raise MissingServerError(f"no pywb in {folder}; `make peers` installs it")
    return folder


@contextmanager
def own_pywb(programs: Path, folder: Path) -> Generator[Pywb]:
    """Pywb on a free port, on the collections below a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(programs / "wayback"), "-p", str(port), "-b", "127.0.0.1", "-t", "2"]
    with (folder / "wayback.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield Pywb(process, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


class Pywb:
    """A running one."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self._process = process
        self._url = url

    def answers(self) -> bool:
        """Whether it has come up."""
        assert self._process.poll() is None, "pywb is gone"
        with suppress(URLError, ConnectionError):
            urlopen(self._url, timeout=60).close()  # ruff: ignore[suspicious-url-open-usage] - our own port
            return True
        return False

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def address(self, path: str) -> str:
        """Where it serves something."""
        return f"{self._url}/{path}"

    def get(self, path: str) -> tuple[int, bytes]:
        """What it answers."""
        try:
            with urlopen(f"{self._url}/{path}", timeout=60) as answer:  # ruff: ignore[suspicious-url-open-usage] - our own port
                return int(answer.status), bytes(answer.read())
        except HTTPError as error:
            with error:
                return error.code, error.read()
