"""Keeps a process's leases alive from a thread of its own, which no busy event loop can hold up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from crawler import logs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawler.leases.rows import Lease

RENEWALS_PER_LEASE = 3

log = logs.get_logger(__name__)


class Renewal:
    """Renews all leases that it was given, and says which of them are somebody else's by now."""

    def __init__(
        self,
        renew: Callable[[Collection[Lease]], set[int]],
        on_lost: Callable[[set[int]], None],
        lease_seconds: float,
    ) -> None:
        self._renew = renew
        self._on_lost = on_lost
        self._interval = lease_seconds / RENEWALS_PER_LEASE
        self._kept: dict[int, Lease] = {}
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-renewal", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def keep(self, leases: Iterable[Lease]) -> None:
        """Renew these too."""
        with self._guard:
            self._kept.update((lease.id, lease) for lease in leases)

    def forget(self, ids: Iterable[int]) -> None:
        """Renew these no more."""
        with self._guard:
            for task_id in ids:
                self._kept.pop(task_id, None)

    def close(self) -> None:
        """Stop; what is still leased runs out by itself."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._interval):
            with self._guard:
                leases = list(self._kept.values())
            try:
                ours = self._renew(leases)
            except Exception:
                # A database that is away for a moment costs no lease: there are two more tries.
                log.exception("lease.renewal_failed", leases=len(leases))
                continue
            lost = {lease.id for lease in leases} - ours
            # What ended while we asked is not lost: nobody waits for it any more.
            with self._guard:
                lost = {task_id for task_id in lost if self._kept.pop(task_id, None) is not None}
            if lost:
                self._on_lost(lost)
