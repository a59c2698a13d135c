"""A scale of latencies whose counts add up over a day, and their median. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STEP = 1.05  # each step is five percent wide, so a median is right to half of that


def added(counts: Mapping[str, int], latencies_ms: Iterable[float]) -> dict[str, int]:
    """The counts with further latencies in them."""
    sums = dict(counts)
    for latency in latencies_ms:
        key = str(round(math.log(max(latency, 1), STEP)))
        sums[key] = sums.get(key, 0) + 1
    return sums


def median_ms(counts: Mapping[str, int]) -> int | None:
    """The median in milliseconds; None where nothing was counted."""
    left = (sum(counts.values()) + 1) // 2
    for step in sorted(counts, key=int):
        left -= counts[step]
        if left <= 0:
            return round(STEP ** int(step))
    return None
