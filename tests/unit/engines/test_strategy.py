"""What is done about a crawl that stands still: fewer workers, another way out, a rest, the end."""

from __future__ import annotations

from typing import Any

from crawler.engines.flags import ToolOrder
from crawler.engines.strategy import MAX_IN_VAIN, Adaptation, answer_to

ADAPTIVE = {
    "enable_monitoring": True,
    "enable_adaptive_workers": True,
    "min_workers": 2,
    "backoff_delay_minutes": 5,
}
VPN = {
    "enable_monitoring": True, "enable_vpn_rotation": True, "vpn_connect_command": "vpn",
    "max_vpn_rotations": 2,
    "vpn_rotation_frequency_minutes": 10,
}  # fmt: skip


def order(**options: Any) -> ToolOrder:
    """An order with these options."""
    return ToolOrder(("https://shop.example/",), "shop", "/out", options)


def test_workers_are_never_fewer_than_the_least() -> None:
    """Half each time, so often, then it rests."""
    state, seen = Adaptation(8), []
    for _ in range(4):
        answer = answer_to(order(**ADAPTIVE, max_worker_reductions=5), state, 0, progressed=True)
        state = answer.after
        seen.append((state.workers, state.reductions, answer.what.split()[0], answer.rest_seconds))
    assert seen == [(4, 1, "goes", 300), (2, 2, "goes", 300), (2, 2, "rests", 300), (2, 2, "rests", 300)]
    assert answer_to(order(**ADAPTIVE), Adaptation(8, reductions=2), 0, progressed=True).after.workers == 8


def test_the_way_out_is_changed_not_more_often_than_said() -> None:
    """At most so many times, with so much time between."""
    first = answer_to(order(**VPN), Adaptation(1), 1000.0, progressed=True)
    assert (first.rotate, first.after.rotations, first.after.last_rotation) == (True, 1, 1000.0)
    assert not answer_to(order(**VPN), first.after, 1599.0, progressed=True).rotate
    second = answer_to(order(**VPN), first.after, 1600.0, progressed=True)
    assert second.rotate
    assert not answer_to(order(**VPN), second.after, 9999.0, progressed=True).rotate


def test_after_so_much_in_vain_it_is_over() -> None:
    """A page in between, and it is not."""
    state = Adaptation(1)
    for _ in range(MAX_IN_VAIN):
        answer = answer_to(order(), state, 0, progressed=False)
        assert not answer.gives_up
        state = answer.after
    assert answer_to(order(), state, 0, progressed=False).gives_up
    assert not answer_to(order(), state, 0, progressed=True).gives_up
