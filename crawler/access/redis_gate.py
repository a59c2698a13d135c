"""The domain gate on Redis: locks that every machine sees, decided on Redis's clock."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any

from attrs import field, frozen
from redis.exceptions import NoScriptError, RedisError

from crawler.access.gate import (
    LOCK_BROKEN,
    MIN_DELAY,
    Busy,
    DomainState,
    GateTimes,
    GateUnavailableError,
    Held,
    Release,
)
from crawler.access.process import is_ours, new_token
from crawler.access.redis_client import HINT, connect, refusal

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

# A stamp that is no number counts as absent. One in the future is a start that is still waited for, or
# another machine's clock: to others a stamp just now, and nobody waits longer for it than any delay lasts.
_STAMP = """
local function stamp_of(key)
  local value = redis.call('GET', key)
  return value and string.find(value, '^%d+$') and tonumber(value) or nil
end
local function throttle_left(stamp, min_delay)
  return stamp and math.min(math.max(stamp + min_delay - now, 0), min_delay) or 0
end
local function starts_in(stamp, longest)
  return stamp and math.min(math.max(stamp - now, 0), longest) or 0
end
local function set_stamp(key, stamp, ttl)
  if ttl <= 0 then return end
  local expires = ttl + math.max(stamp - now, 0)
  redis.call('SET', key, string.format('%.0f', stamp), 'PX', string.format('%.0f', expires))
end
"""

# KEYS lock, throttle, delay · ARGV token, lock's time to live, least delay, longest delay, whether it
# waits, throttle's time to live or 0
# → {1, wait, reason} or {0, wait of its holder, reason, lock's time left, lock's value}
# An empty reason is the least delay's.
# A lock that has this very token was taken by the same call, whose answer got lost.
ACQUIRE = Script(
    _CLOCK
    + _STAMP
    + """
local token, min_delay, longest = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local value, stamp = redis.call('GET', KEYS[1]), stamp_of(KEYS[2])
local delay, reason = math.max(redis.call('PTTL', KEYS[3]), 0), redis.call('GET', KEYS[3]) or ''
if value and value ~= token then
  return {0, starts_in(stamp, longest), reason, redis.call('PTTL', KEYS[1]), value}
end
local wait = value and starts_in(stamp, longest) or throttle_left(stamp, min_delay)
if ARGV[5] == '0' then wait, reason = 0, ''
elseif delay > wait then wait = delay
else reason = '' end
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
set_stamp(KEYS[2], now + wait, tonumber(ARGV[6]))
return {1, wait, reason}
"""
)

# KEYS lock, throttle · ARGV token, lock's time to live, throttle's time to live or 0
# → 1, or 0 when the lock is not ours
# A start that lies in the future stays: its session still waits.
EXTEND = Script(
    _CLOCK
    + _STAMP
    + """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local stamp = stamp_of(KEYS[2])
if not stamp or stamp <= now then set_stamp(KEYS[2], now, tonumber(ARGV[3])) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""
)

# KEYS lock, throttle, receipt · ARGV token, throttle's time to live or 0, receipt's time to live,
# longest delay → 1 freed, 0 there was no lock, -1 it is somebody else's
# The site was touched either way, so the end is noted either way; rounded up, so that what is left of
# the delay is never a part of a millisecond short. The receipt tells a release whose answer got lost
# and that is sent again from one that came too late.
RELEASE = Script(
    _CLOCK
    + _STAMP
    + """
local token, receipt_ttl = ARGV[1], tonumber(ARGV[3])
if redis.call('GET', KEYS[3]) == token then return 1 end
local value = redis.call('GET', KEYS[1])
local is_foreign = value and value ~= token
if not (is_foreign and starts_in(stamp_of(KEYS[2]), tonumber(ARGV[4])) > 0) then
  set_stamp(KEYS[2], now + 1, tonumber(ARGV[2]))
end
if not value then return 0 end
if is_foreign then return -1 end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[3], token, 'PX', receipt_ttl)
return 1
"""
)

# KEYS lock, throttle, delay · ARGV value, throttle's time to live or 0, what a lock has left that is renewed,
# delay after such a one or 0, reason → whether it was freed
BREAK = Script(
    _CLOCK
    + _STAMP
    + """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local delay = redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[3]) and tonumber(ARGV[4]) or 0
redis.call('DEL', KEYS[1])
set_stamp(KEYS[2], now + 1, tonumber(ARGV[2]))
if delay > math.max(redis.call('PTTL', KEYS[3]), 0) then redis.call('SET', KEYS[3], ARGV[5], 'PX', delay) end
return 1
"""
)

# KEYS delay · ARGV delay, reason → whether it became the delay; a longer one stays
DELAY = Script("""
if redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return 1
""")

# KEYS lock, throttle, delay · ARGV least delay, longest delay
# → {lock's value, lock's time left, throttle left or wait of the holder, delay left, delay's reason}
LOOK = Script(
    _CLOCK
    + _STAMP
    + """
local value, stamp = redis.call('GET', KEYS[1]), stamp_of(KEYS[2])
return {
  value or '', redis.call('PTTL', KEYS[1]),
  value and starts_in(stamp, tonumber(ARGV[2])) or throttle_left(stamp, tonumber(ARGV[1])),
  math.max(redis.call('PTTL', KEYS[3]), 0), redis.call('GET', KEYS[3]) or '',
}
"""
)


