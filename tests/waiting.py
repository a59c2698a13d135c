"""Waits for what nothing tells of; only a hang takes longer than they do."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS = 120


async def until(condition: Callable[[], object]) -> None:
    """Let others work in this loop until it is so."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # ruff: ignore[async-busy-wait] - nothing tells of it
            await asyncio.sleep(0.005)


def wait_for(condition: Callable[..., Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """Wait until `condition()` is true, and give back what it said."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found
