"""The fleet's queue in Redis: what is to be visited, fed from anywhere, shared by all workers.

An entry is moved, never popped: from the shared list into the taker's own, in one step, and it leaves
that one when its session is in the database. A worker that died in between left its list behind; the
next worker that shows that it lives takes it over. Whose time is over is judged on Redis's clock. A call
whose answer got lost may be sent again: it finds in the own list what it has moved there the first time.
"""

from __future__ import annotations

import json
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from attrs import frozen
from redis.exceptions import RedisError

from crawler.access.redis_client import HINT, connect, refusal
from crawler.errors import CrawlerError
from crawler.fleet.entries import shown_entry
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis
    from redis.commands.core import Script

# Has a worker count as living until `silence` milliseconds from now.
LIVE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function live(workers, worker, silence)
  redis.call('ZADD', workers, string.format('%.0f', now + silence), worker)
end
"""

# KEYS shared, own, workers, count · ARGV worker, silence, room, nonce → the own list, as far as there is room
# scrapy-redis has feeders use a list, a set or a sorted set; which one it is shows by itself. An entry
# gets an id in front: the count may begin anew where Redis forgets, the nonce of the call does not.
FILL = (
    LIVE
    + """
local room = tonumber(ARGV[3])
live(KEYS[3], ARGV[1], ARGV[2])
local kind = redis.call('TYPE', KEYS[1]).ok
local function taken()
  if kind == 'set' then return redis.call('SPOP', KEYS[1]) end
  if kind == 'zset' then return redis.call('ZPOPMAX', KEYS[1])[1] end
  return redis.call('LPOP', KEYS[1])
end
for _ = redis.call('LLEN', KEYS[2]) + 1, room do
  local data = taken()
  if not data then break end
  local id = ARGV[4] .. '-' .. string.format('%.0f', redis.call('INCR', KEYS[4]))
  redis.call('RPUSH', KEYS[2], id .. ' ' .. data)
end
return redis.call('LRANGE', KEYS[2], 0, room - 1)
"""
)

# KEYS own · ARGV entries
DONE = """
for _, entry in ipairs(ARGV) do redis.call('LREM', KEYS[1], 1, entry) end
"""

# KEYS own, refused · ARGV entry, what is kept of it, how many are kept
REFUSE = """
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('LPUSH', KEYS[2], ARGV[2])
redis.call('LTRIM', KEYS[2], 0, ARGV[3] - 1)
return 1
"""

# Sends a worker's heartbeat, hands the entries of silent workers to `give`, and forgets these workers
# → the silent workers, and how many entries each of them had
# A worker that sends a heartbeat is alive, so that it never takes over from itself.
TAKE_OVER = (
    LIVE
    + """
local function take_over(workers, worker, silence, lists, give)
  live(workers, worker, silence)
  local found = {}
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', workers, '-inf', '(' .. string.format('%.0f', now))) do
    local left = redis.call('LRANGE', lists .. name, 0, -1)
    for _, entry in ipairs(left) do give(entry) end
    redis.call('DEL', lists .. name)
    redis.call('ZREM', workers, name)
    found[#found + 1] = name
    found[#found + 1] = #left
  end
  return found
end
"""
)

# KEYS workers, own · ARGV worker, silence, what a worker's list begins with
BEAT = (
    TAKE_OVER
    + """
local function give(entry) redis.call('RPUSH', KEYS[2], entry) end
return take_over(KEYS[1], ARGV[1], ARGV[2], ARGV[3], give)
"""
)

# KEYS shared, workers · ARGV what a worker's list begins with → how many entries lie in all of them
WAITING = """
local function size(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'set' then return redis.call('SCARD', key) end
  if kind == 'zset' then return redis.call('ZCARD', key) end
  return redis.call('LLEN', key)
end
local waiting = size(KEYS[1])
for _, name in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do waiting = waiting + size(ARGV[1] .. name) end
return waiting
"""

# KEYS workers, own · ARGV worker
LEAVE = """
if redis.call('LLEN', KEYS[2]) == 0 then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return redis.call('ZADD', KEYS[1], 0, ARGV[1])
"""


# ── the queue as one worker sees it ──


REFUSED_KEPT = 1000


class FleetUnavailableError(CrawlerError):
    """The Redis of the fleet does not answer."""

    code = "fleet_unavailable"


@frozen
class Taken:
    """An entry in a worker's own list."""

    wrapped: bytes  # as it lies there

    @property
    def id(self) -> str:
        """What tells this entry from every other, equal ones included; it is given once."""
        return self.wrapped.partition(b" ")[0].decode("ascii")

    @property
    def data(self) -> bytes:
        """What was fed."""
        return self.wrapped.partition(b" ")[2]


class FleetQueue:
    """The shared list, and this worker's own. All of it blocks: call it in a thread."""

    def __init__(self, redis: str | Redis, key: str, worker: str, *, silent_ms: int) -> None:
        """Take a client, or the URL of one; others take a worker for dead that is silent for `silent_ms`."""
        self.key = key
        self.worker = worker
        self._silent_ms = silent_ms
        # Its answers are bytes: entries may be anything.
        self._redis = connect(redis) if isinstance(redis, str) else redis
        self._workers = f"{key}:workers"
        self._lists = f"{key}:taken:"  # what each worker's list begins with
        self._own = self._lists + worker
        self._scripts: dict[str, Script] = {}

    def fill(self, room: int) -> list[Taken]:
        """Move entries over until `room` of them lie in this worker's list, and tell which do."""
        keys = [self.key, self._own, self._workers, f"{self.key}:count"]
        found = self._run(FILL, keys, self.worker, self._silent_ms, room, token_hex(6))
        return [Taken(wrapped) for wrapped in found]

    def done(self, entries: Sequence[Taken]) -> None:
        """Forget entries that have a session now."""
        if entries:
            self._run(DONE, [self._own], *(entry.wrapped for entry in entries))

    def refuse(self, entry: Taken, reason: str) -> None:
        """Put an entry that cannot be worked to the refused ones, of which the last are kept."""
        shown = {"entry": shown_entry(entry.data), "error": redacted(reason)}
        told = json.dumps(shown, ensure_ascii=False)
        self._run(REFUSE, [self._own, f"{self.key}:refused"], entry.wrapped, told, REFUSED_KEPT)

    def beat(self) -> dict[str, int]:
        """Say that this worker lives, and take over from the dead: how many entries each of them had left."""
        answer = self._run(BEAT, [self._workers, self._own], self.worker, self._silent_ms, self._lists)
        return {name.decode(): left for name, left in zip(answer[::2], answer[1::2], strict=True)}

    def waiting(self) -> int:
        """How many entries lie in the shared list, and in the lists of workers that may be dead."""
        return int(self._run(WAITING, [self.key, self._workers], self._lists))

    def leave(self) -> None:
        """Go; what this worker has taken and not done is at once another's to take over."""
        self._run(LEAVE, [self._workers, self._own], self.worker)

    def close(self) -> None:
        """Close the connection."""
        self._redis.close()

    def _run(self, script: str, keys: list[str], *args: str | int | bytes) -> Any:
        registered = self._scripts.setdefault(script, self._redis.register_script(script))
        try:
            return registered(keys=keys, args=args)
        except RedisError as error:
            raise FleetUnavailableError(refusal(self._redis, error), hint=HINT) from error
