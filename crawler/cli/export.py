"""`vitrine export`: tables for other programs, streamed."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from attrs import field, frozen

from crawler.catalogue.export_records import ExportOnRecord
from crawler.cli.options import After, Caused, InDomain, Since, Until, person, wanted_of
from crawler.cli.output import note
from crawler.cli.stores import opened
from crawler.errors import UsageError
from crawler.views import parquet
from crawler.views.export_tables import TABLES, What, wanted_rows
from crawler.views.exports import Form, lines, rows
from crawler.views.paging import conditions

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from contextlib import AbstractContextManager

    from crawler.db.engine import Database
    from crawler.views.paging import Wanted

BYTE_ORDER_MARK = "\ufeff"


@frozen
class Order:
    """What is to be written, and how."""

    what: What
    form: Form
    wanted: Wanted
    excel: bool = field(kw_only=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    what: Annotated[What, typer.Argument(help="What to write.")],
    *,
    form: Annotated[
        Form, typer.Option("--format", help="How to write it; parquet takes the extra vitrine\\[parquet].")
    ] = Form.CSV,
    out: Annotated[
        Path | None, typer.Option(help="A file, which appears when it is complete. Default: standard output.")
    ] = None,
    domain: InDomain = None,
    since: Since = None,
    until: Until = None,
    cause: Caused = None,
    after: After = None,
    excel: Annotated[
        bool, typer.Option("--excel", help="Begin with a mark by which Excel knows that CSV is UTF-8.")
    ] = False,
) -> None:
    """Write products, prices, sessions, pages, assets or runs, in constant memory; it is put on record.

    In CSV a cell that a spreadsheet would take for a formula gets an apostrophe in front.

    Examples: vitrine export prices --domain shop.example --format jsonl --out prices.jsonl
    """
    wanted = wanted_of(domain=domain, since=since, until=until, cause=cause, after=after)
    _check(form, out, excel=excel)
    conditions(wanted, TABLES[what].listed)  # before anything is written
    count, is_complete = 0, False
    with opened() as stores:
        record = ExportOnRecord.begin(
            stores.database, what.value, form.value, actor=person(), destination=str(out or "-")
        )
        try:
            with _opened(out) as stream:
                order = Order(what, form, wanted, excel=excel)
                for number in _written(stores.database, order, stream):
                    count = number
            is_complete = True
        finally:
            record.end(count, is_complete=is_complete)
    note(f"{count} {what} written to {out or 'standard output'}")


def _check(form: Form, out: Path | None, *, excel: bool) -> None:
    """Refuse what could not be written, or would not be what was asked for."""
    if excel and form is not Form.CSV:
        raise UsageError("--excel goes with --format csv", hint="the mark is for CSV alone")
    if out is None and getattr(sys.stdout, "name", "") == os.devnull:  # as `crawler.cli.app` has a closed one
        raise UsageError("standard output is closed", hint="give --out FILE")
    if form is Form.PARQUET:
        parquet.library()
        if out is None and sys.stdout.isatty():
            raise UsageError("Parquet is no text for a screen", hint="give --out FILE, or lead it elsewhere")


def _written(database: Database, order: Order, stream: IO[bytes]) -> Iterator[int]:
    """Write the export; every now and then, how many rows there are."""
    form, table = order.form, wanted_rows(database, order.what, order.wanted)
    if form is Form.PARQUET:
        yield from parquet.write(stream, table, rows(database, table))
        return
    if order.excel:
        stream.write(BYTE_ORDER_MARK.encode())
    # In CSV the first line has the names.
    for number, line in enumerate(lines(database, table, form), form is not Form.CSV):
        stream.write(line.encode())
        yield number


def _opened(out: Path | None) -> AbstractContextManager[IO[bytes]]:
    """Where the export goes."""
    return nullcontext(sys.stdout.buffer) if out is None else _appearing(out)


@contextmanager
def _appearing(out: Path) -> Generator[IO[bytes]]:
    """A file that takes its name when it is complete; a pipe or a device is written to as it is."""
    target = Path(os.path.realpath(out))  # behind a link
    is_file = target.is_file() or not target.exists()
    part = target.with_name(f".{target.name}.part-{os.getpid()}") if is_file else target
    try:
        with part.open("wb") as stream:
            yield stream
        if is_file:
            part.replace(target)
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror}") from None
    finally:
        if is_file:
            part.unlink(missing_ok=True)
