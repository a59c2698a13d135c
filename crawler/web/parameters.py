"""What addresses may carry: numbers that a database takes, days, and texts of a bounded length."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated

from fastapi import Path, Query
from pydantic import BeforeValidator

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
SourceCode = Annotated[str | None, Query(min_length=1, max_length=100, description="A source's code.")]
