"""A session's log: each line goes to the structured log at once, and to rows with the next write."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from crawler import clock, logs
from crawler.storable import as_json
from crawler.urls import redacted

if TYPE_CHECKING:
    from datetime import datetime


class LogLine(NamedTuple):
    """One line of a session's log (SPEC F145)."""

    timestamp: datetime
    level: str
    event_type: str
    message: str
    details: dict[str, Any]


class Journal:
    """Collects the lines of one session; safe to call from any thread."""

    def __init__(self, session_id: str, domain: str) -> None:
        self.session_id = session_id
        self.key = UUID(session_id)
        self._log = logs.get_logger("crawler.session").bind(session_id=session_id, domain=domain)
        self._lock = threading.Lock()
        self._waiting: list[LogLine] = []

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Note what happened."""
        self._log.info(message, **details)
        self._keep("info", event_type, message, details)

    def warn(self, event_type: str, message: str, **details: Any) -> None:
        """Note what went wrong without ending the session."""
        self._log.warning(message, **details)
        self._keep("warn", event_type, message, details)

    def error(self, event_type: str, message: str, **details: Any) -> None:
        """Note what ended a page or the session."""
        self._log.error(message, **details)
        self._keep("error", event_type, message, details)

    def take(self) -> list[LogLine]:
        """The lines that were not written yet; the caller writes them."""
        with self._lock:
            lines, self._waiting = self._waiting, []
        return lines

    def give_back(self, lines: list[LogLine]) -> None:
        """Keep lines for the next write, because this one failed."""
        with self._lock:
            self._waiting[:0] = lines

    def _keep(self, level: str, event_type: str, message: str, details: dict[str, Any]) -> None:
        details.pop("exc_info", None)
        told = as_json(details, depth=1).items()
        shown = {name: redacted(value) if isinstance(value, str) else value for name, value in told}
        line = LogLine(clock.utc_now(), level, event_type, message, shown)
        with self._lock:
            self._waiting.append(line)
