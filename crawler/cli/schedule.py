"""`vitrine schedule`: the lines by which cron or systemd call it, with the paths of this machine."""

from __future__ import annotations

import re
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import frozen

from crawler.cli.options import Json, person
from crawler.cli.output import emit
from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.runs.schedules import Schedule, ScheduleError
from crawler.runs.sources import find_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.config import Settings
    from crawler.runs.sources import Source

CLEANUP_AT = "17 * * * *"
CLEANUP_SECONDS = 600
STOP_SECONDS = 150  # a worker stops its engine, and a crawl finishes what is under way


class Form(StrEnum):
    """Who is to read the lines."""

    CRON = "cron"
    SYSTEMD = "systemd"


@frozen
class Timed:
    """A command that something begins at its times."""

    name: str
    about: str
    words: tuple[str, ...]
    schedule: Schedule


@frozen
class Place:
    """Where commands are called."""

    folder: Path  # whose `.env` holds
    program: Path
    user: str
    data: tuple[Path, ...]  # all that is written


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schedule")(schedule)


def schedule(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A source of sources.toml, by its code.")],
    *,
    at: Annotated[
        str | None,
        typer.Option(metavar="FIELDS", help="When, as a crontab says it. Default: its `schedule`."),
    ] = None,
    form: Annotated[Form, typer.Option("--for", help="Who is to read the lines.")] = Form.CRON,
    archive: Annotated[
        bool, typer.Option("--archive", help="Order an archive each time, which `vitrine worker` makes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the lines that crawl a source by the clock, with the cleanup that belongs to it.

    Examples:
      (crontab -l; vitrine schedule acme) | crontab -

      vitrine schedule acme --at "0 3 * * 1" --for systemd
    """
    settings = load_settings()
    found = find_source(settings.sources_file, source)
    commands = (_crawl(found, _when(found, at), archive=archive), _cleanup())
    place = _place(settings)
    if as_json:
        emit(_document(found, commands, place))
        return
    lines = _crontab(commands, place) if form is Form.CRON else _units(commands, place, archive=archive)
    sys.stdout.write("\n".join(lines) + "\n")


def _place(settings: Settings) -> Place:
    folders = [settings.vitrine_home, settings.artifacts, settings.warcs, settings.archives]
    data = {folder.absolute() for folder in folders if ":" not in folder.parts[0]}  # which a bucket has
    outermost = sorted(folder for folder in data if not data & set(folder.parents))
    return Place(Path.cwd(), Path(sys.executable).parent / "vitrine", person(), tuple(outermost))


def _when(source: Source, at: str | None) -> Schedule:
    text = at or source.schedule
    if text is None:
        raise UsageError(
            f"{source.code} says no schedule",
            hint='give --at "0 3 * * *", or write `schedule` into sources.toml',
        )
    try:
        return Schedule.of(text)
    except ScheduleError as error:
        raise UsageError(
            str(error), hint='five fields, as in "0 3 * * 1": minute hour day month weekday'
        ) from None


def _crawl(source: Source, when: Schedule, *, archive: bool) -> Timed:
    name = f"vitrine-{source.code.lower()}"
    if archive or source.engine != "vitrine":
        return Timed(
            name, f"order an archive of {source.name}", ("jobs", "create", "--source", source.code), when
        )
    # What was interrupted is gone on with; what was completed begins anew.
    words = ("crawl", "site", "--source", source.code, "--resume")
    return Timed(name, f"crawl {source.name}", words, when)


def _cleanup() -> Timed:
    words = ("cleanup", "--max-seconds", str(CLEANUP_SECONDS))
    return Timed("vitrine-cleanup", "delete what is past its date", words, Schedule.of(CLEANUP_AT))


def _document(source: Source, commands: tuple[Timed, ...], place: Place) -> dict[str, Any]:
    """What programs are told."""
    return {
        "source": source.code,
        "folder": place.folder,
        "commands": [
            {
                "name": each.name,
                "command": [str(place.program), *each.words],
                "cron": each.schedule.cron,
                "on_calendar": each.schedule.on_calendar,
            }
            for each in commands
        ],
    }


# ── cron ──


def _crontab(commands: tuple[Timed, ...], place: Place) -> Iterator[str]:
    for each in commands:
        yield f"# {each.about}"
        yield f"{each.schedule.cron}  cd {_in_cron(place.folder)} && {_in_cron(place.program, *each.words)}"


def _in_cron(*words: object) -> str:
    """Words for cron's shell; cron itself ends a line at a percent sign."""
    return shlex.join(str(word) for word in words).replace("%", r"\%")


# ── systemd ──


def _units(commands: tuple[Timed, ...], place: Place, *, archive: bool) -> Iterator[str]:
    for each in commands:
        yield from _service(each.name, each.about, each.words, place, "Type=oneshot", *_PATIENT)
        yield from _timer(each)
    if archive:
        about = "make the archives that are ordered"
        yield from _service("vitrine-worker", about, ("worker",), place, *_LASTING, *_PATIENT)
    about = "show everything in a browser"
    yield from _service("vitrine-serve", about, ("serve",), place, *_LASTING)


# The first signal goes to the program alone, which passes it on to its crawl or its engine in its own way.
_PATIENT = ("KillMode=mixed", "KillSignal=SIGTERM", f"TimeoutStopSec={STOP_SECONDS}")
_LASTING = ("Type=exec", "Restart=on-failure", "RestartSec=10")


def _service(name: str, about: str, words: tuple[str, ...], place: Place, *more: str) -> Iterator[str]:
    yield from (
        f"# /etc/systemd/system/{name}.service",
        "[Unit]",
        f"Description=Vitrine: {_in_unit(about)}",
        "Wants=network-online.target",
        "After=network-online.target",
        "",
        "[Service]",
        f"User={place.user}",
        f"WorkingDirectory={_in_unit(place.folder)}",
        "EnvironmentFile=-/etc/vitrine/vitrine.env",
        f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in (place.program, *words))}",
        *more,
        "ProtectSystem=strict",
        *(f"ReadWritePaths={_quoted(f'-{folder}')}" for folder in place.data),
        "PrivateTmp=true",
        "NoNewPrivileges=true",
        "",
    )
    if "Type=exec" in more:
        yield from ("[Install]", "WantedBy=multi-user.target", "")


def _timer(each: Timed) -> Iterator[str]:
    yield from (
        f"# /etc/systemd/system/{each.name}.timer",
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
        "",
    )


def _in_unit(text: object) -> str:
    """A value of a unit file: systemd takes what follows a percent sign for one of its own names."""
    return str(text).replace("%", "%%").replace("\n", " ")


def _quoted(word: object) -> str:
    """One word of a list of them."""
    escaped = _in_unit(word).replace("\\", "\\\\").replace('"', '\\"')
    return escaped if re.fullmatch(r"[\w@%+=:,./-]+", escaped) else f'"{escaped}"'
