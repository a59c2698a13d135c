"""Who is below a process, what a guard makes of an exit code, and of orders that cannot be followed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.engines import guard

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], int]:
    """What a guard exits with, that reads so from its standard input."""

    def run(said: bytes) -> int:
        reading, writing = os.pipe()
        os.write(writing, said)
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            monkeypatch.setattr("sys.stdin", stream)
            return guard.main()

    return run


def test_a_parent_that_is_gone_before_it_ordered_anything(ordered: Callable[[bytes], int]) -> None:
    """Nothing is started: half an order is none."""
    assert ordered(b"") == 128 + signal.SIGTERM
    assert ordered(b'{"command": ["false"]') == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("error", "code"), [(FileNotFoundError(2, "No such file"), 127), (PermissionError(13, "Denied"), 126)]
)
def test_what_cannot_be_started_ends_as_in_a_shell(
    ordered: Callable[[bytes], int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: OSError, code: int,
) -> None:  # fmt: skip
    """With a line that says why, for who reads the output alone."""

    def cannot(_order: object) -> None:
        raise error

    monkeypatch.setattr(guard, "Guard", cannot)
    assert ordered(b'{"command": ["/x/tool", "--y"]}\n') == code
    assert capsys.readouterr().out == f"error[tool_missing]: /x/tool: {error.strerror}\n"


STATS = {
    1: b"1 (init) S 0 1", 10: b"10 (sh) S 1 1", 11: b"11 (a) b) (c) R 10 1", 12: b"12 (dead) Z 10 1",
    13: b"13 (x) S 11 1", 20: b"20 (other) S 1 1", 30: b"nonsense",
}  # fmt: skip


def test_descendants_are_found_whatever_they_call_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may hold brackets and spaces; who ended is none, who vanished meanwhile neither."""
    monkeypatch.setattr(guard, "_processes", lambda: [*STATS, 99])

    def path(name: str) -> Any:
        pid = int(name.split("/")[2])
        return SimpleNamespace(read_bytes=lambda: _stat(pid))

    def _stat(pid: int) -> bytes:
        if pid not in STATS:
            raise FileNotFoundError(pid)
        return STATS[pid]

    monkeypatch.setattr(guard, "pathlib", SimpleNamespace(Path=path))
    assert sorted(guard._descendants(10)) == [11, 13]
    assert guard._descendants(13) == []


def test_where_no_processes_are_shown_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on systems without `/proc`."""
    monkeypatch.setattr(guard, "pathlib", SimpleNamespace(Path=lambda _: Path("/nowhere/proc")))
    assert guard._processes() == []


class Program:
    """One that ends with a code, or not before it is killed."""

    pid = 4711

    def __init__(self, code: int | None, looks: int = 1) -> None:
        self.code, self.looks, self.heard = code, looks, list[int]()

    def poll(self) -> int | None:
        """Its code, once it was looked at so often."""
        self.looks -= 1
        return None if self.looks > 0 else self.code

    def wait(self) -> int:
        """Its code."""
        assert self.code is not None
        return self.code

    def send_signal(self, number: int) -> None:
        """Remember it."""
        self.heard.append(number)


def watched(monkeypatch: pytest.MonkeyPatch, program: Program, **order: Any) -> tuple[guard.Guard, list[Any]]:
    """A guard of a program that is there already, and what it did at the end."""
    done: list[Any] = []
    made = guard.Guard.__new__(guard.Guard)
    made.parent, made.asked, made.is_orphan, made.kill_at = os.getppid(), 0, False, None
    made.order, made.program = {"command": [], **order}, program  # type: ignore[assignment]
    monkeypatch.setattr("select.select", lambda *_: ([], [], []))
    monkeypatch.setattr(guard, "_descendants", lambda _: [])
    monkeypatch.setattr(guard, "_run_shortly", done.append)
    return made, done


@pytest.mark.parametrize(("code", "exits", "last"), [(0, 0, []), (3, 3, [["rm"]]), (-9, 137, [["rm"]])])
def test_last_orders_are_for_what_went_wrong(
    monkeypatch: pytest.MonkeyPatch, code: int, exits: int, last: list[Any]
) -> None:
    """A program that ended by itself and well has tidied up."""
    made, done = watched(monkeypatch, Program(code, looks=3), **{"finally": [["rm"]]})
    assert made.watch() == exits
    assert done == last


def test_a_parent_that_dies_takes_its_program_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked once, however often that is seen, and has less time than one that is stopped."""
    program = Program(0, looks=5)
    made, done = watched(monkeypatch, program, **{"orphan_grace": 50.0, "finally": [["rm"]]})
    made.parent = -1
    assert made.watch() == 0
    assert program.heard == [signal.SIGTERM]
    assert done == [["rm"]]


def test_signals_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first asks; a quit is in a hurry; whoever says less time is heard."""
    program = Program(0)
    made, _ = watched(monkeypatch, program, grace=50.0)
    made._heard(signal.SIGTERM, None)
    first = made.kill_at
    assert (made.asked, program.heard) == (1, [signal.SIGTERM])
    made._heard(signal.SIGQUIT, None)
    assert (made.asked, program.heard, made.kill_at) == (3, [signal.SIGTERM], first)
    made._ask(0.0)
    assert first is not None
    assert made.kill_at is not None
    assert made.kill_at < first
