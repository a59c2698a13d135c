"""A process that visits domains, for tests that stop or kill it: `python -m … '{"task": …}'`.

It prints a JSON object a line, with times of the machine's monotonic clock.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from crawler.access.acquisition import DomainAcquisition, DomainLockTimeoutError, Wait, Waiter
from crawler.access.gate import Held
from crawler.config import load_settings
from tests.integration.gate.stores import OpenStores, times

if TYPE_CHECKING:
    from crawler.capture.failures import Cause

DOMAIN = "shop.example"


def say(**fields: Any) -> None:
    """Tell the test."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def hold(stores: OpenStores, order: dict[str, Any]) -> None:
    """Take the lock, and keep it until the end of this process."""
    gate = stores.gate(order["store"], times(order["ttl_ms"]))
    held = gate.acquire(DOMAIN, "holder")
    if not isinstance(held, Held):
        raise TypeError("the domain is held")
    stores.renewer(gate, order["ttl_ms"], _on_lost).keep([held])
    say(event="held", token=held.token)
    sys.stdin.read()


def visit(stores: OpenStores, order: dict[str, Any]) -> None:
    """One session after the other, each by the way in."""
    gate = stores.gate(order["store"], times(30_000, order["min_delay_ms"]))
    settings = load_settings({"domain_queue_wait_seconds": order["queue_wait_seconds"]})
    acquisitions = stores.acquisitions(gate, settings)
    for session_id in order["sessions"]:
        acquisition = DomainAcquisition(acquisitions, Waiter(session_id, DOMAIN, Told(), _on_lost))
        try:
            while isinstance(step := acquisition.advance(), Wait):
                time.sleep(step.milliseconds / 1000)
        except DomainLockTimeoutError:
            continue
        start = time.monotonic()
        say(event="begun", start=start, wall=time.time())
        time.sleep(order["seconds"])
        say(event="visited", session=session_id, start=start, end=time.monotonic())
        acquisition.leave()


class Told:
    """Tells the test each event of a lock."""

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Tell what happened."""
        say(event=message, **details)

    warn = error = info


def _on_lost(held: Held, why: Cause) -> None:
    say(event="lost", why=why.value)


TASKS = {"hold": hold, "visit": visit}


def main() -> None:
    """Do what the order says."""
    order = json.loads(sys.argv[1])
    with OpenStores() as stores:
        TASKS[order["task"]](stores, order)


if __name__ == "__main__":
    main()
