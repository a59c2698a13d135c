"""A process that visits domains, for tests that stop or kill it: `python -m … '{"task": …}'`.

It prints a JSON object a line, with times of the machine's monotonic clock.
"""

from __future__ import annotations

import json
import sys
import time
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawler.access.acquisition import DomainAcquisition, DomainLockTimeoutError, Wait, Waiter
from crawler.access.gate import Held
from crawler.config import load_settings
from tests.integration.gate.stores import OpenStores, times

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

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
    if order.get("is_told_to_begin"):
        say(event="ready")
        sys.stdin.readline()
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


def write(stores: OpenStores, order: dict[str, Any]) -> None:
    """Hold, take the register over, write to it on and on without asking whether the lock lasts.

    That goes on until the test has no more to say.
    """
    gate = stores.gate(order["store"], times(order["ttl_ms"]))
    renewer = stores.renewer(gate, order["ttl_ms"])
    database = stores.database(order["register"])
    counts = {"accepted": 0, "refused": 0, "holds": 0}
    over = Event()
    Thread(target=_when_told, args=(over,), daemon=True).start()
    say(event="ready")
    while not over.is_set():
        held = gate.acquire(DOMAIN, "writer")
        if not isinstance(held, Held):
            time.sleep(0.005)
            continue
        renewer.keep([held])
        with database.write() as session:
            epoch = take_over(session, held.token)
        counts["holds"] += 1
        for _ in range(order["writes"]):
            time.sleep(0.005)
            with database.write() as session:
                counts["accepted" if fenced_write(session, held.token, epoch) else "refused"] += 1
        renewer.forget([held])
        gate.release(held)
    say(event="done", **counts)


def _when_told(over: Event) -> None:
    sys.stdin.read()
    over.set()


def take_over(session: Session, owner: str) -> int:
    """Become the register's owner, in a new epoch."""
    epoch: int = session.execute(
        text("UPDATE register SET owner = :owner, epoch = epoch + 1 RETURNING epoch"), {"owner": owner}
    ).scalar_one()
    return epoch


def fenced_write(session: Session, owner: str, epoch: int) -> bool:
    """Write only as the owner of the present epoch, as a session's store does."""
    mine = session.execute(
        text("UPDATE register SET owner = owner WHERE owner = :owner AND epoch = :epoch RETURNING epoch"),
        {"owner": owner, "epoch": epoch},
    ).first()
    if mine is None:
        return False
    session.execute(
        text("INSERT INTO writes (owner, epoch) VALUES (:owner, :epoch)"), {"owner": owner, "epoch": epoch}
    )
    return True


class Told:
    """Tells the test each event of a lock."""

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Tell what happened."""
        say(event=message, **details)

    warn = error = info


def _on_lost(held: Held, why: Cause) -> None:
    say(event="lost", why=why.value)


TASKS = {"hold": hold, "visit": visit, "write": write}


def main() -> None:
    """Do what the order says."""
    order = json.loads(sys.argv[1])
    with OpenStores() as stores:
        TASKS[order["task"]](stores, order)


if __name__ == "__main__":
    main()
