"""Programs under a guard: they end with whoever asked for them, and leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from crawler.engines.process import MAX_LINE_BYTES, Guarded, Launch, bounded_lines
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).parents[3]
STUB = ROOT / "tests" / "stubs" / "archive_tool.py"
PARENT = """
import sys, time
from crawler.engines.process import Guarded, Launch
guarded = Guarded(Launch([sys.executable, *sys.argv[1:]], orphan_grace=0.5))
print(guarded.pid, flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits to be taken does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


@pytest.fixture
def stub_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stub writes what it does."""
    path = tmp_path / "stub.log"
    monkeypatch.setenv("STUB_LOG", str(path))
    return path


def words(log: Path) -> list[dict[str, Any]]:
    """What the stub did so far."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


class Launched(Protocol):
    """Starts a stub under its guard."""

    def __call__(self, order: str, **more: Any) -> Guarded:
        """The stub, which does as ordered."""


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stub_log: Path) -> Generator[Launched]:
    """What is started is let go of at the test's end."""
    started: list[Guarded] = []

    def launch(order: str, **more: Any) -> Guarded:
        monkeypatch.setenv("STUB_PLAN", json.dumps([order]))
        command = [sys.executable, str(STUB), "--name", "n", "--output-dir", str(tmp_path)]
        started.append(Guarded(Launch(command, **more)))
        return started[-1]

    yield launch
    for guarded in started:
        guarded.close()
        guarded.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize(("order", "code"), [("ok", 0), ("fail:7", 7)])
def test_the_exit_code_is_the_programs(launched: Launched, order: str, code: int) -> None:
    """And its output comes line by line."""
    guarded = launched(order)
    lines = list(guarded.lines())
    assert guarded.wait() == code
    assert lines


def test_what_cannot_be_started_says_so() -> None:
    """As in a shell."""
    guarded = Guarded(Launch(["/nowhere/tool"]))
    assert list(guarded.lines()) == [b"error[tool_missing]: /nowhere/tool: No such file or directory"]
    assert guarded.wait() == 127
    guarded.close()


@pytest.mark.parametrize(("order", "is_run"), [("ok", False), ("fail:7", True)])
def test_last_orders_are_run_where_a_program_did_not_end_well(
    launched: Launched, tmp_path: Path, order: str, *, is_run: bool
) -> None:
    """Such as the removal of its container; a program that ended well has tidied up."""
    trace = tmp_path / "trace"
    guarded = launched(order, last_orders=[[sys.executable, "-c", f"open({str(trace)!r}, 'w')"]])
    list(guarded.lines())
    guarded.wait()
    assert trace.exists() == is_run


def test_it_is_asked_and_then_ended(launched: Launched, stub_log: Path) -> None:
    """One that listens ends by itself; one that does not, with its grace, or when it is told twice."""
    for order, grace, times in (("silence", 60, 1), ("deaf", 0.3, 1), ("deaf", 60, 2)):
        stub_log.unlink(missing_ok=True)
        guarded = launched(order, grace=grace)
        pid = wait_for(lambda: words(stub_log))[0]["pid"]
        for _ in range(times):
            guarded.stop()
            time.sleep(0.3)
        assert guarded.wait(PATIENCE_SECONDS) == (130 if order == "silence" else 128 + signal.SIGKILL)
        assert not alive(pid)


def test_nothing_that_it_started_outlives_it(launched: Launched, stub_log: Path) -> None:
    """Not a grandchild either that hid in a session of its own."""
    guarded = launched("fork", grace=0.2)
    grandchild = Path(f"{stub_log}.grandchild")
    pid = int(wait_for(lambda: grandchild.exists() and grandchild.read_text(encoding="utf-8")))
    guarded.stop()
    assert guarded.wait(PATIENCE_SECONDS) is not None
    wait_for(lambda: not alive(pid))


@pytest.mark.parametrize("order", ["deaf", "fork"])
def test_it_ends_with_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stub_log: Path, order: str
) -> None:
    """Killed as it is, the parent cannot say a word to anybody."""
    monkeypatch.setenv("STUB_PLAN", json.dumps([order]))
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(STUB), "--name", "n", "--output-dir", str(tmp_path)],
        stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    assert parent.stdout is not None
    guard = int(parent.stdout.readline())
    pid = wait_for(lambda: words(stub_log))[0]["pid"]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not alive(pid) and not alive(guard))


def test_a_long_line_costs_no_more_than_a_short_one() -> None:
    """Its beginning is kept, and how much is not."""
    read_end, write_end = os.pipe()

    def write() -> None:
        with os.fdopen(write_end, "wb") as file:
            file.write(b"x" * (10 << 20) + b"\nlast")

    writer = Thread(target=write)
    writer.start()
    lines = list(bounded_lines(read_end))
    writer.join()
    os.close(read_end)
    assert lines[0].startswith(b"xxx")
    assert lines[0].endswith(b" [%d bytes more]" % ((10 << 20) - MAX_LINE_BYTES))
    assert (len(lines[0]) < MAX_LINE_BYTES + 100, lines[1:]) == (True, [b"last"])
