"""Runs the heartbeats of sessions apart from the renewal of locks: a slow database must not cost a lock."""

from __future__ import annotations

from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING

from crawler.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.access.gate import Held

    Beat = Callable[[Held], None]

log = get_logger(__name__)


class Heartbeats:
    """A thread that calls hooks one after the other; a hook that is still to be called is not asked twice."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[tuple[Held, Beat] | None] = SimpleQueue()
        self._pending: set[Held] = set()
        self._guard = Lock()
        self._thread = Thread(target=self._run, name="session-heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def ask(self, held: Held, beat: Beat) -> None:
        """Have the hook called soon."""
        with self._guard:
            if held in self._pending:
                return
            self._pending.add(held)
        self._asked.put((held, beat))

    def close(self, timeout: float) -> None:
        """Call what was asked for, then stop."""
        self._asked.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            held, beat = asked
            try:
                beat(held)
            except Exception:  # the other sessions' hearts beat on
                log.exception("session.heartbeat.failed", session_id=held.session_id, domain=held.domain)
            with self._guard:
                self._pending.discard(held)
