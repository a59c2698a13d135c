"""A process that is forked finds what one finds that is started, and ends like it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.forks import starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.forks.wire import Order

ROOT = Path(__file__).parents[2]
PROGRAM = ["-m", "tests.forks.surroundings"]
COMMAND = [sys.executable, *PROGRAM]
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that were forked."""
    forked = []
    fork = starts.Template.fork

    def seen(template: starts.Template, order: Order, files: list[int]) -> int | None:
        forked.append(order.program)
        return fork(template, order, files)

    monkeypatch.setattr(starts.Template, "fork", seen)
    return forked


def run(*arguments: str, switches: Sequence[str] = (), **options: Any) -> Done:
    """Run the program that tells of its surroundings."""
    command = [sys.executable, *switches, *PROGRAM, *arguments]
    options = {"cwd": ROOT, "capture_output": True, **options}
    return subprocess.run(command, text=True, check=False, **options)


def both(*arguments: str, **options: Any) -> tuple[Done, Done]:
    """It as a fork, and really started."""
    with starts.really_started():
        started = run(*arguments, **options)
    return run(*arguments, **options), started


@pytest.mark.parametrize("end", ["0", "3", "256", "none", "with a word", "raise", "interrupt", "close"])
def test_it_ends_alike(end: str, forked: list[str]) -> None:
    """Exit code and last words are the same, and that there was output."""
    fork, started = both(end, stdin=subprocess.DEVNULL)

    assert forked == ["tests.forks.surroundings"]
    assert fork.returncode == started.returncode
    assert bool(fork.stdout) == bool(started.stdout)
    assert fork.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:]


def test_it_begins_alike() -> None:
    """Arguments, folder, path, environment, input, streams, files, signals, parent: all as ordered."""
    reading, writing = os.pipe()
    environment = {**os.environ, "VITRINE_HOME": "/nowhere", "LOG_LEVEL": "sch\udcf6n"}
    usual = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        fork, started = both(
            "0", "ü", env=environment, input="said", pass_fds=[writing], start_new_session=True
        )
    finally:
        signal.signal(signal.SIGUSR1, usual)
        os.close(reading)
        os.close(writing)

    found = json.loads(fork.stdout)
    assert found.pop("loaded")
    assert {**found, "loaded": False} == json.loads(started.stdout)
    assert found["parent"] == os.getpid()
    assert found["read"] == "said"
    assert writing in found["files"]
    assert found["leads"] == [True, True]
    assert signal.SIGUSR1 in found["ignored"]


def test_warnings_are_its_errors(forked: list[str]) -> None:
    """Where it is started with -W error, and not otherwise."""
    fork, started = both("warn", switches=["-W", "error"], stdin=subprocess.DEVNULL)
    lenient = run("warn", stdin=subprocess.DEVNULL)

    assert len(forked) == 2
    assert fork.returncode == started.returncode == 1
    assert json.loads(fork.stdout)["warnings"] == json.loads(started.stdout)["warnings"] == ["error"]
    assert lenient.returncode == 0
    assert lenient.stderr.count("UserWarning: said") == 1


def test_it_is_a_child_like_any(forked: list[str]) -> None:
    """Its process id is its own, a signal ends it, and the system tells its parent."""
    with subprocess.Popen([*COMMAND], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.kill()

        assert process.wait() == -signal.SIGKILL
    assert forked


def test_asyncio_waits_for_it(forked: list[str]) -> None:
    """A loop's processes are forked as well."""

    async def asked() -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "7", cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        said, _errors = await process.communicate()
        return process.returncode, said

    with ThreadPoolExecutor() as thread:  # this one has a loop already
        code, said = thread.submit(lambda: asyncio.run(asked())).result()

    assert (code, bool(said), len(forked)) == (7, True, 1)


def test_what_it_starts_is_forked_too() -> None:
    """A crawl is a process of its command's, and so has the libraries as well."""
    found = json.loads(run("parent").stdout)

    assert found["loaded"]
    assert found["grandparent"] == os.getpid() != found["parent"]


@pytest.mark.parametrize(
    "options",
    [
        {"env": {**os.environ, "PYTHONIOENCODING": "latin-1"}},
        {"env": {**os.environ, "SOMETHING": "unknown"}},
        {"umask": 0o77},
        {"preexec_fn": os.getpid},
        {"close_fds": False},
        {"executable": "/usr/bin/env"},
    ],
)
def test_what_makes_a_difference_is_started(options: dict[str, Any], forked: list[str]) -> None:
    """An interpreter reads of its environment before a program does; rare wishes are left to the system."""
    run(stdin=subprocess.DEVNULL, **options)

    assert not forked
