"""The requests of a scrapy-redis queue: taken by one worker, and removed when their callbacks are over.

scrapy-redis pops a request, and a worker that is killed loses what it has popped. Here each worker has a list
of what it has taken; another worker puts the entries of a silent one back into the queue.
"""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen
from redis.exceptions import RedisError

from crawler.fleet.queue import DONE, LIVE, REFUSE, REFUSED_KEPT, TAKE_OVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis import Redis
    from redis.commands.core import Script

# KINDS of scrapy-redis' queues, and the ends at which they take: the lowest score, the right, the left.
# An entry in a worker's list is the nonce of the call that took it, its score, and the request.
_PUT = """
local function put(queue, kind, entry, behind)
  local score, data = string.match(entry, '^%S+ (%S+) (.*)$')
  if kind == 'priority' then
    redis.call('ZADD', queue, score + behind, data)
  elseif (kind == 'fifo') == (behind == 1) then
    redis.call('LPUSH', queue, data)
  else
    redis.call('RPUSH', queue, data)
  end
end
"""
# KEYS queue, own, workers · ARGV kind, nonce, worker, silence → the entry
# A call whose answer got lost is sent again, and finds what it has taken the first time.
_TAKE = (
    LIVE
    + """
live(KEYS[3], ARGV[3], ARGV[4])
local last = redis.call('LINDEX', KEYS[2], -1)
if last and string.sub(last, 1, #ARGV[2]) == ARGV[2] then return last end
local data, score = nil, '0'
if ARGV[1] == 'priority' then
  local found = redis.call('ZPOPMIN', KEYS[1])
  data, score = found[1], found[2]
elseif ARGV[1] == 'fifo' then
  data = redis.call('RPOP', KEYS[1])
else
  data = redis.call('LPOP', KEYS[1])
end
if not data then return false end
local entry = ARGV[2] .. ' ' .. score .. ' ' .. data
redis.call('RPUSH', KEYS[2], entry)
return entry
"""
)
# KEYS queue, own · ARGV kind, entry
_PUT_BACK = (
    _PUT + "if redis.call('LREM', KEYS[2], -1, ARGV[2]) == 1 then put(KEYS[1], ARGV[1], ARGV[2], 1) end"
)
# KEYS queue, workers · ARGV kind, worker, silence, what a worker's list begins with
_BEAT = (
    TAKE_OVER
    + _PUT
    + """
local function give(entry) put(KEYS[1], ARGV[1], entry, 0) end
return take_over(KEYS[2], ARGV[2], ARGV[3], ARGV[4], give)
"""
)
# KEYS queue, own, workers · ARGV kind, worker
_LEAVE = (
    _PUT
    + """
for _, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do put(KEYS[1], ARGV[1], entry, 0) end
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[2])
"""
)


@frozen
class TakenRequest:
    """An entry in a worker's own list."""

    entry: bytes

    @property
    def data(self) -> bytes:
        """The request, as scrapy-redis has stored it."""
        return self.entry.split(b" ", 2)[2]


class SharedRequests:
    """A queue of requests that several workers share. All of it blocks, as scrapy-redis does."""

    away: ClassVar[type[Exception]] = RedisError  # what its calls raise while Redis is away

    def __init__(self, redis: Redis, key: str, kind: str, worker: str, *, silent_ms: int) -> None:
        """Take the client of scrapy-redis; a worker that is silent for `silent_ms` counts as dead."""
        self.key = key
        self._kind = kind
        self._worker = worker
        self._silent_ms = silent_ms
        self._redis = redis
        self._workers = f"{key}:workers"
        self._lists = f"{key}:taken:"
        self._own = self._lists + worker
        self._scripts: dict[str, Script] = {}

    def take(self) -> TakenRequest | None:
        """Move the next request into this worker's list."""
        nonce = token_hex(8)
        keys = [self.key, self._own, self._workers]
        entry = self._run(_TAKE, keys, self._kind, nonce, self._worker, self._silent_ms)
        return TakenRequest(entry) if entry else None

    def done(self, taken: Iterable[TakenRequest]) -> None:
        """Forget requests whose callbacks are over."""
        if entries := [each.entry for each in taken]:
            self._run(DONE, [self._own], *entries)

    def put_back(self, taken: TakenRequest) -> None:
        """Give a request back to all workers, behind all others."""
        self._run(_PUT_BACK, [self.key, self._own], self._kind, taken.entry)

    def refuse(self, taken: TakenRequest) -> None:
        """Put aside what cannot be read; the last thousand are kept."""
        self._run(REFUSE, [self._own, f"{self.key}:refused"], taken.entry, taken.entry, REFUSED_KEPT)

    def beat(self) -> dict[str, int]:
        """Send a heartbeat, and put the requests of dead workers back; return how many each of them had."""
        arguments = (self._kind, self._worker, self._silent_ms, self._lists)
        answer = self._run(_BEAT, [self.key, self._workers], *arguments)
        return {name.decode(): left for name, left in zip(answer[::2], answer[1::2], strict=True)}

    def leave(self) -> None:
        """Put everything back that this worker has taken and not done."""
        self._run(_LEAVE, [self.key, self._own, self._workers], self._kind, self._worker)

    def _run(self, script: str, keys: list[str], *args: str | int | bytes) -> Any:
        registered = self._scripts.setdefault(script, self._redis.register_script(script))
        return registered(keys=keys, args=args)
