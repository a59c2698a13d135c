"""Ctrl-C while a program loads, and a second one while it stops: it ends, with one line at most.

An exception would not do: one that comes in a callback of the import system is printed and forgotten, and a
library may catch it. While a program loads there is nothing yet that an end has to save. What this module
itself imports is as good as nothing, since it is what a program begins with.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
SCRAPYS_COMMANDS = {"crawl", "fetch", "parse", "runspider", "shell", "view"}


class _AtOnce:
    """Ends the program, with a line of its own."""

    def __init__(self, line: str) -> None:
        self._line = line.encode()

    def __call__(self, _number: int, _frame: object) -> None:
        try:
            os.write(2, self._line)
        finally:
            os._exit(INTERRUPTED)


def end_at_once(line: str = "") -> None:
    """From now on Ctrl-C ends this program, where nobody has chosen another way."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    try:
        signal.signal(signal.SIGINT, _AtOnce(line))
    except ValueError:  # a thread that is not the main one has no say
        return


def end_scrapy_at_once() -> None:
    """The same where the program is Scrapy's own command line, from when it reads its settings on.

    Only for the commands in `crawler/commands`: they say when they are loaded, and others never would.
    """
    words = (word for word in sys.argv[1:] if not word.startswith("-"))
    is_scrapy = sys.argv[0].endswith(("/scrapy", "/scrapy/__main__.py"))
    if is_scrapy and next(words, None) in SCRAPYS_COMMANDS:
        end_at_once("interrupted: nothing was begun\n")


def loaded() -> None:
    """From now on Ctrl-C is an exception again."""
    if isinstance(signal.getsignal(signal.SIGINT), _AtOnce):
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end_within(seconds: float, line: str = "") -> None:
    """End this program when so much time is over, whatever it waits for or loops in by then."""
    signal.signal(signal.SIGALRM, _AtOnce(line))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def run(program: Callable[[], int | None]) -> int | None:
    """The exit code of a program that is loaded, also where it is interrupted."""
    try:
        loaded()
        return program()
    except KeyboardInterrupt:
        return INTERRUPTED
