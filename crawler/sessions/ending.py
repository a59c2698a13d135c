"""The end of a visit: first its result, then its domains, then its log."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen

from crawler import logs
from crawler.access.gate import GateUnavailableError
from crawler.sessions.posting import lines_of
from crawler.sessions.store import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.access.gate import Gate
    from crawler.sessions.ledger import Ledger
    from crawler.sessions.posting import Posting
    from crawler.sessions.stores import Stores
    from crawler.sessions.visit import Visit

T = TypeVar("T")
# How long to try to write the end of a session, while the store does not take it.
END_TRIES_SECONDS = (0.5, 1, 2, 4, 8)

log = logs.get_logger(__name__)


@frozen
class Ending:
    """Ends visits; what blocks is done `in_thread`."""

    stores: Stores
    ledger: Ledger
    in_thread: Callable[..., Awaitable[Any]]

    async def end(self, visit: Visit, end: Posting[T]) -> T:
        """Write the end, let go of the domains, close the log.

        A log that is another's by now is not touched.
        """
        try:
            result = await self._written(visit, end)
        finally:
            await self.in_thread(_let_go, self.stores.gate, visit)
        await self._close_log(visit)
        return result

    async def _written(self, visit: Visit, end: Posting[T]) -> T:
        """An end that cannot be written is tried again: a store that is away for seconds must not cost it."""
        for wait in END_TRIES_SECONDS:
            try:
                return await self.ledger.post(end)
            except StaleSessionError:
                raise
            except Exception:
                log.exception("session.end_delayed", session_id=visit.id, again_in_seconds=wait)
                await asyncio.sleep(wait)
        return await self.ledger.post(end)

    async def _close_log(self, visit: Visit) -> None:
        """A log that cannot be exported is in the database all the same (SPEC F145)."""
        try:
            close: Posting[None] = await self.in_thread(self.stores.book.close_log, visit)
            await self.ledger.post(close)
        except Exception as error:
            log.exception("session.log_export_failed", session_id=visit.id, error=str(error))
            await self.ledger.post(lines_of(visit.journal))


def _let_go(gate: Gate, visit: Visit) -> None:
    for domain, seconds in visit.crawl_delays.items():
        ask_delay(gate, domain, seconds, "Crawl-delay")
    for entry in visit.entries.values():
        entry.leave()


def ask_delay(gate: Gate, domain: str, seconds: float, reason: str) -> None:
    """A gate that is away is not worth a page."""
    try:
        gate.ask_delay(domain, seconds, reason)
    except GateUnavailableError as error:
        log.warning("delay.not_kept", domain=domain, seconds=seconds, error=str(error))
