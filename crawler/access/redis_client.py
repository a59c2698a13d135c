"""How Redis is connected to: every call ends within seconds, and an error never shows a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from crawler.urls import redacted

if TYPE_CHECKING:
    from redis.exceptions import RedisError

CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 5.0
RETRIES = 1
RETRY_PAUSE_SECONDS = 0.05
HINT = "check REDIS_URL, and that the server runs; `vitrine doctor` looks at both"


def connect(url: str, *, answer_seconds: float = ANSWER_SECONDS, **options: Any) -> Redis:
    """A client that waits so long for an answer, and asks once more; it connects with the first call."""
    return Redis.from_url(
        url,
        socket_connect_timeout=min(CONNECT_SECONDS, answer_seconds),
        socket_timeout=answer_seconds,
        retry=Retry(ConstantBackoff(RETRY_PAUSE_SECONDS), RETRIES),
        **options,
    )


def refusal(client: Redis, error: RedisError) -> str:
    """What went wrong, and where."""
    where = client.connection_pool.connection_kwargs
    at = where.get("path") or f"{where.get('host')}:{where.get('port', 6379)}"
    return f"Redis at {at} does not answer: {redacted(str(error)) or type(error).__name__}"
