"""What to do about a crawl that stands still or has too many errors. Pure: time and state come in."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import evolve, frozen

if TYPE_CHECKING:
    from crawler.engines.flags import ToolOrder

# Where nothing is said.
MIN_WORKERS, MAX_REDUCTIONS = 1, 2
MAX_ROTATIONS, ROTATION_MINUTES = 3, 60.0
BACKOFF_MINUTES = 1.0
# So often in a row something is done about a crawl that comes no further; then it has failed.
MAX_IN_VAIN = 5


class Trouble(StrEnum):
    """What a monitor finds."""

    STALL = "stall"
    TIMEOUTS = "timeouts"
    HTTP_ERRORS = "http_errors"


@frozen
class Adaptation:
    """What was done so far; it is kept over restarts of the tool."""

    workers: int
    reductions: int = 0
    rotations: int = 0
    last_rotation: float | None = None  # seconds since the epoch
    in_vain: int = 0  # interventions since the last progress


@frozen
class Answer:
    """What is done about it: the engine is restarted so, after so long; or it is given up."""

    after: Adaptation
    what: str
    rest_seconds: float = 0.0
    rotate: bool = False
    gives_up: bool = False


def answer_to(order: ToolOrder, before: Adaptation, now: float, *, progressed: bool) -> Answer:
    """Fewer workers first, then another way out, then a rest; after many in vain, the end."""
    in_vain = 1 if progressed else before.in_vain + 1
    state = evolve(before, in_vain=in_vain)
    if in_vain > MAX_IN_VAIN:
        why = f"gives up: {in_vain - 1} restarts brought no page that was not captured before"
        return Answer(state, why, gives_up=True)
    minutes = order.option("backoff_delay_minutes")
    rest = 60 * (BACKOFF_MINUTES if minutes is None else minutes)
    if (fewer := _fewer(order, state)) is not None:
        after = evolve(state, workers=fewer, reductions=state.reductions + 1)
        return Answer(after, f"goes on with {fewer} workers", rest)
    if _may_rotate(order, state, now):
        after = evolve(state, rotations=state.rotations + 1, last_rotation=now)
        return Answer(after, "changes its way out", rest, rotate=True)
    return Answer(state, "rests", rest)


def _fewer(order: ToolOrder, state: Adaptation) -> int | None:
    if not order.option("enable_adaptive_workers"):
        return None
    most, least = order.option("max_worker_reductions"), order.option("min_workers") or MIN_WORKERS
    fewer = max(least, state.workers // 2)
    may = state.reductions < (MAX_REDUCTIONS if most is None else most)
    return fewer if may and fewer < state.workers else None


def _may_rotate(order: ToolOrder, state: Adaptation, now: float) -> bool:
    if not order.option("enable_vpn_rotation"):
        return False
    most, minutes = order.option("max_vpn_rotations"), order.option("vpn_rotation_frequency_minutes")
    if state.rotations >= (MAX_ROTATIONS if most is None else most):
        return False
    between = 60 * (ROTATION_MINUTES if minutes is None else minutes)
    return state.last_rotation is None or now - state.last_rotation >= between
