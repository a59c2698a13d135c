"""What a visits works with: the database, the book, the gate and its keeper, opened and closed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from attrs import frozen

from crawler import logs
from crawler.access.acquisition import Acquisitions
from crawler.access.gates import open_gate
from crawler.access.keeper import Keeper
from crawler.catalogue.products import CatalogueHooks
from crawler.catalogue.run_pages import RunHooks
from crawler.db.engine import Database
from crawler.db.revisions import require_current
from crawler.evidence.bodies import open_blobs
from crawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.access.gate import Gate
    from crawler.config import Settings
    from crawler.sessions.store import Hooks

log = logs.get_logger(__name__)
# Who writes along in the transactions of pages, sessions and runs, whoever opens the stores.
RUN_HOOKS = RunHooks()
HOOKS: tuple[Hooks, ...] = (CatalogueHooks(), RUN_HOOKS)


@frozen
class Stores:
    """All that lasts longer than a process, as one process sees it."""

    database: Database
    sessions: SessionStore
    gate: Gate
    keeper: Keeper
    acquisitions: Acquisitions

    @classmethod
    def open(cls, settings: Settings, hooks: Sequence[Hooks] = ()) -> Self:
        """Connect, and end the sessions of processes that are gone."""
        database = Database(settings.database)
        require_current(database)
        sessions = SessionStore(settings, database, open_blobs(settings), hooks)
        gate = open_gate(settings, database)
        _say_how_it_runs(settings, gate)
        sessions.abandon_stale()
        keeper = Keeper.of(gate, settings)
        return cls(database, sessions, gate, keeper, Acquisitions(gate, keeper, settings))

    def close(self) -> None:
        """Let go of what is queued and not begun, and of the connections."""
        try:
            self.sessions.release_queued()
        finally:
            self.keeper.close()
            self.gate.close()
            self.database.close()


def _say_how_it_runs(settings: Settings, gate: Gate) -> None:
    if settings.disable_locks:
        log.warning("gate.off", note="DISABLE_LOCKS is set: nothing keeps two visitors off one domain")
    elif not gate.shared:
        log.info("gate.local", note="locks do not reach other machines; REDIS_URL makes them")
    if settings.egress_allow:
        log.warning("egress.allowed", hosts=",".join(settings.egress_allow))
