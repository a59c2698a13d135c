"""As `sitecustomize`, this tries what Ctrl-C does to a program at many moments of one start.

From the import of INTERRUPT_FROM on, a copy of the process is made at one import out of INTERRUPT_EVERY and
gets the signal. What each came to is a file in INTERRUPT_INTO: its exit code in the name, and what it told.
"""

import os
import signal
import sys
from pathlib import Path


class Interrupter:
    """Finds no module, but is asked for each."""

    def __init__(self) -> None:
        self._begin, self._every = os.environ["INTERRUPT_FROM"], int(os.environ["INTERRUPT_EVERY"])
        self._into = Path(os.environ["INTERRUPT_INTO"])
        self._seen = 0

    def find_spec(self, name: str, *_: object) -> None:
        """Count, and try it where it is time to."""
        if self._seen or name == self._begin:
            self._seen += 1
            if self._every and self._seen % self._every == 0:
                self._interrupt(self._into / f"{self._seen:05}-{name}")

    def _interrupt(self, told: Path) -> None:
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            told.rename(f"{told}.{os.waitstatus_to_exitcode(status)}")
            return
        self._every = 0
        os.dup2(os.open(told, os.O_CREAT | os.O_WRONLY), 2)
        os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Interrupter())
