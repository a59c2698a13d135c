"""What the tables hold, read from the models: docstrings, comments beside the columns, foreign keys."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import postgresql

from crawler.db import models
from crawler.db.models import Base
from crawler.db.models.base import ALIKE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.orm import Mapper

_ATTRIBUTE = re.compile(r"^    (\w+): Mapped\[")
_SPECIFIED = re.compile(r" \(SPEC [^)]*\)")  # numbers that mean nothing to a reader of the tables
_COMMENT = re.compile(r"(?<!\")#\s(.*)$")


def tables() -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Each table with what it is and its columns: name, type, and what stands in it."""
    for mapper in sorted(Base.registry.mappers, key=lambda each: str(each.local_table)):
        said = _said(mapper)
        columns = [
            (column.name, _type(column), _about(column, said)) for column in mapper.local_table.columns
        ]
        yield str(mapper.local_table), _first_line(mapper), columns


def _first_line(mapper: Mapper[Any]) -> str:
    return _SPECIFIED.sub("", (mapper.class_.__doc__ or "").strip().splitlines()[0])


def _type(column: Any) -> str:
    words = str(column.type.compile(dialect=postgresql.dialect())).lower()  # type: ignore[no-untyped-call]
    words = words.replace("timestamp with time zone", "time").replace("character varying", "text")
    words = words.replace("varchar", "text")
    return words if not column.nullable else f"{words}, or null"


def _about(column: Any, said: dict[str, str]) -> str:
    parts = [said.get(column.name, "")]
    parts += [f"refers to `{key.column.table.name}.{key.column.name}`" for key in column.foreign_keys]
    words = _SPECIFIED.sub("", "; ".join(part for part in parts if part))
    return words or ALIKE[column.name]


def _said(mapper: Mapper[Any]) -> dict[str, str]:
    """The comments beside the attributes of a model, and above them."""
    said: dict[str, str] = {}
    above: list[str] = []
    name = ""
    for kind in reversed(mapper.class_.__mro__):
        if kind.__module__.startswith(models.__name__):
            for line in inspect.getsource(kind).splitlines():
                comment = _COMMENT.search(line)
                if found := _ATTRIBUTE.match(line):
                    name = found[1]
                    said[name] = " ".join(above)
                    above = []
                elif comment and line.strip().startswith("#"):
                    above.append(comment[1])
                    continue
                elif not line.strip():
                    above = []
                if comment and name:
                    said[name] = "; ".join(part for part in (said[name], comment[1]) if part)
    return said
