"""The domain gate on Redis: locks that every machine sees, decided on Redis's clock."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any

from attrs import field, frozen
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import NoScriptError, RedisError
from redis.retry import Retry

from crawler.access import rules
from crawler.access.gate import MIN_DELAY, Busy, GateEntry, GateTimes, GateUnavailableError, Held, Release
from crawler.access.process import new_token
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Sequence


@frozen
class Script:
    """A Lua script and the name that Redis caches it under."""

    text: str
    sha: str = field(init=False)

    @sha.default
    def _sha(self) -> str:
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()


_CLOCK = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""

# left, reason: what is left of the delays. A value that is no number counts as absent, and an end
# in the future (another machine's clock) as an end just now.
_LEFT = """
local function throttle_left(key, min_delay)
  local value = redis.call('GET', key)
  if not value or not string.find(value, '^%d+$') then return 0 end
  return math.min(math.max(tonumber(value) + min_delay - now, 0), min_delay)
end
"""

# KEYS lock, throttle, delay · ARGV token, lock's time to live, least delay
# → {1, throttle left, delay left, delay's reason} or {0, lock's time left, lock's value}
# A lock that has this very token was taken by the same call, whose answer got lost.
ACQUIRE = Script(
    _CLOCK
    + _LEFT
    + """
local token, ttl, min_delay = ARGV[1], ARGV[2], tonumber(ARGV[3])
local value = redis.call('GET', KEYS[1])
if value and value ~= token then return {0, redis.call('PTTL', KEYS[1]), value} end
redis.call('SET', KEYS[1], token, 'PX', ttl)
local reason = redis.call('GET', KEYS[3]) or ''
return {1, throttle_left(KEYS[2], min_delay), math.max(redis.call('PTTL', KEYS[3]), 0), reason}
"""
)

# KEYS lock · ARGV token, lock's time to live → 1, or 0 when the lock is not ours
EXTEND = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")

# KEYS lock, throttle, receipt · ARGV token, throttle's time to live or 0, receipt's time to live or 0
# → 1 freed, 0 there was no lock, -1 it is somebody else's
# The site was touched either way, so the end is noted either way; rounded up, so that what is left of
# the delay is never a part of a millisecond short. The receipt tells a release whose answer got lost
# and that is sent again from one that came too late.
RELEASE = Script(
    _CLOCK
    + """
local token, throttle_ttl, receipt_ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if receipt_ttl > 0 and redis.call('GET', KEYS[3]) == token then return 1 end
if throttle_ttl > 0 then
  redis.call('SET', KEYS[2], string.format('%.0f', now + 1), 'PX', throttle_ttl)
end
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
if value ~= token then return -1 end
redis.call('DEL', KEYS[1])
if receipt_ttl > 0 then redis.call('SET', KEYS[3], token, 'PX', receipt_ttl) end
return 1
"""
)

# KEYS delay · ARGV delay, reason → whether it became the delay; a longer one stays
DELAY = Script("""
if redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return 1
""")

# KEYS lock, throttle, delay · ARGV least delay
# → {lock's value, lock's time left, throttle left, delay left, delay's reason}
LOOK = Script(
    _CLOCK
    + _LEFT
    + """