# ── the domain gate on Redis: locks that every machine sees, decided on Redis's clock ──


# An answer that takes longer than a part of the lock's life comes too late to be of use.
ANSWER_SECONDS = (0.5, 1.5)
THROTTLE_SLACK_MS = 1000
LOCK_KEY_PREFIX = "lock:domain:"
THROTTLE_KEY_PREFIX = "throttle:domain:"
DELAY_KEY_PREFIX = "delay:domain:"
RECEIPT_KEY_PREFIX = "released:domain:"
RECEIPT_MS = 30_000
SCAN_COUNT = 1000
_OUTCOMES = {1: Release.RELEASED, 0: Release.EXPIRED, -1: Release.FOREIGN}


class RedisGate:
    """One script a call, one round trip a script; a call that redis-py sends twice counts once."""

    shared = True

    def __init__(self, url: str, times: GateTimes) -> None:
        """Prepare the connections; none is opened before the first call."""
        self.times = times
        least, most = ANSWER_SECONDS
        self._redis = connect(
            url,
            answer_seconds=min(max(times.lock_ttl_ms / 6000, least), most),
            decode_responses=True,
            encoding_errors="replace",  # another system's lock may hold any bytes
        )
        self._longest_ms = max(times.min_delay_ms, times.max_delay_ms)
        # A throttle key that is forgotten before the delay is over would be no throttle.
        least_ttl = times.min_delay_ms + THROTTLE_SLACK_MS
        self._throttle_ttl_ms = max(times.throttle_ttl_ms, least_ttl) if times.stamps else 0

    def acquire(self, domain: str, session_id: str, token: str = "", *, waits: bool = True) -> Held | Busy:
        """Take the lock if it is free, or if it has our token already."""
        token = token or new_token(session_id)
        got, wait_ms, reason, *holder = self._run(
            ACQUIRE, _keys(domain), token, self.times.lock_ttl_ms, self.times.min_delay_ms,
            self._longest_ms, int(waits), self._throttle_ttl_ms,
        )  # fmt: skip
        if got:
            return Held(domain, session_id, token, wait_ms, reason or MIN_DELAY)
        expires_in_ms, value = holder
        return Busy(domain, value, expires_in_ms, wait_ms, reason or MIN_DELAY)

    def extend(self, held: Held) -> bool:
        """Give the lock its full time again, if it still has our token."""
        lock, throttle, _ = _keys(held.domain)
        ttl = self.times.lock_ttl_ms
        return bool(self._run(EXTEND, [lock, throttle], held.token, ttl, self._throttle_ttl_ms))

    def release(self, held: Held) -> Release:
        """Free the lock if it has our token, and stamp the throttle key."""
        lock, throttle, _ = _keys(held.domain)
        keys = [lock, throttle, RECEIPT_KEY_PREFIX + held.domain]
        answer = self._run(RELEASE, keys, held.token, self._throttle_ttl_ms, RECEIPT_MS, self._longest_ms)
        return _OUTCOMES[answer]

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Keep the longer of the delay that stands and this one."""
        delay_ms = self.times.bounded(seconds)
        if delay_ms:
            self._run(DELAY, [DELAY_KEY_PREFIX + domain], delay_ms, reason)

    def states(self) -> Sequence[DomainState]:
        """Look at every domain that has a lock, an end or a delay."""
        found = (self.state(domain) for domain in sorted(self._domains()))
        return [state for state in found if state.is_of_interest]

    def state(self, domain: str) -> DomainState:
        """What the keys of one domain say."""
        value, expires_in, throttled, delayed, reason = self._run(
            LOOK, _keys(domain), self.times.min_delay_ms, self._longest_ms
        )
        return DomainState(
            domain,
            value=value or None,
            expires_in_ms=expires_in if value else 0,
            throttled_for_ms=throttled,
            delayed_for_ms=delayed,
            delay_reason=reason or None,
        )

    def break_lock(self, domain: str, value: str) -> bool:
        """Free the lock without a receipt, so that its holder's own release finds it gone."""
        heard_ms = self.times.heard_ms if is_ours(value) else 0
        times = (self._throttle_ttl_ms, self.times.renewed_ms, heard_ms)
        return bool(self._run(BREAK, _keys(domain), value, *times, LOCK_BROKEN))

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _domains(self) -> set[str]:
        prefixes = (LOCK_KEY_PREFIX, THROTTLE_KEY_PREFIX, DELAY_KEY_PREFIX)
        try:
            return {
                key.removeprefix(prefix)
                for prefix in prefixes
                for key in self._redis.scan_iter(match=f"{prefix}*", count=SCAN_COUNT)
            }
        except RedisError as error:
            raise GateUnavailableError(refusal(self._redis, error), hint=HINT) from error

    def _run(self, script: Script, keys: list[str], *args: str | int) -> Any:
        try:
            try:
                return self._redis.evalsha(script.sha, len(keys), *keys, *args)
            except NoScriptError:
                return self._redis.eval(script.text, len(keys), *keys, *args)
        except RedisError as error:
            raise GateUnavailableError(refusal(self._redis, error), hint=HINT) from error


def _keys(domain: str) -> list[str]:
    """Where a domain's lock, throttle and delay lie (SPEC A1, A2)."""
    return [prefix + domain for prefix in (LOCK_KEY_PREFIX, THROTTLE_KEY_PREFIX, DELAY_KEY_PREFIX)]
