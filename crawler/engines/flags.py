"""What the archive tool is told, and how its command line says it: one map, read from both sides. Pure."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from attrs import evolve, field, frozen

from crawler.errors import UsageError
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
MAX_TEXT_CHARS = 2_000
MAX_SHOWN_CHARS = 80
# Said by the tool itself; said again, they would lead an engine elsewhere.
OURS = (
    "--output",
    "--output-dir",
    "--name",
    "--seeds",
    "--url",
    "--seedFile",
    "--urlFile",
    "--collection",
    "--cwd",
)


@frozen
class Option:
    """One thing that a job may tell the tool."""

    name: str
    kind: Literal["switch", "count", "number", "level", "text"]
    least: float = 0
    most: float = math.inf
    default: Any = None
    needs: tuple[str, ...] = ()  # options without which it is not said

    @property
    def flag(self) -> str:
        """Its spelling on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def takes(self) -> str:
        """Its values, in words."""
        if self.kind in {"count", "number"}:
            what = "a whole number" if self.kind == "count" else "a number"
            return f"{what} from {self.least:g} to {self.most:g}"
        words = {"switch": "true or false", "level": "one of " + ", ".join(LOG_LEVELS)}
        return words.get(self.kind, f"a text of at most {MAX_TEXT_CHARS} characters")


_MONITORING = ("enable_monitoring",)
_ADAPTIVE = (*_MONITORING, "enable_adaptive_workers")
_VPN = (*_MONITORING, "enable_vpn_rotation", "vpn_connect_command")
_YEAR_IN_MINUTES = 525_600

# In the order of the command line.
OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("initial_workers", "count", 1, 64, default=1),
        Option("log_level", "level", default="INFO"),
        Option("cleanup", "switch"),
        Option("overwrite", "switch"),
        Option("enable_monitoring", "switch"),
        Option("monitor_interval_seconds", "number", 0.05, 3_600, needs=_MONITORING),
        Option("stall_timeout_minutes", "number", 0.005, _YEAR_IN_MINUTES, needs=_MONITORING),
        Option("error_threshold_timeout", "count", 1, 1_000_000, needs=_MONITORING),
        Option("error_threshold_http", "count", 1, 1_000_000, needs=_MONITORING),
        Option("enable_adaptive_workers", "switch", needs=_MONITORING),
        Option("min_workers", "count", 1, 64, needs=_ADAPTIVE),
        Option("max_worker_reductions", "count", 0, 100, needs=_ADAPTIVE),
        Option("enable_vpn_rotation", "switch", needs=(*_MONITORING, "vpn_connect_command")),
        Option("vpn_connect_command", "text", needs=_VPN),
        Option("max_vpn_rotations", "count", 0, 1_000, needs=_VPN),
        Option("vpn_rotation_frequency_minutes", "number", 0, _YEAR_IN_MINUTES, needs=_VPN),
        Option("backoff_delay_minutes", "number", 0, _YEAR_IN_MINUTES, needs=_MONITORING),
        Option("relax_perms", "switch"),
    )
}


class OptionError(UsageError):
    """The archive tool does not take that."""

    code = "tool_option"


@frozen
class ToolOrder:
    """One archive to be made."""

    seeds: tuple[str, ...]
    name: str
    output_dir: str
    options: Mapping[str, Any] = field(factory=dict)  # as `checked` gives them
    passthrough: tuple[str, ...] = ()  # for the engine as it is
    seeds_file: str | None = None  # holds the seeds where a command line would be too long

    def option(self, name: str) -> Any:
        """What was said, or else the default."""
        said = self.options.get(name)
        return OPTIONS[name].default if said is None else said


def checked_option(name: str, value: Any) -> Any:
    """The value as the tool takes it; a text says it as a command line does."""
    option = OPTIONS.get(name)
    if option is None:
        raise OptionError(
            f"there is no option {name[:MAX_SHOWN_CHARS]!r}", hint="there are " + ", ".join(OPTIONS)
        )
    found = _read(option, value)
    if found is None:
        shown = redact(repr(value))[:MAX_SHOWN_CHARS]
        raise OptionError(f"{name} is {shown}", hint=f"{name} takes {option.takes}")
    return found


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """All of them, and what each needs beside it."""
    options = {name: checked_option(name, value) for name, value in given.items() if value is not None}
    for asking in ("enable_adaptive_workers", "enable_vpn_rotation"):
        if not options.get(asking):
            continue
        missing = next((name for name in OPTIONS[asking].needs if not options.get(name)), None)
        if missing:
            raise OptionError(
                f"{asking} needs {missing}", hint=f"set {missing} as well, or leave {asking} out"
            )
    return options


