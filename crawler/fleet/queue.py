"""The fleet's list in Redis: what is to be visited, fed from anywhere, shared by all workers.

An entry is moved, never popped: from the shared list into the taker's own, in one step, and it leaves
that one when its session is in the database. A worker that died in between left its list behind; the
next worker that looks takes it over. Whose time is over is judged on Redis's clock. A call whose answer
got lost may be sent again: it finds in the own list what it has moved there the first time.
"""

from __future__ import annotations

import json
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from attrs import frozen
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from crawler.errors import CrawlerError
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.commands.core import Script


_CLOCK = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""

# KEYS shared, own, workers, count · ARGV worker, silence, room, nonce → the own list, as far as there is room
# scrapy-redis has feeders use a list, a set or a sorted set; which one it is shows by itself. An entry
# gets an id in front: the count may begin anew where Redis forgets, the nonce of the call does not.
FILL = (
    _CLOCK
    + """
local room = tonumber(ARGV[3])
redis.call('ZADD', KEYS[3], string.format('%.0f', now + ARGV[2]), ARGV[1])
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

# KEYS workers · ARGV worker, silence
BEAT = (
    _CLOCK
    + """
return redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
"""
)

# KEYS workers → those that count as dead
SILENT = (
    _CLOCK
    + """
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now))
"""
)

# KEYS workers, the dead one's list, own · ARGV the dead one, worker, silence
# → entries taken over, or -1 if it is not dead; who takes lives, so that nobody takes over from itself
TAKE_OVER = (
    _CLOCK
    + """
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]), ARGV[2])
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not ends or tonumber(ends) >= now then return -1 end
local left = redis.call('LRANGE', KEYS[2], 0, -1)
for _, entry in ipairs(left) do redis.call('RPUSH', KEYS[3], entry) end
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])
return #left
"""
)

# KEYS workers → all of them
WORKERS = """
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""

# KEYS shared, lists → how many entries lie in them
WAITING = """
local function size(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'set' then return redis.call('SCARD', key) end
  if kind == 'zset' then return redis.call('ZCARD', key) end
  return redis.call('LLEN', key)
end
local waiting = 0
for _, key in ipairs(KEYS) do waiting = waiting + size(key) end
return waiting
"""

# KEYS workers, own · ARGV worker
LEAVE = """
if redis.call('LLEN', KEYS[2]) == 0 then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return redis.call('ZADD', KEYS[1], 0, ARGV[1])
"""


# ── the fleet's list in Redis: what is to be visited, fed from anywhere, shared by all workers ──


CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
RETRIES = 1
RETRY_PAUSE_SECONDS = 0.1
REFUSED_KEPT = 1000
SHOWN_CHARS = 2000


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


class FleetList:
    """The shared list as one worker sees it. All of it blocks: call it in a thread, one call at a time."""

    def __init__(self, url: str, key: str, worker: str, *, silent_ms: int) -> None:
        """Prepare the connection; a worker that is silent for `silent_ms` is taken for dead by others."""
        self.redis = connect(url)
        self.key = key
        self.worker = worker
        self._silent_ms = silent_ms
        self._workers = f"{key}:workers"
        self._own = self._list_of(worker)
        self._scripts: dict[str, Script] = {}

    def fill(self, room: int) -> list[Taken]:
        """Move entries over until `room` of them lie in this worker's list, and tell which do."""
        found = self._run(
            FILL,
            [self.key, self._own, self._workers, f"{self.key}:count"],
            self.worker, self._silent_ms, room, token_hex(6),
        )  # fmt: skip
        return [Taken(wrapped) for wrapped in found]

    def done(self, entries: Sequence[Taken]) -> None:
        """Forget entries that have a session now."""
        if entries:
            self._run(DONE, [self._own], *(entry.wrapped for entry in entries))

    def refuse(self, entry: Taken, reason: str) -> None:
        """Put an entry that cannot be worked to the refused ones, of which the last are kept."""
        shown = {"entry": shown_entry(entry.data), "error": redacted(reason)}
        told = json.dumps(shown, ensure_ascii=False)
        keys = [self._own, f"{self.key}:refused"]
        self._run(REFUSE, keys, entry.wrapped, told, REFUSED_KEPT)

    def beat(self) -> None:
        """Say that this worker lives."""
        self._run(BEAT, [self._workers], self.worker, self._silent_ms)

    def take_over(self) -> dict[str, int]:
        """Take over the lists of workers that are silent for too long: how many entries each had left."""
        dead = [name.decode() for name in self._run(SILENT, [self._workers])]
        return {name: left for name in dead if (left := self._take_over_from(name)) is not None}

    def waiting(self) -> int:
        """How many entries lie in the shared list, and in the lists of workers that may be dead."""
        workers = [name.decode() for name in self._run(WORKERS, [self._workers])]
        lists = [self._list_of(name) for name in workers]
        return int(self._run(WAITING, [self.key, *lists]))

    def leave(self) -> None:
        """Go; what this worker has taken and not done is at once another's to take over."""
        self._run(LEAVE, [self._workers, self._own], self.worker)

    def close(self) -> None:
        """Close the connection."""
        self.redis.close()

    def _take_over_from(self, name: str) -> int | None:
        """How many entries a dead worker left; None if it lives after all, or another one was quicker."""
        keys = [self._workers, self._list_of(name), self._own]
        moved = int(self._run(TAKE_OVER, keys, name, self.worker, self._silent_ms))
        return moved if moved >= 0 else None

    def _list_of(self, worker: str) -> str:
        return f"{self.key}:taken:{worker}"

    def _run(self, script: str, keys: list[str], *args: str | int | bytes) -> Any:
        registered = self._scripts.setdefault(script, self.redis.register_script(script))
        try:
            return registered(keys=keys, args=args)
        except RedisError as error:
            raise _unavailable(self.redis, error) from error


def connect(url: str) -> Redis:
    """A client that gives up within seconds, and whose answers are bytes: entries may be anything."""
    return Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(ConstantBackoff(RETRY_PAUSE_SECONDS), RETRIES),
    )


def shown_entry(data: bytes) -> str:
    """An entry as it may be logged and stored: text, not too long, without passwords."""
    text = redacted(data[: 4 * SHOWN_CHARS].decode("utf-8", "backslashreplace"))
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"


def _unavailable(client: Redis, error: RedisError) -> FleetUnavailableError:
    where = client.connection_pool.connection_kwargs
    at = where.get("path") or f"{where.get('host')}:{where.get('port', 6379)}"
    return FleetUnavailableError(
        f"Redis at {at} does not serve: {redacted(str(error)) or type(error).__name__}",
        hint="check REDIS_URL, and that the server runs; `vitrine doctor` looks at both",
    )
