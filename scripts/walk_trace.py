"""Writes down which functions of a package call which, in the process that it is loaded into.

`scripts.walk` copies this file into a folder on the PYTHONPATH as `sitecustomize.py`, which Python loads
before the program; so it follows a command into every process that the command starts. It imports nothing of
the package, and knows of its inside only how files are named.

A line for each call from one file into another, once for each pair of functions: JSON, in the order of
`Call` in `scripts.walk`. The caller is

- the nearest function of the package up the stack, with whatever libraries stand between;
- where an executor's thread or a task of the event loop begins: who handed it the work;
- where a library calls by itself (Scrapy a component, the event loop a callback): the file that a library
  called into before, since that is where a reader left off. What a library calls is written once, whoever was
  there before;
- where SQLAlchemy opens a connection: its pool. Which statement finds the pool empty is chance.

The frame of an event loop ends a stack: what it runs was not called by whoever started the loop. Not written
is what runs while a module is imported, what is no function (modules, class bodies), and `__repr__`. Nor is
what only the clock decides, so that a count is the same each time:

- what runs in daemon threads: such a thread may be cut off at any moment, so a page's way cannot depend on
  it; it keeps a lock or a lease alive;
- what only looks, now and then, whether a spider or a visit is idle;
- what is done ahead for a write that happens to come while another is stored.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import CodeType, FrameType

PACKAGE, TRACE = "WALK_PACKAGE", "WALK_TRACE"  # variables: the package's folder, the file to write to
# Calls into these go without saying, and who calls through them is looked for behind them.
TRANSPARENT = frozenset({"errors.py", "clock.py", "logs.py", "urls.py", "config.py", "config"})
ONE_FILE = "pdp"  # the rule reads as one thing: HTML in, values out
_POOL = "_ConnectionRecord.__connect"  # SQLAlchemy's; it makes a connection for whoever comes first
_UNTOLD = frozenset({"__repr__"})
_IMPORT = "<frozen importlib._bootstrap>"
_BY_CHANCE = frozenset(
    {
        "ExecutionEngine.spider_is_idle", "ExecutionEngine._spider_idle", "Watch.look", "Watch._keep_looking",
        "publish_ahead",
    }
)  # fmt: skip
_FUNCTION = 0x1  # the flag that modules and class bodies lack
_PAUSES = 0x20 | 0x80 | 0x200  # the flags of generators, coroutines and both at once
_GOES_ON = 3  # the bits of RESUME's argument that are 0 where a function begins
_LOOP_CODE = asyncio.Handle._run.__code__  # ruff: ignore[private-member-access] - the one frame below every callback


def unit_of(path: str) -> str:
    """The name under which a file of the package counts; empty where it does not."""
    first = path.partition(os.sep)[0]
    if first in TRANSPARENT:
        return ""
    return first if first == ONE_FILE else path


class Tracer:
    """A profile function that writes each call into another file when it is first made."""

    def __init__(self, package: str, write: Callable[[bytes], object]) -> None:
        self._folder = os.path.join(package, "")  # ruff: ignore[os-path-join] - pathlib would cost each child its import
        self._write = write
        self._units: dict[str, str] = {}  # by file
        # By name: code objects of two files may be equal.
        self._seen: set[tuple[str, str, str, str]] = set()
        self._last = ""  # the file that a library called into last

    def __call__(self, frame: FrameType, event: str, _arg: object) -> None:
        """Take note of a call; `sys.setprofile` calls this."""
        if event != "call":
            return
        unit = self._unit(frame.f_code)
        if unit and _begins(frame) and frame.f_code.co_name not in _UNTOLD:
            self._note(frame, unit)

    def caller(self, frame: FrameType | None) -> CodeType | None:
        """Who called, from a frame on; None where a library did by itself."""
        while frame is not None and (code := frame.f_code) is not _LOOP_CODE:
            if code is _RUN_CODE or code is _AWAIT_CODE:
                giver: CodeType = frame.f_locals["giver"]
                return giver
            if self._unit(code) or code.co_qualname == _POOL:
                return code
            frame = frame.f_back
        return None

    def _note(self, frame: FrameType, unit: str) -> None:
        code, caller = frame.f_code, self.caller(frame.f_back)
        calling = ("", "") if caller is None else (caller.co_filename, caller.co_qualname)
        pair = (*calling, code.co_filename, code.co_qualname)
        is_new = pair not in self._seen
        if (caller and not is_new) or threading.current_thread().daemon or _is_left_out(frame):
            return
        self._seen.add(pair)
        before = self._unit(caller) if caller else self._last
        if caller is None:
            self._last = unit
        if is_new and before != unit:
            line = json.dumps([time.monotonic_ns(), before, calling[1], unit, code.co_qualname])
            self._write(f"{line}\n".encode())

    def _unit(self, code: CodeType) -> str:
        """The file that a function counts as; empty where it does not, or is none."""
        path = code.co_filename
        unit = self._units.get(path)
        if unit is None:
            is_ours = path.startswith(self._folder)
            unit = self._units[path] = unit_of(path.removeprefix(self._folder)) if is_ours else ""
        return unit if code.co_flags & _FUNCTION else ""


def _begins(frame: FrameType) -> bool:
    """Whether a function is being entered; a generator or coroutine that goes on was called before."""
    code = frame.f_code
    return not code.co_flags & _PAUSES or not code.co_code[frame.f_lasti + 1] & _GOES_ON


def _is_left_out(frame: FrameType) -> bool:
    """Whether a call only serves an import, or a question that is asked by the clock."""
    up: FrameType | None = frame
    while up is not None and up.f_code is not _LOOP_CODE:
        if up.f_code.co_filename == _IMPORT or up.f_code.co_qualname in _BY_CHANCE:
            return True
        up = up.f_back
    return False


# ── work that is handed over: the frames of these two carry who gave it ──


def _run_for(giver: CodeType, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # ruff: ignore[unused-function-argument] - read from the frame
    return function(*args, **kwargs)


async def _await_for(giver: CodeType, work: Coroutine[Any, Any, Any]) -> Any:  # ruff: ignore[unused-function-argument] - read from the frame
    return await work


_RUN_CODE, _AWAIT_CODE = _run_for.__code__, _await_for.__code__


def _mark_executors(tracer: Tracer) -> None:
    """Have the work of executors know who gave it."""
    submit = ThreadPoolExecutor.submit

    def submit_marked(
        pool: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kw: Any
    ) -> Any:
        giver = tracer.caller(sys._getframe(1))  # ruff: ignore[private-member-access] - the only way to the stack
        if giver is None:
            return submit(pool, function, *args, **kw)
        return submit(pool, _run_for, giver, function, *args, **kw)

    ThreadPoolExecutor.submit = submit_marked  # type: ignore[method-assign,assignment]


def _mark_tasks(tracer: Tracer) -> None:
    """Have the tasks of event loops know who made them."""
    create_task = asyncio.BaseEventLoop.create_task

    def create_marked(loop: asyncio.BaseEventLoop, work: Any, **kw: Any) -> Any:
        giver = tracer.caller(sys._getframe(1))  # ruff: ignore[private-member-access] - the only way to the stack
        return create_task(loop, work if giver is None else _await_for(giver, work), **kw)

    asyncio.BaseEventLoop.create_task = create_marked  # type: ignore[method-assign,assignment]


def install(package: str, trace: str) -> None:
    """Trace this process from here on; each line is out at once, also of a process that is killed."""
    out = os.open(trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    tracer = Tracer(package, lambda line: os.write(out, line))
    _mark_executors(tracer)
    _mark_tasks(tracer)
    threading.setprofile(tracer)
    sys.setprofile(tracer)


if __name__ == "sitecustomize" and TRACE in os.environ:
    install(os.environ[PACKAGE], os.environ[TRACE])
