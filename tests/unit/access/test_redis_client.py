"""Every call to Redis ends, and an error of one never shows a password."""

from __future__ import annotations

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.access.redis_client import ANSWER_SECONDS, CONNECT_SECONDS, connect, refusal


@pytest.mark.parametrize(
    ("answer", "connects"), [(ANSWER_SECONDS, CONNECT_SECONDS), (0.5, 0.5), (30.0, CONNECT_SECONDS)]
)
def test_nobody_waits_for_ever(answer: float, connects: float) -> None:
    """A connection is had within a second, or sooner where the answer is wanted sooner."""
    with connect("redis://127.0.0.1:1/0", answer_seconds=answer) as client:
        said = client.connection_pool.connection_kwargs
    assert (said["socket_timeout"], said["socket_connect_timeout"]) == (answer, connects)


@pytest.mark.parametrize(
    ("url", "at"),
    [
        ("redis://u:geheim@127.0.0.1:1/0", "127.0.0.1:1"),
        ("redis://127.0.0.1/0?password=geheim", "127.0.0.1:6379"),
        ("unix:///run/redis.sock?password=geheim", "/run/redis.sock"),
        ("rediss://:geheim@redis.example:7/0", "redis.example:7"),
    ],
)
def test_a_refusal_says_where(url: str, at: str) -> None:
    """With what went wrong, and without the secret, though the error has it."""
    with connect(url) as client:
        said = refusal(client, RedisConnectionError("no: redis://u:geheim@h"))
        bare = refusal(client, RedisConnectionError(""))
    assert said.startswith(f"Redis at {at} does not answer: no")
    assert "geheim" not in said
    assert bare.endswith("ConnectionError")
