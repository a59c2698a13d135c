"""The flags of the archive tool: what a worker says is what the tool understands."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.engines.flags import (
    OPTIONS,
    OptionError,
    ToolOrder,
    arguments_of,
    checked_options,
    checked_passthrough,
    order_of,
)

SEEDS = ("https://shop.example/", "https://shop.example/a,b")
WATCHED = {
    "enable_monitoring": True, "monitor_interval_seconds": 5, "stall_timeout_minutes": 0.5,
    "error_threshold_timeout": 10, "error_threshold_http": 20, "backoff_delay_minutes": 1,
}  # fmt: skip
ADAPTIVE = {**WATCHED, "enable_adaptive_workers": True, "min_workers": 1, "max_worker_reductions": 2}
VPN = {
    **ADAPTIVE, "enable_vpn_rotation": True, "vpn_connect_command": "vpn 'a b' --now", "max_vpn_rotations": 3,
    "vpn_rotation_frequency_minutes": 7,
}  # fmt: skip
EVERYTHING = {
    **VPN, "initial_workers": 4, "log_level": "DEBUG", "cleanup": True, "overwrite": True,
    "relax_perms": True,
}  # fmt: skip


def said(**options: Any) -> list[str]:
    """The command line of an order."""
    return arguments_of(ToolOrder(SEEDS, "shop-1", "/out", options))


def test_everything_that_can_be_said_is() -> None:
    """Each option has its flag, in one order."""
    line = said(**EVERYTHING)
    flags = [word for word in line if word.startswith("--")][3:]
    assert flags == [option.flag for option in OPTIONS.values()]
    assert line[line.index("--vpn-connect-command") + 1] == "vpn 'a b' --now"


@pytest.mark.parametrize("options", [{}, WATCHED, EVERYTHING])
@pytest.mark.parametrize("passthrough", [(), ("--lang", "fr", "--", "-x")])
def test_what_is_said_is_understood(options: dict[str, Any], passthrough: tuple[str, ...]) -> None:
    """Both ways through the one map."""
    order = ToolOrder(SEEDS, "shop-1", "/out", checked_options(options), passthrough)
    line = arguments_of(order)
    understood = order_of(line)
    assert arguments_of(understood) == line
    assert understood.passthrough == passthrough
    assert {name: understood.option(name) for name in options} == options


def test_many_seeds_come_in_a_file() -> None:
    """A command line has its limit."""
    order = ToolOrder((), "shop-1", "/out", seeds_file="/out/seeds.txt")
    assert arguments_of(order)[:2] == ["--seeds-file", "/out/seeds.txt"]
    assert order_of(arguments_of(order), lambda path: (path,)).seeds == ("/out/seeds.txt",)


@pytest.mark.parametrize(
    ("options", "said_of"),
    [
        ({"enable_adaptive_workers": True}, "enable_adaptive_workers needs enable_monitoring"),
        ({"enable_vpn_rotation": True, "enable_monitoring": True, "vpn_connect_command": None}, "needs vpn"),
        ({"vpn_connect_command": " "}, "vpn_connect_command is ' '"),
        ({"initial_workers": 0}, "initial_workers is 0"),
        ({"initial_workers": True}, "initial_workers is True"),
        ({"stall_timeout_minutes": float("nan")}, "stall_timeout_minutes is nan"),
        ({"log_level": "LOUD"}, "log_level is 'LOUD'"),
        ({"cleanup": "perhaps"}, "cleanup is 'perhaps'"),
        ({"workers": 1}, "there is no option 'workers'"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(options: dict[str, Any], said_of: str) -> None:
    """With the option's name, and what it takes (SPEC 33)."""
    with pytest.raises(OptionError, match=said_of.replace("(", r"\(")):
        checked_options(options)


@pytest.mark.parametrize("word", ["--output", "--output=/", "--name", "--seeds", "--output-dir", "a\x00"])
def test_what_the_tool_says_itself_cannot_be_passed_on(word: str) -> None:
    """An engine would take the last one, and write elsewhere."""
    with pytest.raises(OptionError):
        checked_passthrough(["--lang", "fr", word])
