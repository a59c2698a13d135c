"""How commands speak: data on standard output, everything else on standard error."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from datetime import datetime
from functools import cache
from threading import Event
from typing import TYPE_CHECKING, Any

from attrs import frozen
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from crawler.storable import plain
from crawler.urls import redacted
from crawler.views.documents import as_json as json_of
from crawler.views.sizes import BINARY, size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawler.errors import CrawlerError

NOTHING_MATCHED = 4
hushed = Event()  # set: nothing is told beside the data
PIPE_WIDTH = 200
LEFT = ", but no process is at it"  # ends the status of what is open and whose process is gone
# Is not to be folded: a date, a number, a size, a word that is not long.
_FIRM = re.compile(r"-|\d{4}-\d\d-\d\d( [\d:]+Z)?|[\d.,]+( [KMG]?i?B)?|[\w.:-]{1,18}")
_FEWEST = 2  # columns
_TEXT_WIDTH = 12  # in which text can still be read
_GAP = 2  # between two columns
_TO_THE_RIGHT = frozenset({"bytes", "price", "artifacts", "pages"})
_SIGNS = {
    "completed": "[green]✓[/]",
    "partial": "[yellow]~[/]",
    "failed": "[red]✗[/]",
    "running": "[cyan]→[/]",
    "queued": "[dim]·[/]",
}


@cache
def data() -> Console:
    """Standard output; wide when nobody looks at it."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


@cache
def notes() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


# ── for machines ──


def emit(document: Any) -> None:
    """One JSON document."""
    sys.stdout.write(json_of(document, indent=2) + "\n")


def emit_line(document: Any) -> None:
    """One JSON document on one line."""
    sys.stdout.write(json_of(document) + "\n")


# ── for people ──


def say(text: str, **values: Any) -> None:
    """A line of data. The text may carry Rich's markup; the values stand in its braces and never do."""
    data().print(_filled(text, values), soft_wrap=True)


def note(text: str, **values: Any) -> None:
    """A line beside the data: progress, hints, the next useful command."""
    if hushed.is_set():
        return
    with suppress(OSError):  # what is told beside the data must not end a crawl
        notes().print(_filled(text, values), soft_wrap=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Rows as a table; what sites wrote is never taken for markup."""
    cells = [
        [_shown(column, value) or "-" for column, value in zip(columns, row, strict=True)] for row in rows
    ]
    kept = _fitting(columns, cells, data().width)
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place in kept:
        right = columns[place] in _TO_THE_RIGHT
        is_firm = all(_FIRM.fullmatch(line[place]) for line in cells)
        shown.add_column(
            columns[place], justify="right" if right else "left", overflow="fold", no_wrap=is_firm
        )
    for line in cells:
        shown.add_row(*(line[place] for place in kept))
    data().print(shown)
    if left := [name for place, name in enumerate(columns) if place not in kept]:
        note(f"left out for want of room: {', '.join(left)}; --json has all")


def table_of(rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows whose cells go by their headings; nothing where there is none."""
    if rows:
        table(tuple(rows[0]), [tuple(row.values()) for row in rows])


def _fitting(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that have room; the last ones go first, but for the first two, and no date is broken."""
    least = [_least(name, [line[place] for line in cells]) for place, name in enumerate(columns)]
    kept = list(range(len(columns)))
    while len(kept) > _FEWEST and sum(least[place] + _GAP for place in kept) - _GAP > width:
        kept.pop()
    return kept


def _least(name: str, column: Sequence[str]) -> int:
    """How narrow a column may get: dates, numbers and ids stay whole, text is folded."""
    whole = max((cell_len(Text.from_markup(cell).plain) for cell in column), default=0)
    is_firm = all(_FIRM.fullmatch(cell) for cell in column)
    return max(len(name), whole if is_firm else min(whole, _TEXT_WIDTH))


def progress_bar(*, counted: bool = True) -> Progress:
    """A bar on a terminal, and nothing elsewhere."""
    figures = (BarColumn(), MofNCompleteColumn()) if counted else ()
    return Progress(
        TextColumn("{task.description}"), *figures, TimeElapsedColumn(),
        console=notes(), transient=True, disable=not notes().is_terminal,
    )  # fmt: skip


def error_lines(error: CrawlerError) -> None:
    """The two lines of an error: what happened, and what mends it."""
    sys.stderr.write(redacted(f"error[{error.code}]: {error}") + "\n")
    if error.hint:
        sys.stderr.write(redacted(f"hint: {error.hint}") + "\n")


def size(count: int) -> str:
    """Return a number of bytes in KiB, MiB or GiB."""
    return size_text(count, BINARY)


def _filled(text: str, values: dict[str, Any]) -> str:
    shown = {name: _shown(name, value) for name, value in values.items()}
    return text.format(**shown) if values else _harmless(text)


def _shown(name: str, value: Any) -> str:
    """A value as markup: a time in UTC, a size, a status with its sign, any other as harmless text."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%SZ")
    if name == "bytes":
        return size(value)
    text = escape(_harmless(str(value)))
    if name == "status":
        sign = "[yellow]![/]" if text.endswith(LEFT) else _SIGNS.get(text, "")
        return f"{sign} {text}".lstrip()
    return text


def _harmless(text: str) -> str:
    """`text` without secrets, and without what could steer a terminal or turn its words around."""
    return plain(redacted(text))


def day(time: datetime | None) -> str:
    """A time as its day."""
    return f"{time:%Y-%m-%d}" if time else ""


def short_id(document: Any) -> str:
    """How a document's id begins, enough to name it."""
    return str(document.id)[:8]


# ── what every `list` command does ──


@frozen
class Listing:
    """A kind of thing, as its `list` command shows it."""

    name: str  # the key in the JSON document
    row: Callable[[Any], Mapping[str, Any]]  # a document as cells by their headings
    empty: str  # told where there is none; how to get some
    then: str = ""  # the next useful command
    key: Callable[[Any], object] | None = None  # what `--after` takes of a document


def show_list(
    kind: Listing,
    documents: Sequence[Any],
    *,
    as_json: bool,
    as_jsonl: bool = False,
    fail_empty: bool = False,
    limit: int | None = None,
    **beside: Any,
) -> int:
    """Print them in the way that is wanted; 4 when there is none and that is to be told.

    Where as many came as were asked for, people are told how to go on.
    """
    if as_jsonl:
        for each in documents:
            emit_line(each)
    elif as_json:
        emit({**beside, kind.name: documents})
    elif documents:
        table_of([kind.row(each) for each in documents])
        if len(documents) == limit and kind.key:
            note("more: --after {last}", last=kind.key(documents[-1]))
        if kind.then:
            note(f"next: {kind.then}")
    else:
        note(kind.empty)
    return NOTHING_MATCHED if fail_empty and not documents else 0
