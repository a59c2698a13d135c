"""Numbers as a line of small bars. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[Decimal], width: int = 60) -> str:
    """The last `width` values, from the lowest bar to the highest; equal ones lie in the middle."""
    shown = values[-width:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    if low == high:
        return BARS[len(BARS) // 2 - 1] * len(shown)
    return "".join(BARS[int((value - low) / (high - low) * (len(BARS) - 1))] for value in shown)
