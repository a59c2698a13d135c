"""What counts as a step of a walk, and what is traced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import walk_trace
from scripts.walk import Call, Hop, calls_in, hops_of, last_line, listing, revisited
from scripts.walk_trace import unit_of


def call(at: int, caller: str, called: str) -> Call:
    """A call as `a.f` writes one; an empty caller is a library."""
    caller_file, _, function = caller.partition(".")
    file, _, name = called.partition(".")
    return Call(at, caller_file, function, file, name)


def shown(hops: list[Hop]) -> list[str]:
    """The files that were entered, those that were entered before with a mark."""
    return [("<" if hop.is_back else "") + hop.call.file for hop in hops]


def test_a_file_that_was_entered_before_is_a_step_back() -> None:
    """Whoever calls, and whichever of its functions."""
    hops = hops_of([call(1, "", "a.main"), call(2, "a.main", "b.f"), call(3, "b.f", "a.g")])
    assert shown(hops) == ["a", "b", "<a"]


def test_a_pair_of_functions_is_read_once() -> None:
    """A loop inflates nothing; another caller is another thing to read."""
    hops = hops_of(
        [call(1, "a.f", "b.g"), call(2, "a.f", "b.g"), call(3, "a.h", "b.g"), call(4, "a.f", "b.h")]
    )
    assert shown(hops) == ["b", "<b", "<b"]


def test_what_a_library_calls_is_read_once() -> None:
    """Whichever file it came from before, since that is up to chance."""
    hops = hops_of([Call(1, "a", "", "b", "g"), Call(2, "c", "", "b", "g"), Call(3, "", "", "b", "g")])
    assert shown(hops) == ["b"]


def test_all_processes_are_one_walk() -> None:
    """Their lines come in the order of the clock that they share."""
    lines = [json.dumps(call(at, "", name)) for at, name in ((30, "c.f"), (10, "a.f"), (20, "b.f"))]
    assert shown(hops_of(calls_in("\n".join(lines)))) == ["a", "b", "c"]


def test_the_last_line_has_both_counts() -> None:
    """In words that a program finds again."""
    page = hops_of([call(1, "", "a.f"), call(2, "a.f", "b.f"), call(3, "b.f", "a.g")])
    assert last_line(page, page[:2]) == "page 3 hops 1 back, task 2 hops 0 back"


def test_the_most_revisited_come_first() -> None:
    """What is entered once is nothing to come back to."""
    hops = hops_of([call(1, "", "a.f"), call(2, "a.f", "b.f"), call(3, "b.f", "a.g"), call(4, "x.f", "a.g")])
    assert revisited(hops) == [("a", 3)]
    assert list(listing("one page", hops))[1:4:2] == [
        "   a  f  (from a library, or a command)",
        "<- a  g  (from b: f)",
    ]


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("cli/app.py", "cli/app.py"),
        ("pdp/money.py", "pdp"),
        ("errors.py", ""),
        ("config.py", ""),
        ("config/values.py", ""),
        ("demo/errors.py", "demo/errors.py"),
    ],
)
def test_some_files_go_without_saying(path: str, unit: str) -> None:
    """The rule is one file, and what everything uses is none."""
    assert unit_of(path.replace("/", os.sep)) == unit


FILES = {
    "__init__.py": "",
    "start.py": """
        import asyncio, threading
        from concurrent.futures import ThreadPoolExecutor
        from shop import logs, work, beside
        from library import ExecutionEngine, _ConnectionRecord
        work.imported()
        def main():
            logs.through(work.sync)
            for _ in range(3):
                list(map(work.mapped, [1]))
            with ThreadPoolExecutor() as pool:
                pool.submit(work.threaded).result()
            ExecutionEngine().spider_is_idle(work.polled)
            _ConnectionRecord().connect(work.connected)
            keeper = threading.Thread(target=work.kept, daemon=True)
            keeper.start()
            keeper.join()
            asyncio.run(looped())
        async def looped():
            await asyncio.create_task(work.awaited())
            loop = asyncio.get_running_loop()
            for _ in range(2):
                loop.call_soon(work.called_back)
                loop.call_soon(beside.called_back)
                await asyncio.sleep(0)
    """,
    "work.py": """
        import asyncio
        from shop import beside
        class Body: pass
        def imported(): beside.imported()
        def sync(): pass
        def mapped(_): pass
        def threaded(): pass
        def polled(): pass
        def connected(): pass
        def kept(): beside.kept()
        async def awaited():
            await asyncio.sleep(0)
            await beside.awaited()
        def called_back(): pass
    """,
    "beside.py": """
        import asyncio
        def imported(): pass
        def kept(): pass
        async def awaited(): await asyncio.sleep(0)
        def called_back(): pass
    """,
    "logs.py": """
        def through(function): function()
    """,
}

# Calls back as Scrapy and SQLAlchemy do.
LIBRARY = """
class ExecutionEngine:
    def spider_is_idle(self, ask): ask()
class _ConnectionRecord:
    def connect(self, listener): self.__connect(listener)
    def __connect(self, listener): listener()
"""


def test_calls_are_attributed(tmp_path: Path) -> None:
    """Through libraries, threads and tasks to who caused them; imports and polls are left out."""
    package = tmp_path / "shop"
    package.mkdir()
    for name, text in FILES.items():
        (package / name).write_text(text.replace("\n        ", "\n"), encoding="utf-8")
    (tmp_path / "library.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_bytes(Path(walk_trace.__file__).read_bytes())
    trace = tmp_path / "trace"
    tracer = {walk_trace.PACKAGE: str(package), walk_trace.TRACE: str(trace), "PYTHONPATH": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", "import shop.start; shop.start.main()"],
        env={**os.environ, **tracer}, check=True, timeout=60,
    )  # fmt: skip
    told = [f"{c.caller or 'library'} > {c.function}" for c in calls_in(trace.read_text(encoding="utf-8"))]
    assert told == [
        "library > main",
        "main > sync",
        "main > mapped",
        "main > threaded",
        "_ConnectionRecord.__connect > connected",
        "looped > awaited",
        "awaited > awaited",
        "library > called_back",
        "library > called_back",
    ]
