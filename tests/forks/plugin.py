"""Forks what tests start: each test process has a template, from when it first needs one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.forks import starts
from tests.processes import LASTING

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from tests.forks import template; template.main({})"
REALLY = "TEST_REALLY_START"


@pytest.fixture(scope="session", autouse=True)  # ruff: ignore[pytest-fixture-autouse] - whatever a test starts
def _forks() -> Generator[None]:
    """Begin with it."""
    environment = dict(os.environ)
    with ExitStack() as stack:
        if REALLY not in environment:
            starts.use(cache(lambda: stack.enter_context(_template(environment))), environment)
        yield


@pytest.fixture
def really_started() -> Generator[None]:
    """What this test starts is really started, as it is about that."""
    with starts.really_started():
        yield


@contextmanager
def _template(environment: dict[str, str]) -> Generator[starts.Template]:
    ours, theirs = socket.socketpair()
    with ours:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM.format(theirs.fileno()), ROOT],
            env=environment, pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        theirs.close()
        LASTING.add(process.pid)
        assert ours.recv(1), process.communicate()[1].decode()
        yield starts.Template(ours)
    process.communicate()
