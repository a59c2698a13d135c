"""The process that has loaded everything and done nothing yet: its fork is as good as one that is started."""

from __future__ import annotations

import atexit
import gc
import os
import platform
import runpy
import socket
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from typing import NoReturn

from crawler.urls import site_of
from tests.forks import starts
from tests.forks.process import become, exit_like_python, forked_from, hide
from tests.forks.wire import Order, receive

# They read the environment when they are loaded, or are themselves run as programs.
NOT_LOADED = ("crawler.settings", "crawler.reading.worker", "crawler.db.migrations.", "__main__")
# What crawls load when they run.
SCRAPYS = ("commands", "downloadermiddlewares", "extensions", "spidermiddlewares")
LATER = (
    "itemadapter", "protego", "scrapy.cmdline", "scrapy.dupefilters", "scrapy.logformatter", "scrapy.pqueues",
    "scrapy.robotstxt", "scrapy.squeues", "scrapy.statscollectors", "twisted.internet.asyncioreactor",
)  # fmt: skip
ALONE = ("tests.integration.gate.worker", "tests.integration.gate.egress_crawl")
COMMANDS = "crawler.cli"
SHOWING = (["list"], ["show"])


def main(control: int) -> NoReturn:
    """Load, and fork until nobody asks any more; in what was forked, run it."""
    del sys.path[0]  # where these tests are
    path = sys.path.copy()
    load()
    assert "twisted.internet.reactor" not in sys.modules
    assert len(list(Path("/proc/self/task").iterdir())) == 1  # a fork has but one thread
    gc.collect()
    gc.freeze()
    asked = socket.socket(fileno=control)
    asked.sendall(b"!")
    order = _forked(asked, dict(os.environ), path)
    try:
        _run(order)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        exit_like_python(end.code or 0)
    exit_like_python(0)


def load() -> None:
    """Import the package, and what it will import."""
    names = [found.name for found in walk_packages(import_module("crawler").__path__, "crawler.")]
    names = [name for name in names if not name.startswith(NOT_LOADED) and not name.endswith(NOT_LOADED)]
    for part in SCRAPYS:
        package = import_module(f"scrapy.{part}")
        names += [found.name for found in iter_modules(package.__path__, f"{package.__name__}.")]
    names.remove("scrapy.extensions.statsmailer")  # on its way out, as it says when it is loaded
    for name in (*names, *LATER):
        import_module(name)
    # What they find out once: the list of suffixes, and the kind of machine, which another program tells.
    site_of("https://shop.example/")
    platform.platform()


def _run(order: Order) -> None:
    """As `python -m` does, or `python -c`."""
    if order.strict:
        sys.warnoptions.append("error")
        warnings.simplefilter("error")
    if order.is_code:
        main_module = vars(sys.modules["__main__"])
        exec(order.program, main_module)  # ruff: ignore[exec-builtin] - that is what -c is for
    else:
        runpy._run_module_as_main(order.program)  # type: ignore[attr-defined]


def _forked(asked: socket.socket, first: dict[str, str], path: list[str]) -> Order:
    """Return in a process that is to run something; since it may start others, it has its own template."""
    hide()
    order = _fork_while_asked(asked)
    sys.path[:] = path if order.safe_path else [str(Path.cwd()), *path]
    if _starts_none(order):
        return order
    ours, theirs = socket.socketpair()
    if (pid := os.fork()) == 0:
        ours.close()
        return _forked(theirs, first, path)
    theirs.close()
    template = starts.Template(ours)
    starts.use(lambda: template, first)
    atexit.register(_end, ours, pid)
    return order


def _starts_none(order: Order) -> bool:
    """Whether a program starts no others, and so needs no template: readers, and what only shows."""
    return (
        order.is_code
        or order.program in ALONE
        or (order.program == COMMANDS and order.arguments[1:2] in SHOWING)
    )


def _fork_while_asked(asked: socket.socket) -> Order:
    while (told := receive(asked)) is not None:
        order, files = told
        if forked_from(asked):
            asked.close()
            become(order, files)
            return order
        for file in files:
            os.close(file)
    os._exit(0)


def _end(asking: socket.socket, pid: int) -> None:
    asking.close()
    with suppress(ChildProcessError):  # where the program itself has waited for all that is below it
        os.waitpid(pid, 0)
