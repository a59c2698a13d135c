"""What the Redis gate decides inside Redis, each in one step and on Redis's own clock.

Times are milliseconds. The throttle key holds a plain Unix time, so that a deployment of the documented
system can share it; the delay key's expiry is the delay, its value the reason.
"""

from __future__ import annotations

from hashlib import sha1

from attrs import field, frozen


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
