"""What an engine says while it crawls: kept in its archive's log, and read for the outcome of the crawl."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.clock import utc_now
from crawler.engines.engine import is_infrastructure
from crawler.engines.scrapy_engine import statistics_lines
from crawler.engines.statistics import end_of, statistics_of
from crawler.jobs.storage import CombinedLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.engines.statistics import Statistics

TAIL_LINES = 200
PROGRESS_SECONDS = 5.0
_STORAGE_WORDS = (
    "no space left on device", "disk quota exceeded", "stale file handle",
    "transport endpoint is not connected",
    "input/output error", "read-only file system", "error[tool_missing]", "error[infrastructure]",
)  # fmt: skip
_ERROR = re.compile(r"\b(?:error|critical|fatal|gives up)\b(?!')", re.IGNORECASE)
_CODE = re.compile(r"^error\[\w+\]: ")


class EngineOutput:
    """The lines of one start of an engine, or of the archive tool around it."""

    def __init__(self, folder: Path, on_progress: Callable[[Statistics], None]) -> None:
        self.log = CombinedLog(folder, "crawl", utc_now())
        self.tail = deque[str](maxlen=TAIL_LINES)  # but for statistics
        self.last: Statistics | None = None
        self.stage = ""
        self.zim: str | None = None
        self._on_progress = on_progress
        self._next_progress = 0.0

    def hear(self, raw: bytes) -> None:
        """Write a line to the log, and remember what it says of progress, the end, or an error."""
        line = self.log.write(raw)
        _pass_on(line)
        if (said := statistics_of(line)) is not None:
            self.last = said
            if time.monotonic() >= self._next_progress:
                self._next_progress = time.monotonic() + PROGRESS_SECONDS
                self._on_progress(said)
            return
        if (end := end_of(line)) is not None:
            self.stage, self.zim = end.stage, end.zim
        self.tail.append(line[:2000])

    def hear_events(self, descriptor: int) -> None:
        """Read the events of our own engine from a pipe until its end; each that tells progress is a line."""
        with os.fdopen(descriptor, "rb") as events:
            for line in statistics_lines(events):
                self.hear(line.encode())

    def close(self) -> None:
        """Close the log."""
        self.log.close()

    def reason(self) -> str:
        """Return why the engine says that it failed, else its last error; empty if it said neither."""
        reason = self.last.raw.get("reason") if self.last else None
        said = reason if isinstance(reason, str) else ""
        errors = (line for line in reversed(self.tail) if _ERROR.search(line) and not line.startswith("{"))
        return (said or _CODE.sub("", next(errors, "")))[:500]

    def names_broken_disk(self) -> bool:
        """Whether the last lines name a broken disk; what engines log of pages is JSON, and is left out."""
        if self.log.error is not None and is_infrastructure(self.log.error):
            return True
        lines = "\n".join(line.lower() for line in self.tail if not line.startswith("{"))
        return any(word in lines for word in _STORAGE_WORDS)


def _pass_on(line: str) -> None:
    """Write a line of the engine's output to ours; nobody has to listen."""
    with suppress(OSError, ValueError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
