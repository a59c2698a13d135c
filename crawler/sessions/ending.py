"""The end of a visit, as a thread writes it: first its result, then its domains, then its log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from crawler import logs
from crawler.access.gate import GateUnavailableError
from crawler.sessions.store import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.access.gate import Gate
    from crawler.sessions.stores import Stores
    from crawler.sessions.visit import Visit

T = TypeVar("T")
# How long to try to write the end of a session, while the store does not take it.
END_TRIES_SECONDS = (0.5, 1, 2, 4, 8)

log = logs.get_logger(__name__)


def end_visit(stores: Stores, visit: Visit, write: Callable[[Visit], T]) -> T:
    """Write the end, let go of the domains, close the log; a log that is another's by now is not touched."""
    try:
        result = _written(visit, write)
    finally:
        for domain, seconds in visit.crawl_delays.items():
            ask_delay(stores.gate, domain, seconds, "Crawl-delay")
        for entry in visit.entries.values():
            entry.leave()
    stores.book.close_log(visit)
    return result


def _written(visit: Visit, write: Callable[[Visit], T]) -> T:
    """An end that cannot be written is tried again: a store that is away for seconds must not cost it."""
    for wait in END_TRIES_SECONDS:
        try:
            return write(visit)
        except StaleSessionError:
            raise
        except Exception:
            log.exception("session.end_delayed", session_id=visit.id, again_in_seconds=wait)
            time.sleep(wait)
    return write(visit)


def ask_delay(gate: Gate, domain: str, seconds: float, reason: str) -> None:
    """A gate that is away is not worth a page."""
    try:
        gate.ask_delay(domain, seconds, reason)
    except GateUnavailableError as error:
        log.warning("delay.not_kept", domain=domain, seconds=seconds, error=str(error))
