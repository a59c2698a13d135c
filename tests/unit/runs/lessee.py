"""A process that leases and finishes tasks: `python -m … URL RUN_ID OWNER SECONDS BATCH`.

It begins when it is told to on stdin, and ends by printing every right that it was given.
"""

from __future__ import annotations

import json
import sys
import time

from crawler.clock import utc_now
from crawler.db.engine import Database
from crawler.db.models import Task
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import tasks
from tests.unit.runs.queues import DOMAIN


def main() -> None:
    """Work until the time is over, or nothing is left."""
    url, run_id, owner, seconds, batch = sys.argv[1:]
    database = Database(url)
    leases = Leases(Task, LeaseRules(), ahead=True)
    with database.read() as db:  # connected before it counts
        tasks.is_drained(db, int(run_id))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    until = time.monotonic() + float(seconds)
    rights = []
    while time.monotonic() < until:
        with database.write() as db:
            taken, _ = tasks.lease(
                db, leases, int(run_id), DOMAIN, owner=owner, now=utc_now(), limit=int(batch)
            )
        rights += [(task.lease.id, task.lease.epoch) for task in taken]
        with database.write() as db:
            assert all(leases.finish(db, task.lease, utc_now()) for task in taken)
        if not taken:
            break
    sys.stdout.write(json.dumps(rights))
    database.close()


if __name__ == "__main__":
    main()
