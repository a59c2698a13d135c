"""How commands speak: data on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
import sys
from collections import UserString
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crawler.storable import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.errors import CrawlerError

PIPE_WIDTH = 200
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MARKS = {
    "completed": "[green]✓[/] completed",
    "partial": "[yellow]~[/] partial",
    "failed": "[red]✗[/] failed",
    "running": "[cyan]→[/] running",
    "queued": "[dim]·[/] queued",
}


@cache
def data() -> Console:
    """Standard output; wide when nobody looks at it."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


@cache
def notes() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


def emit(document: Any) -> None:
    """One JSON document for machines."""
    sys.stdout.write(json.dumps(document, default=_plain, ensure_ascii=False, indent=2) + "\n")


def emit_line(document: Any) -> None:
    """One JSON document on one line."""
    sys.stdout.write(json.dumps(document, default=_plain, ensure_ascii=False) + "\n")


def say(text: str) -> None:
    """A line of data for people; the text may carry Rich's markup."""
    data().print(_harmless(text), soft_wrap=True)


def note(text: str) -> None:
    """A line beside the data: progress, hints, the next useful command."""
    with suppress(OSError):  # what is told beside the data must not end a crawl
        notes().print(_harmless(text), soft_wrap=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Rows as a table; what sites wrote is never taken for markup."""
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column in {"bytes", "price", "artifacts", "pages"}
        shown.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(_cell(value) for value in row))
    data().print(shown)


def status_mark(status: str) -> str:
    """A status as sign, word and colour; already markup."""
    return _MARKS.get(status, escape(status))


class Markup(UserString):
    """Text that is markup already."""


def error_lines(error: CrawlerError) -> None:
    """The two lines of an error: what happened, and what mends it."""
    sys.stderr.write(redacted(f"error[{error.code}]: {error}") + "\n")
    if error.hint:
        sys.stderr.write(redacted(f"hint: {error.hint}") + "\n")


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:  # ruff: ignore[magic-value-comparison] - the step between the units
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def when(moment: datetime | None) -> str:
    """A time in UTC for people."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment else "-"


def _cell(value: Any) -> str:
    if isinstance(value, Markup):
        return value.data
    return "-" if value is None or not str(value) else escape(_harmless(str(value)))


def _harmless(text: str) -> str:
    """`text` without what could steer a terminal or turn its words around; sites choose much of it."""
    return _STEERING.sub("\ufffd", text)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID | Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")
