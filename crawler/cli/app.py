"""Puts the commands together, and turns every error into its lines and its exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer
from typer.exceptions import TyperException

from crawler import __version__, logs
from crawler.cli.output import error_lines
from crawler.config import load_settings
from crawler.errors import CrawlerError, UsageError

INTERRUPTED = 130
# Modules whose `register(app)` adds their commands, in the order of the help.
COMMANDS = (
    "crawl",
    "demo",
    "sessions",
    "domains",
    "pages",
    "artifacts",
    "retention",
    "cleanup",
    "database",
    "doctor",
)

app = typer.Typer(
    name="vitrine",
    add_completion=False,
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
    logs.configure("DEBUG" if debug else settings.log_level, settings.log_format)


for name in COMMANDS:
    import_module(f"crawler.cli.{name}").register(app)


def main() -> None:
    """Run a command line; exit with a code that tells the truth."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of a command line."""
    try:
        result = app(arguments, standalone_mode=False)
    except TyperException as error:
        hint = "`vitrine --help` lists the commands" if arguments else ""
        error_lines(UsageError(error.format_message().rstrip("."), hint=hint))
        return UsageError.exit_code
    except CrawlerError as error:
        if "--debug" in arguments:
            raise
        error_lines(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    return result if isinstance(result, int) else 0
