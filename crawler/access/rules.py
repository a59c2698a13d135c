"""The gate's rules without its store: names, waits, and who stands behind a lock's value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_KEY_PREFIX = "lock:domain:"
THROTTLE_KEY_PREFIX = "throttle:domain:"
DELAY_KEY_PREFIX = "delay:domain:"
TOKEN_PREFIX = "vitrine:"  # ruff: ignore[hardcoded-password-string] - marks a lock as ours
JITTER_MS = 500
_TOKEN = re.compile(r"vitrine:(?P<host>[^:]*):(?P<pid>\d+):(?P<start>[^:]*):(?P<session>.*):(?P<nonce>[^:]*)")


def lock_key(domain: str) -> str:
    """Where a domain's lock lies (SPEC A1)."""
    return LOCK_KEY_PREFIX + domain


def throttle_key(domain: str) -> str:
    """Where the end of a domain's last session lies (SPEC A2)."""
    return THROTTLE_KEY_PREFIX + domain


def delay_key(domain: str) -> str:
    """Where the delay lies that a site asked for."""
    return DELAY_KEY_PREFIX + domain


def backoff_ms(attempt: int, base_ms: int, random: Callable[[], float]) -> int:
    """The wait after a failed attempt, counted from 1: 1, 2, 4 … times the base, plus jitter (SPEC A10)."""
    return (base_ms << (attempt - 1)) + int(random() * (JITTER_MS + 1))


def throttle_left_ms(ended_ms: int | None, now_ms: int, min_delay_ms: int) -> int:
    """What is left of the least delay; an end in the future counts as an end just now (SPEC A23)."""
    if ended_ms is None:
        return 0
    return min(max(ended_ms + min_delay_ms - now_ms, 0), min_delay_ms)


@frozen
class Holder:
    """Who stands behind a lock's value."""

    host: str
    pid: int
    session_id: str


def token_start(host: str, pid: int, start: str) -> str:
    """What the values of all locks of one run of one process begin with (SPEC A7)."""
    return f"{TOKEN_PREFIX}{host}:{pid}:{start}:"


def token_for(process: str, session_id: str, nonce: str) -> str:
    """A lock's value: which process (see `token_start`), for which session, and once."""
    return f"{process}{session_id}:{nonce}"


def is_ours(value: str) -> bool:
    """Whether a Vitrine session set this lock; others keep to the same keys without renewing."""
    return value.startswith(TOKEN_PREFIX)


def holder_of(value: str) -> Holder | None:
    """The holder as its lock's value names it; None where another system set it."""
    found = _TOKEN.fullmatch(value)
    return Holder(found["host"], int(found["pid"]), found["session"]) if found else None