return {
  redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1]),
  throttle_left(KEYS[2], tonumber(ARGV[1])),
  math.max(redis.call('PTTL', KEYS[3]), 0), redis.call('GET', KEYS[3]) or '',
}
"""
)


# ── the domain gate on Redis: locks that every machine sees, decided on Redis's clock ──


CONNECT_SECONDS = 1.0
# An answer that takes longer than a part of the lock's life comes too late to be of use.
ANSWER_SECONDS = (0.5, 1.5)
RETRIES = 1
RETRY_PAUSE_SECONDS = 0.05
THROTTLE_SLACK_MS = 1000
RECEIPT_KEY_PREFIX = "released:domain:"
RECEIPT_MS = 30_000
SCAN_COUNT = 1000
_OUTCOMES = {1: Release.RELEASED, 0: Release.EXPIRED, -1: Release.FOREIGN}


class RedisGate:
    """One script a call, one round trip a script; a call that redis-py sends twice counts once."""

    shared = True

    def __init__(self, url: str, times: GateTimes) -> None:
        """Prepare the connections; none is opened before the first call."""
        self._times = times
        answer_seconds = min(max(times.lock_ttl_ms / 6000, ANSWER_SECONDS[0]), ANSWER_SECONDS[1])
        self._redis: Redis = Redis.from_url(
            url,
            decode_responses=True,
            encoding_errors="replace",  # another system's lock may hold any bytes
            socket_connect_timeout=min(CONNECT_SECONDS, answer_seconds),
            socket_timeout=answer_seconds,
            retry=Retry(ConstantBackoff(RETRY_PAUSE_SECONDS), RETRIES),
        )

    def acquire(self, domain: str, session_id: str, token: str = "") -> Held | Busy:
        """Take the lock if it is free, or if it has our token already."""
        token = token or new_token(session_id)
        keys = [rules.lock_key(domain), rules.throttle_key(domain), rules.delay_key(domain)]
        got, *rest = self._run(ACQUIRE, keys, token, self._times.lock_ttl_ms, self._times.min_delay_ms)
        if not got:
            return Busy(domain, value=rest[1], expires_in_ms=rest[0])
        throttle_left, delay_left, reason = rest
        if delay_left > throttle_left:
            return Held(domain, session_id, token, delay_left, reason)
        return Held(domain, session_id, token, throttle_left, MIN_DELAY)

    def extend(self, held: Held) -> bool:
        """Give the lock its full time again, if it still has our token."""
        keys = [rules.lock_key(held.domain)]
        return bool(self._run(EXTEND, keys, held.token, self._times.lock_ttl_ms))

    def release(self, held: Held) -> Release:
        """Free the lock if it has our token, and stamp the throttle key."""
        return _OUTCOMES[self._free(held.domain, held.token, RECEIPT_MS)]

    def throttle_left_ms(self, domain: str) -> int:
        """What is left of the longer of the delays."""
        entry = self.entry(domain)
        return max(entry.throttled_for_ms, entry.delayed_for_ms)

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Keep the longer of the delay that stands and this one."""
        delay_ms = self._times.bounded(seconds)
        if delay_ms:
            self._run(DELAY, [rules.delay_key(domain)], delay_ms, reason)

    def entries(self) -> Sequence[GateEntry]:
        """Look at every domain that has a lock, an end or a delay."""
        found = (self.entry(domain) for domain in sorted(self._domains()))
        return [entry for entry in found if entry.is_of_interest]

    def entry(self, domain: str) -> GateEntry:
        """What the keys of one domain say."""
        keys = [rules.lock_key(domain), rules.throttle_key(domain), rules.delay_key(domain)]
        value, expires_in, throttled, delayed, reason = self._run(LOOK, keys, self._times.min_delay_ms)
        return GateEntry(
            domain,
            value=value or None,
            expires_in_ms=expires_in if value else 0,
            throttled_for_ms=throttled,
            delayed_for_ms=delayed,
            delay_reason=reason or None,
        )

    def break_lock(self, domain: str, value: str) -> bool:
        """Free the lock without a receipt, so that its holder's own release finds it gone."""
        return self._free(domain, value, 0) == 1

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _free(self, domain: str, token: str, receipt_ms: int) -> int:
        keys = [rules.lock_key(domain), rules.throttle_key(domain), RECEIPT_KEY_PREFIX + domain]
        answer: int = self._run(RELEASE, keys, token, self._throttle_ttl_ms(), receipt_ms)
        return answer

    def _throttle_ttl_ms(self) -> int:
        # A throttle key that is forgotten before the delay is over would be no throttle.
        least = self._times.min_delay_ms + THROTTLE_SLACK_MS
        return max(self._times.throttle_ttl_ms, least) if self._times.stamps else 0

    def _domains(self) -> set[str]:
        prefixes = (rules.LOCK_KEY_PREFIX, rules.THROTTLE_KEY_PREFIX, rules.DELAY_KEY_PREFIX)
        try:
            return {
                key.removeprefix(prefix)
                for prefix in prefixes
                for key in self._redis.scan_iter(match=f"{prefix}*", count=SCAN_COUNT)
            }
        except RedisError as error:
            raise self._unavailable(error) from error

    def _run(self, script: Script, keys: list[str], *args: str | int) -> Any:
        try:
            try:
                return self._redis.evalsha(script.sha, len(keys), *keys, *args)
            except NoScriptError:
                return self._redis.eval(script.text, len(keys), *keys, *args)
        except RedisError as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: RedisError) -> GateUnavailableError:
        where = self._redis.connection_pool.connection_kwargs
        at = where.get("path") or f"{where.get('host')}:{where.get('port', 6379)}"
        return GateUnavailableError(
            f"Redis at {at} does not answer: {redacted(str(error)) or type(error).__name__}",
            hint="check REDIS_URL, and that the server runs; `vitrine doctor` looks at both",
        )
