"""`vitrine export`: tables for other programs, streamed."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from crawler.cli.options import InDomain, Since, Until, domain_in, person, time_of
from crawler.cli.output import note
from crawler.cli.stores import opened
from crawler.db.models import ExportRecord
from crawler.errors import UsageError
from crawler.views.exports import Form, Part, What, lines

if TYPE_CHECKING:
    from collections.abc import Generator

BYTE_ORDER_MARK = "\ufeff"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    what: Annotated[What, typer.Argument(help="What to write.")],
    *,
    form: Annotated[Form, typer.Option("--format", help="How to write it.")] = Form.CSV,
    out: Annotated[
        Path | None, typer.Option(help="A file, which appears when it is complete. Default: standard output.")
    ] = None,
    domain: InDomain = None,
    since: Since = None,
    until: Until = None,
    excel: Annotated[
        bool, typer.Option("--excel", help="Begin with a mark by which Excel knows that CSV is UTF-8.")
    ] = False,
) -> None:
    """Write products, prices, sessions, pages, assets or runs, in constant memory; it is put on record.

    In CSV a cell that a spreadsheet would take for a formula gets an apostrophe in front.

    Examples: vitrine export prices --domain shop.example --format jsonl --out prices.jsonl
    """
    part = Part(domain_in(domain), time_of("--since", since), time_of("--until", until))
    count, status = 0, "failed"
    with opened() as stores:
        try:
            with nullcontext(sys.stdout) if out is None else _appearing(out) as stream:
                # In CSV the first line has the names.
                if excel and form is Form.CSV:
                    stream.write(BYTE_ORDER_MARK)
                rows = lines(stores.database, what, form, part)
                for number, line in enumerate(rows, form is not Form.CSV):
                    stream.write(line)
                    count = number
            status = "complete"
        finally:
            with stores.database.write() as db:
                record = ExportRecord(
                    what=what.value, format=form.value, actor=person(), destination=str(out or "-"),
                    row_count=count, status=status, timestamp=db.now,
                )  # fmt: skip
                db.add(record)
    note(f"{count} {what} written to {out or 'standard output'}")


@contextmanager
def _appearing(out: Path) -> Generator[TextIO]:
    """A file that takes its name when it is complete."""
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        part.replace(out)
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
