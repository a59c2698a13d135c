"""Has `subprocess` fork a process from a template, where that makes no difference to starting it."""

from __future__ import annotations

import ctypes
import inspect
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.config import Settings
from tests.forks.process import CHANGEABLE, PID
from tests.forks.wire import Order, send

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Generator, Mapping

# After python -m, with or without -P or -W error; after -c where it loads nothing but what the template has.
MODULE = re.compile(r"scrapy|(crawler|tests)\.[a-z0-9_.]+")
CODE = re.compile(r"import sys; sys.path.insert\(0, sys.argv\[1]\); from crawler\.[a-z_.]+ import .*")
SWITCHES = {
    ("-m",): MODULE, ("-P", "-m"): MODULE, ("-W", "error", "-m"): MODULE, ("-I", "-S", "-c"): CODE,
}  # fmt: skip
# What may differ from the template's environment: it is read when a program runs, and no sooner.
READ_LATE = {name.upper() for name in Settings.model_fields} | {
    "PATH", "PYTEST_CURRENT_TEST", "HTTP_PROXY", "http_proxy", "SCRAPY_CHECK", "SCRAPY_SETTINGS_MODULE",
    "VITRINE_ENGINE", "VITRINE_EPOCH", "VITRINE_JOB", "DEADLY_URL", "FOREIGN_SETTINGS", "STUB_DOCKER",
    "STUB_DOCKER_CONTAINERS", "STUB_DOCKER_LOG", "STUB_LOG", "STUB_PLAN", "STUB_RUNS",
}  # fmt: skip
USUAL = {
    "preexec_fn": None,
    "close_fds": True,
    "shell": False,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
}
_PUT_ORPHANS, _GET_ORPHANS = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER

_start = subprocess.Popen._execute_child  # type: ignore[attr-defined]
_signature = inspect.signature(_start)
_forking = [True]


class Template:
    """The process that this one's are forked from."""

    def __init__(self, control: socket.socket) -> None:
        """It listens at the other end."""
        self._control = control
        self._lock = threading.Lock()

    def fork(self, order: Order, files: list[int]) -> int | None:
        """The new process, a child of this one; None where a program has ended all that was below it."""
        with self._lock:
            told = b""
            with suppress(ConnectionError):
                send(self._control, order, files)
                told = self._control.recv(PID.size)
            if not told:
                return None
            with _taking_orphans():
                self._control.sendall(b"!")
                assert self._control.recv(1)
            return int(PID.unpack(told)[0])


def use(template: Callable[[], Template], environment: Mapping[str, str]) -> None:
    """From now on fork what fits `environment`, in which the template was started."""

    def start(process: Any, *positional: Any) -> None:
        asked = _signature.bind(process, *positional).arguments
        order = _order(asked, environment) if _forking[-1] else None
        pid = template().fork(order, [*_standard(asked), *asked["pass_fds"]]) if order else None
        if pid is None:
            _start(process, *positional)
            return
        process.pid = pid
        process._child_created = True
        names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        process._close_pipe_fds(*(asked[name] for name in names))

    subprocess.Popen._execute_child = start  # type: ignore[attr-defined]


@contextmanager
def really_started() -> Generator[None]:
    """Meanwhile nothing is forked."""
    _forking.append(False)
    try:
        yield
    finally:
        _forking.pop()


def _order(asked: Mapping[str, Any], first: Mapping[str, str]) -> Order | None:
    """The order for a fork; None where the process has to be started."""
    environment = os.environ if asked["env"] is None else asked["env"]
    folder = Path(os.fspath(asked["cwd"] or ".")).absolute()
    switches, program, arguments = _program(asked["args"])
    if not (program and _is_usual(asked) and folder.is_dir() and _is_like(environment, first)):
        return None
    return Order(
        program=program,
        is_code="-c" in switches,
        arguments=arguments,
        folder=str(folder),
        environment=dict(environment),
        targets=[0, 1, 2, *asked["pass_fds"]],
        ignored=[number for number in CHANGEABLE if signal.getsignal(number) is signal.SIG_IGN],
        umask=_umask(),
        safe_path="-m" not in switches or "-P" in switches,
        strict="-W" in switches,
        session=asked["start_new_session"],
        group=asked.get("process_group", -1),
    )


def _program(command: Any) -> tuple[tuple[str, ...], str, list[str]]:
    """The switches, the program and its arguments; no program where it is none of ours."""
    words = list(command) if isinstance(command, list | tuple) else []
    if all(isinstance(word, str) for word in words) and words[:1] == [sys.executable]:
        for switches, pattern in SWITCHES.items():
            _python, *given, program = words[: len(switches) + 2] or [""]
            if tuple(given) == switches and pattern.fullmatch(program):
                return switches, program, words[len(switches) + 2 :]
    return (), "", []


def _standard(asked: Mapping[str, Any]) -> list[int]:
    """What becomes its standard input, output and errors; ours where nothing is said."""
    ends = (asked["p2cread"], asked["c2pwrite"], asked["errwrite"])
    return [number if end == -1 else end for number, end in enumerate(ends)]


def _is_usual(asked: Mapping[str, Any]) -> bool:
    """Whether nothing is asked for that a fork does not have."""
    return (
        all(asked[name] == usual for name, usual in USUAL.items())
        and asked["executable"] in {None, sys.executable}
        and not any(map(os.isatty, _standard(asked)))
        and not signal.pthread_sigmask(signal.SIG_BLOCK, [])
    )


def _is_like(environment: Mapping[str, str], first: Mapping[str, str]) -> bool:
    """Whether an interpreter that starts in it would be like the template's."""
    differing = {name for name, _value in environment.items() ^ first.items()}
    return differing <= READ_LATE and all(isinstance(value, str) for value in environment.values())


def _umask() -> int:
    """Asked without changing it, since other threads may be making files."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("Umask:")[2].split()[0], 8)


@contextmanager
def _taking_orphans() -> Generator[None]:
    """A fork's fork becomes a child of this process."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    before = ctypes.c_int()
    prctl(_GET_ORPHANS, ctypes.byref(before), 0, 0, 0)
    prctl(_PUT_ORPHANS, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PUT_ORPHANS, before.value, 0, 0, 0)
