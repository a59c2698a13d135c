"""Puts the commands together, and turns every error into its lines and its exit code."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from crawler import __version__, interrupts, logs
from crawler.cli import output
from crawler.cli.output import error_lines
from crawler.config import env_file, load_settings, unknown_settings, unread_env_file
from crawler.errors import NO_ROOM, CrawlerError, FileError, InternalError, UsageError
from crawler.urls import redacted

log = logs.get_logger(__name__)

COMPLETION = "_VITRINE_COMPLETE"
# Modules whose `register(app)` adds commands, in the order of the help, and the commands that need it.
COMMANDS = {
    "crawl": ("crawl", "sessions", "runs"),
    "demo": ("demo",),
    "sources": ("sources",),
    "sessions": ("sessions",),
    "runs": ("runs",),
    "jobs": ("jobs",),
    "job_upkeep": ("jobs",),
    "job_index": ("jobs",),
    "worker": ("worker",),
    "schedule": ("schedule",),
    "domains": ("domains",),
    "pages": ("pdp",),
    "page_lists": ("pages",),
    "artifacts": ("artifacts",),
    "warcs": ("warcs",),
    "products": ("products", "prices", "listings"),
    "snapshots": ("snapshots", "search"),
    "changes": ("changes", "diff"),
    "hauls": ("hauls",),
    "assets": ("assets",),
    "exceptions": ("exceptions",),
    "export": ("export",),
    "serve": ("serve",),
    "retention": ("retention",),
    "cleanup": ("cleanup", "purge"),
    "database": ("db",),
    "notify": ("notify",),
    "doctor": ("doctor",),
}

app = typer.Typer(
    name="vitrine",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Crawls storefronts politely, judges product pages by rule, keeps dated evidence.\n\n"
    "Examples:\n\n  vitrine demo\n\n  vitrine crawl pdp https://shop.example/",
)


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    *,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Tell nothing beside the data, but for errors.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks, and log at DEBUG.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """What every command shares."""
    if version:
        sys.stdout.write(f"vitrine {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")
        raise typer.Exit
    settings = load_settings()
    output.hushed.set() if quiet else output.hushed.clear()
    level = "DEBUG" if debug else "ERROR" if quiet else settings.log_level
    logs.configure(level, settings.log_format)
    if (unread := unread_env_file()) is not None:
        log.warning("setting.file_not_read", file=str(unread), read=str(env_file()))
    for unknown, meant in unknown_settings().items():
        log.warning("setting.unknown", name=unknown, where=".env", **({"meant": meant} if meant else {}))


@cache
def _register(module: str) -> None:
    import_module(f"crawler.cli.{module}").register(app)


def complete_app() -> typer.Typer:
    """All commands, for whoever lists or documents them."""
    for module in COMMANDS:
        _register(module)
    # Whichever was called before in this process, and so was there first.
    places = {name: place for place, names in enumerate(COMMANDS.values()) for name in reversed(names)}
    app.registered_groups.sort(key=lambda group: places[str(group.name)])
    app.registered_commands.sort(key=lambda command: places[str(command.name)])
    return app


def _app_for(arguments: list[str]) -> typer.Typer:
    """The command that is named, alone: loading them all takes longer than most of them do."""
    if COMPLETION in os.environ:  # a shell asks, and names what is typed elsewhere
        return complete_app()
    name = next((word for word in arguments if not word.startswith("-")), None)
    modules = [module for module, commands in COMMANDS.items() if name in commands]
    if not modules:
        return complete_app()
    for module in modules:
        _register(module)
    return app


def main() -> None:
    """Run a command line; exit with a code that tells the truth."""
    arguments = sys.argv[1:]
    _use_any_output()
    _app_for(arguments)
    gc.freeze()  # see `crawler.cli.__main__`
    gc.enable()
    sys.exit(interrupts.run(lambda: run(arguments)))


def _use_any_output() -> None:
    """What is written to a closed stream is lost; signs that a stream cannot show become question marks."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # ruff: ignore[open-file-with-context-handler]
            setattr(sys, name, nowhere)
        getattr(sys, name).reconfigure(errors="replace")


def run(arguments: list[str]) -> int:
    """The exit code of a command line."""
    try:
        result = _app_for(arguments)(arguments, standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        message = error.format_message().rstrip(".") or "the command is not complete"
        return _tell(UsageError(message, hint=f"`{_called(error)} --help` tells what it takes"))
    except (KeyboardInterrupt, typer.Abort):
        return interrupts.INTERRUPTED
    except (BrokenPipeError, SystemExit):  # the latter is Typer's answer to the former
        return _stop_writing()
    except Exception as error:  # ruff: ignore[blind-except] - the last resort: one line, and the way to more
        known = error if isinstance(error, CrawlerError) else _unforeseen(error)
        return _tell(known, debug="--debug" in arguments)
    return result if isinstance(result, int) else 0


def _called(error: TyperException) -> str:
    """The command, by its names alone, whichever way the program was started."""
    names, context = [], getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        names.append(context.info_name)
        context = context.parent
    return " ".join(["vitrine", *reversed(names)])


def _tell(error: CrawlerError, *, debug: bool = False) -> int:
    if debug:
        sys.stderr.write(redacted(traceback.format_exc()))
    error_lines(error)
    return error.exit_code


def _unforeseen(error: Exception) -> CrawlerError:
    if isinstance(error, OSError) and error.filename:
        return FileError(f"{error.filename}: {error.strerror}", hint="check the path, and who may use it")
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return FileError(
            f"not everything could be written: {error.strerror}",
            hint="make room where it writes, or where its output goes",
        )
    what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InternalError(
        f"{type(error).__name__}: {what}", hint="`vitrine --debug …` shows where it happened"
    )


def _stop_writing() -> int:
    """Whoever read our output has seen enough; let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
