"""What cron and systemd are told: a command's line, or its service and timer, each as its reader takes it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from crawler.runs.schedules import Schedule

STOP_SECONDS = 150  # a worker stops its engine, and a crawl finishes what is under way
UNITS_LIE_IN = "/etc/systemd/system"


@frozen
class Timed:
    """A command that something begins at its times."""

    name: str
    about: str
    words: tuple[str, ...]
    schedule: Schedule


@frozen
class Lasting:
    """A command that runs until somebody stops it."""

    name: str
    about: str
    words: tuple[str, ...]
    is_patient: bool = False  # it has something under way to end in order


@frozen
class Place:
    """Where commands are called."""

    folder: Path  # whose project's `.env` holds
    program: Path
    user: str
    data: tuple[Path, ...]  # all that is written
    environment: Mapping[str, str] = field(factory=dict)  # which neither cron nor systemd would have


# ── cron ──


def crontab(commands: Sequence[Timed], place: Place) -> Iterator[str]:
    """Lines that say nothing but what went wrong, since cron mails the rest."""
    said = [f"{name}={shlex.quote(value)}" for name, value in place.environment.items()]
    for each in commands:
        words = shlex.join([str(place.program), "-q", *each.words])
        line = f"cd {shlex.quote(str(place.folder))} && {' '.join([*said, words])} >/dev/null"
        yield f"# {each.about}"
        # Cron itself ends a line at a percent sign.
        yield f"{each.schedule.cron}  " + line.replace("%", r"\%")


# ── systemd ──


def units(timed: Sequence[Timed], lasting: Sequence[Lasting], place: Place) -> dict[str, str]:
    """Unit files by their names."""
    files: dict[str, str] = {}
    for each in timed:
        kind = ("Type=oneshot", *_PATIENT)
        files[f"{each.name}.service"] = _service(each, place, kind)
        files[f"{each.name}.timer"] = _timer(each)
    for lasts in lasting:
        kind = ("Type=exec", "Restart=on-failure", "RestartSec=10", *(_PATIENT if lasts.is_patient else ()))
        installed = ("", "[Install]", "WantedBy=multi-user.target")
        files[f"{lasts.name}.service"] = _service(lasts, place, kind, *installed)
    return files


def to_enable(timed: Sequence[Timed], lasting: Sequence[Lasting]) -> list[str]:
    """The units that an administrator switches on."""
    return [f"{each.name}.timer" for each in timed] + [f"{each.name}.service" for each in lasting]


# The first signal goes to the program alone, which passes it on to its crawl or its engine in its own way.
_PATIENT = ("KillMode=mixed", "KillSignal=SIGTERM", f"TimeoutStopSec={STOP_SECONDS}")


def _service(each: Timed | Lasting, place: Place, kind: Sequence[str], *installed: str) -> str:
    lines = (
        "[Unit]",
        f"Description=Vitrine: {_in_unit(each.about)}",
        "Wants=network-online.target",
        "After=network-online.target",
        "",
        "[Service]",
        f"User={place.user}",
        f"WorkingDirectory={_in_unit(place.folder)}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in place.environment.items()),
        "EnvironmentFile=-/etc/vitrine/vitrine.env",
        f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in (place.program, *each.words))}",
        *kind,
        "ProtectSystem=strict",
        *(f"ReadWritePaths={_quoted(f'-{folder}')}" for folder in place.data),
        "PrivateTmp=true",
        "NoNewPrivileges=true",
        *installed,
    )
    return "\n".join(lines) + "\n"


def _timer(each: Timed) -> str:
    lines = (
        "[Unit]",
        f"Description=Vitrine: {_in_unit(each.about)}",
        "",
        "[Timer]",
        f"OnCalendar={each.schedule.on_calendar}",
        # What was missed while the machine was off is done when it is on again.
        "Persistent=true",
        "RandomizedDelaySec=60",
        "",
        "[Install]",
        "WantedBy=timers.target",
    )
    return "\n".join(lines) + "\n"


def _in_unit(text: object) -> str:
    """A value of a unit file: systemd takes what follows a percent sign for one of its own names."""
    return str(text).replace("%", "%%").replace("\n", " ")


def _quoted(word: object) -> str:
    """One word of a list of them."""
    escaped = _in_unit(word).replace("\\", "\\\\").replace('"', '\\"')
    return escaped if re.fullmatch(r"[\w@%+=:,./-]+", escaped) else f'"{escaped}"'
