"""`vitrine schedule`: the lines by which cron or systemd call it, with the paths of this machine."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.options import Json, person
from crawler.cli.output import emit, note
from crawler.cli.timed_lines import UNITS_LIE_IN, Lasting, Place, Timed, crontab, to_enable, units
from crawler.config import env_file, load_settings, shell_settings
from crawler.errors import LockedError, UsageError
from crawler.runs.schedules import Schedule, ScheduleError
from crawler.runs.sources import find_source, load_sources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.config import Settings
    from crawler.runs.sources import Source

CLEANUP_AT = "17 * * * *"
CLEANUP_SECONDS = 600
WORKER = Lasting("vitrine-worker", "make the archives that are ordered", ("worker",), is_patient=True)
SERVE = Lasting("vitrine-serve", "show everything in a browser", ("serve",))

User = Annotated[
    str | None, typer.Option(metavar="NAME", help="For systemd: who runs it. Default: who calls this.")
]

Written = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="For systemd: write each unit into a file of its own there."),
]


class Form(StrEnum):
    """Who is to read the lines."""

    CRON = "cron"
    SYSTEMD = "systemd"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schedule")(schedule)


def schedule(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...", help="Sources of sources.toml. Default: all that say a `schedule`."
        ),
    ] = None,
    *,
    at: Annotated[
        str | None,
        typer.Option(metavar="FIELDS", help="When, as a crontab says it. Default: its `schedule`."),
    ] = None,
    form: Annotated[Form, typer.Option("--for", help="Who is to read the lines.")] = Form.CRON,
    archive: Annotated[
        bool, typer.Option("--archive", help="Order an archive each time, which `vitrine worker` makes.")
    ] = False,
    cleanup: Annotated[
        bool, typer.Option("--cleanup/--no-cleanup", help="Bring the cleanup along, which is needed once.")
    ] = True,
    serve: Annotated[
        bool, typer.Option("--serve", help="For systemd: the service of `vitrine serve`, too.")
    ] = False,
    user: User = None,
    write: Written = None,
    force: Annotated[bool, typer.Option("--force", help="Let --write replace units that differ.")] = False,
    as_json: Json = False,
) -> None:
    """Print the lines that crawl sources by the clock, with the cleanup that belongs to them.

    What this shell alone says of the settings goes into them; what is secret belongs into `.env`.

    Examples:
      (crontab -l; vitrine schedule) | crontab -

      vitrine schedule acme --at "0 3 * * 1" --for systemd --write /etc/systemd/system
    """
    if form is Form.CRON and (write or serve or user):
        raise UsageError("--write, --serve and --user are for units", hint="add --for systemd")
    settings = load_settings()
    sources = _sources(settings, source or ())
    crawls = [_crawl(each, _when(each, at), archive=archive) for each in sources]
    timed = [*crawls, *([_cleanup()] if cleanup else [])]
    lasting = [WORKER] if any(each.words[0] == "jobs" for each in crawls) else []
    lasting += [SERVE] if serve else []
    place = _place(settings, user)
    _warn(place)
    if write is not None:
        _write(write, units(timed, lasting, place), force=force)
        note("next: systemctl daemon-reload && systemctl enable --now " + " ".join(to_enable(timed, lasting)))
    if as_json:
        emit(_document(sources, timed, place))
    elif form is Form.SYSTEMD:
        sys.stdout.write(_told(units(timed, lasting, place), write))
    else:
        sys.stdout.writelines(f"{line}\n" for line in crontab(timed, place))
        if lasting:
            note("`vitrine worker` makes what is ordered; it has to run somewhere (--for systemd: its unit)")


# ── what is called ──


def _sources(settings: Settings, named: Sequence[str]) -> list[Source]:
    """Those that are named, once each; else those of the operator's file that say when."""
    if named:
        found = [find_source(settings.sources_file, code) for code in named]
        return list({each.code.lower(): each for each in found}.values())
    all_of_them = load_sources(settings.sources_file).values()
    found = [each for each in all_of_them if each.enabled and each.schedule]
    if not found:
        raise UsageError(
            f"no source of {settings.sources_file} says a schedule",
            hint='name one, with --at "0 3 * * *", or write `schedule` into the file',
        )
    return found


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


# ── where ──


def _place(settings: Settings, user: str | None) -> Place:
    folders = [settings.vitrine_home, settings.artifacts, settings.warcs, settings.archives]
    data = {folder.absolute() for folder in folders if ":" not in folder.parts[0]}  # which a bucket has
    outermost = sorted(folder for folder in data if not data & set(folder.parents))
    program = Path(sys.executable).parent / "vitrine"
    return Place(Path.cwd(), program, user or person(), tuple(outermost), shell_settings().told)


def _warn(place: Place) -> None:
    """Say what would be otherwise than here, or worse."""
    for name in shell_settings().untold:
        note(
            "[yellow]warning:[/] {name} is set in this shell only, and not for others to read: "
            "write it into {file}", name=name, file=env_file(),
        )  # fmt: skip
    if place.user == "root":
        note("[yellow]warning:[/] root would run this; call it as who crawls (for systemd: --user NAME)")


def _document(sources: Sequence[Source], commands: Sequence[Timed], place: Place) -> dict[str, Any]:
    """What programs are told."""
    return {
        "source": sources[0].code if len(sources) == 1 else None,
        "sources": [each.code for each in sources],
        "folder": place.folder,
        "environment": dict(place.environment),
        "unsaid": shell_settings().untold,
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


def _told(files: Mapping[str, str], written_to: Path | None) -> str:
    """Units as a stream of them, or the paths of those that were written."""
    if written_to is not None:
        return "".join(f"{written_to / name}\n" for name in files)
    return "\n".join(f"# {UNITS_LIE_IN}/{name}\n{text}" for name, text in files.items())


def _write(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write unit files, all or none; what is there and says otherwise is an administrator's."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", hint=f"units lie in {UNITS_LIE_IN}")
    others = [name for name, text in files.items() if _says_otherwise(folder / name, text)]
    if others and not force:
        raise LockedError(
            f"there already, and not the same: {', '.join(others)}", hint="--force replaces them"
        )
    for name, text in files.items():
        part = folder / f".{name}.{os.getpid()}.part"
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(folder / name)
        finally:
            part.unlink(missing_ok=True)


def _says_otherwise(path: Path, text: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") != text
    except FileNotFoundError:
        return False
    except UnicodeDecodeError:
        return True