def checked_passthrough(given: Sequence[str]) -> tuple[str, ...]:
    """Arguments for the engine; those that the tool says itself are refused."""
    for argument in given:
        if "\x00" in argument or len(argument) > MAX_TEXT_CHARS:
            raise OptionError(f"{redact(argument)[:MAX_SHOWN_CHARS]!r} is no argument")
        name = argument.partition("=")[0]
        if name in OURS:
            raise OptionError(f"{name} cannot be passed on", hint="the archive tool says it itself")
    return tuple(given)


def arguments_of(order: ToolOrder) -> list[str]:
    """The command line behind the tool's own name."""
    seeds = ["--seeds-file", order.seeds_file] if order.seeds_file else ["--seeds", *order.seeds]
    line = [*seeds, "--name", order.name, "--output-dir", order.output_dir, *_said(order)]
    return [*line, "--", *order.passthrough] if order.passthrough else line


def order_of(arguments: Sequence[str], read_seeds: Any = None) -> ToolOrder:
    """The order that a command line says; `read_seeds` gives the seeds that a file names."""
    ours, passthrough = _parted(arguments)
    given = vars(_parser().parse_args(ours))
    seeds = tuple(given.pop("seeds") or ())
    seeds_file, name, output_dir = given.pop("seeds_file"), given.pop("name"), given.pop("output_dir")
    if seeds_file and read_seeds is not None:
        seeds = tuple(read_seeds(seeds_file))
    if not seeds and not seeds_file:
        raise OptionError("there are no seeds", hint="give --seeds URL…")
    options = checked_options({name: value for name, value in given.items() if value not in {None, False}})
    order = ToolOrder(seeds, name, output_dir, options, seeds_file=seeds_file)
    return evolve(order, passthrough=checked_passthrough(passthrough))


def help_text() -> str:
    """What `--help` prints."""
    return _parser().format_help()


def _said(order: ToolOrder) -> Iterator[str]:
    for option in OPTIONS.values():
        value = order.option(option.name)
        if value is None or value is False or not all(order.options.get(name) for name in option.needs):
            continue
        yield option.flag
        if option.kind != "switch":
            yield f"{value:g}" if isinstance(value, float) else str(value)


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return list(arguments), []
    at = list(arguments).index("--")
    return list(arguments[:at]), list(arguments[at + 1 :])


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as every other part does."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse."""
        raise OptionError(redact(message), hint="--help lists the options")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="vitrine-archive-tool", allow_abbrev=False,
        description="Archives a site into a folder. What follows a -- goes to the engine as it is.",
    )  # fmt: skip
    parser.add_argument("--seeds", nargs="+", metavar="URL", help="where the crawl begins")
    parser.add_argument("--seeds-file", metavar="FILE", help="the same, one a line")
    parser.add_argument("--name", required=True, help="the archive's name")
    parser.add_argument("--output-dir", required=True, metavar="DIR", help="the folder that it is made in")
    for option in OPTIONS.values():
        if option.kind == "switch":
            parser.add_argument(option.flag, dest=option.name, action="store_true")
        else:
            parser.add_argument(
                option.flag,
                dest=option.name,
                metavar=option.kind.upper(),
                help=option.takes.replace("%", "%%"),
            )
    return parser


def _read(option: Option, value: Any) -> Any:
    """The value, or None where the option does not take it."""
    if option.kind == "switch":
        words = {
            "true": True,
            "1": True,
            "yes": True,
            "on": True,
            "false": False,
            "0": False,
            "no": False,
            "off": False,
        }
        return value if isinstance(value, bool) else words.get(str(value).lower())
    if option.kind == "level":
        return str(value).upper() if str(value).upper() in LOG_LEVELS else None
    if option.kind == "text":
        fits = (
            isinstance(value, str) and value.strip() and len(value) <= MAX_TEXT_CHARS and value.isprintable()
        )
        return value.strip() if fits else None
    return _number(option, value)


def _number(option: Option, value: Any) -> float | int | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    if not option.least <= number <= option.most or (option.kind == "count" and number != int(number)):
        return None
    return int(number) if number == int(number) else number
