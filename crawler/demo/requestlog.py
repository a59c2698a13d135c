"""The demo's memory of its visitors: who asked for what, when, and how many asked at once."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING

from attrs import evolve, frozen

if TYPE_CHECKING:
    from crawler.demo.wire import Request

# Enough for any test; a long benchmark forgets its oldest requests.
MAX_ENTRIES = 200_000


@frozen
class Seen:
    """One request that was answered, or left before it was."""

    at: float  # when its head had been read, on the monotonic clock
    ended: float  # when the answer was ready to go out, or the client gone
    method: str
    host: str  # the Host header, with its port
    shop: str  # empty where no shop answers
    path: str  # with its query, as it was asked
    status: int  # 0 where the client went away or the connection was reset
    user_agent: str
    concurrent: int  # requests to this host under way when it came, itself included


class RequestLog:
    """All requests, in the order in which they ended. Any thread may read it."""

    def __init__(self) -> None:
        self._seen: deque[Seen] = deque(maxlen=MAX_ENTRIES)
        self._under_way: Counter[str] = Counter()
        self._cleared_at = -math.inf
        self._lock = Lock()

    def arrived(self, request: Request, shop: str) -> Seen:
        """Note that a request has come."""
        domain = _domain(request.host)
        with self._lock:
            self._under_way[domain] += 1
            return Seen(
                at=time.monotonic(),
                ended=math.inf,
                method=request.method,
                host=request.host,
                shop=shop,
                path=request.target,
                status=0,
                user_agent=request.headers.get("user-agent", ""),
                concurrent=self._under_way[domain],
            )

    def left(self, arrival: Seen, status: int) -> None:
        """Note that a request is over."""
        seen = evolve(arrival, ended=time.monotonic(), status=status)
        with self._lock:
            self._under_way[_domain(seen.host)] -= 1
            if seen.at > self._cleared_at:
                self._seen.append(seen)

    def entries(self, shop: str = "") -> list[Seen]:
        """What was seen, of one shop or of all, in the order of arrival."""
        with self._lock:
            seen = [entry for entry in self._seen if not shop or entry.shop == shop]
        return sorted(seen, key=lambda entry: entry.at)

    def gaps(self, shop: str) -> list[float]:
        """Seconds between the end of each request to `shop` and the arrival of the next."""
        return [later.at - earlier.ended for earlier, later in pairwise(self.entries(shop))]

    def peak(self, shop: str) -> int:
        """The most requests to one host of `shop` that were ever under way at once."""
        return max((entry.concurrent for entry in self.entries(shop)), default=0)

    def clear(self) -> None:
        """Forget all requests that have arrived; those still under way count as concurrent until they end."""
        with self._lock:
            self._cleared_at = time.monotonic()
            self._seen.clear()


def _domain(host: str) -> str:
    """The domain that a polite visitor of this host would lock."""
    return host.removeprefix("www.")
