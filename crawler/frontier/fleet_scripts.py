"""What the fleet's list decides inside Redis, each in one step and on Redis's own clock.

Keys: the shared list; the workers, a sorted set with the time (in milliseconds) at which each counts as
dead; a list a worker. A worker that has a list is among the workers, so that no list is ever forgotten.
"""

from __future__ import annotations

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
