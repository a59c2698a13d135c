"""`vitrine purge`: everything of a session or a domain, out, now."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from attrs import asdict, fields

from crawler.cli.output import emit, note, say, size
from crawler.cli.stores import open_book
from crawler.cli.targets import DomainOption, SessionOption, person, target_of
from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.retention import purge as purging
from crawler.retention.purge import Figures

PARTLY_FAILED = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("purge")(purge)


def purge(
    *,
    session: SessionOption = None,
    domain: DomainOption = None,
    prices: Annotated[
        bool, typer.Option("--prices", help="Prices as well, and of a domain its products too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """Delete the files and rows of a session or a domain at once, whatever their dates; a hold forbids it.

    Exit codes: 0 done, 3 some files could not be removed, 5 a hold or a session at work forbids it.

    Examples: vitrine purge --domain shop.example --prices
    """
    with open_book() as book:
        database = book.database
        with database.read() as db:
            target = target_of(db, session=session, domain=domain)
            order = purging.PurgeOrder(
                target, with_prices=prices, who=person(), before=db.now,
                reports=load_settings().vitrine_home / "reports",
            )  # fmt: skip
            figures = purging.preview(db, order)
            is_begun = purging.was_begun(db, order)
        if not any(asdict(figures).values()) and not is_begun:
            note(f"there is nothing of {target}")
            return 0
        if not yes:
            _ask(str(target), figures)
        details = purging.purge(database, book.blobs, order)
    if as_json:
        emit({"target": str(target), **details})
    else:
        _report(str(target), details)
    return PARTLY_FAILED if details["failed"] else 0


def _ask(target: str, figures: Figures) -> None:
    note(f"{target}: {_in_words(asdict(figures))}")
    if not sys.stdin.isatty():
        raise UsageError("a purge asks first, and nobody is there to answer", hint="give --yes")
    typer.confirm("Delete all of this now?", abort=True, err=True)


def _report(target: str, details: dict[str, Any]) -> None:
    say(f"{target}: deleted {_in_words(details)}")
    if details["failed"]:
        note(f"{details['failed']} files could not be removed, and their rows stay; the same command goes on")


def _in_words(figures: dict[str, Any]) -> str:
    names = [each.name for each in fields(Figures) if each.name != "bytes"]
    amounts = [f"{figures[name]} {name.replace('_', ' ')}" for name in names if figures[name]]
    return ", ".join([*amounts, size(figures["bytes"])])
