"""What addresses may carry: numbers that a database takes, days, and texts of a bounded length."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Path, Query
from pydantic import BeforeValidator

from crawler.views.paging import Wanted

MAX_NUMBER = 2**53  # that JSON's readers take, too
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _day(given: object) -> object:
    """Only YYYY-MM-DD is a day; pydantic takes a number of seconds for one."""
    if isinstance(given, str) and not _DAY.fullmatch(given):
        raise ValueError("a day is written as 2026-05-31")
    return given


Id = Annotated[int, Path(ge=1, le=MAX_NUMBER)]
PageNumber = Annotated[int, Query(ge=1, le=MAX_NUMBER)]
Day = Annotated[date, BeforeValidator(_day)]
Since = Annotated[Day | None, Query(alias="from", description="The first day, in UTC.")]
Until = Annotated[Day | None, Query(alias="to", description="The last day, that day included.")]
Field = Annotated[str, Query(max_length=500)]  # of a form of the workshop
SourceCode = Annotated[str | None, Query(min_length=1, max_length=100, description="A source's code.")]


# ── what people type into the forms of pages: never an error ──


def day_of(given: str, remarks: list[str]) -> date | None:
    """A day, or a remark that it is none."""
    if not given:
        return None
    if _DAY.fullmatch(given):
        with suppress(ValueError):
            return date.fromisoformat(given)
    remarks.append(f"“{given}” is no day and was left out; a day is written as 2026-05-31.")
    return None


def address_of(path: str, asked: Mapping[str, str], number: int = 1) -> str:
    """Where such a list's page is; the first one goes without its number."""
    fields = {**asked, **({"page": str(number)} if number > 1 else {})}
    return f"{path}?{urlencode(fields)}" if fields else path


def pager(path: str, asked: Mapping[str, str], wanted: Wanted, *, listed: int, total: int) -> dict[str, Any]:
    """Return what a list's template says of its page: how many rows come before it, and its neighbours."""
    first, number = wanted.offset, wanted.number
    is_more = listed > 0 and first + listed < total
    return {
        "first": first,
        "newer": address_of(path, asked, number - 1) if number > 1 else "",
        "older": address_of(path, asked, number + 1) if is_more else "",
    }


def chips(path: str, asked: Mapping[str, str], labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each part of a question that has a label, and the address of the question without it."""
    without = {name: {key: one for key, one in asked.items() if key != name} for name in asked}
    return [
        (labels[name].format(value), address_of(path, without[name]))
        for name, value in asked.items()
        if name in labels
    ]


def number_of(given: str) -> int:
    """The number of a page; the first one, where it is none."""
    digits = given.lstrip("0") if given.isascii() and given.isdecimal() else ""
    # Nobody needs to know which number it is that has more digits than the largest one.
    return min(int(digits[: len(str(MAX_NUMBER)) + 1]), MAX_NUMBER) if digits else 1
