"""`python -m tests.e2e.fleet_crash POINT MARK SCRAPY-ARGUMENTS…`: Scrapy, in a process that dies at a point.

As kill -9 has it: nothing is cleaned up. It dies where the point is about a URL that has MARK in it.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from enum import Enum
from typing import Any

from scrapy.cmdline import execute

from crawler.crawl import visits
from crawler.crawl.visits import Domains, Visits
from crawler.fleet.queue import FleetQueue
from crawler.sessions.store import SessionStore


class Point(Enum):
    """Where to die: a method, before it does anything or after it has done it all."""

    ENTRY_TAKEN = (FleetQueue, "fill", "after")
    SESSION_WRITTEN = (FleetQueue, "done", "before")
    ENTRY_DONE = (FleetQueue, "done", "after")
    SESSION_BEGUN = (Domains, "belong_to", "before")
    PAGE_KEPT = (Visits, "keep", "after")
    SESSION_ENDS = (SessionStore, "finish", "before")
    SESSION_ENDED = (visits, "_as_told", "before")


def die_at(point: Point, mark: str) -> None:
    """Have the process end there."""
    owner, name, when = point.value
    method = getattr(owner, name)

    def die(*spoken_of: Any) -> None:
        if mark in repr(spoken_of):
            os._exit(9)

    @functools.wraps(method)
    def deadly(self: Any, *args: Any) -> Any:
        if when == "before":
            die(args)
        done = method(self, *args)
        if when == "after":
            die(args, done)
        return done

    @functools.wraps(method)
    async def deadly_to_await(self: Any, *args: Any) -> Any:
        done = await method(self, *args)
        die(args, done)
        return done

    setattr(owner, name, deadly_to_await if inspect.iscoroutinefunction(method) else deadly)


if __name__ == "__main__":
    die_at(Point[sys.argv[1]], sys.argv[2])
    execute(["scrapy", *sys.argv[3:]])
