"""What a view answers with: a value that nothing changes, and its one way to JSON."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import fields, has

from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

T = TypeVar("T")
IDS_AT_ONCE = 500


def document_of(kind: type[T], row: object, **more: Any) -> T:
    """A document with the row's value for each of its fields, but for those that are given."""
    names = (field.name for field in fields(kind))  # type: ignore[arg-type]
    return kind(**{name: getattr(row, name) for name in names if name not in more}, **more)


def documents(
    db: Session, query: Select[Any], kind: type[T], more: Callable[[Any], dict[str, Any]] = lambda _: {}
) -> list[tuple[Any, T]]:
    """The rows of a query, each with its document; `more` gives the fields that are no columns."""
    return [(row, document_of(kind, row, **more(row))) for row in db.scalars(query)]


def in_groups(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield ids in groups that fit into one statement."""
    for begin in range(0, len(ids), IDS_AT_ONCE):
        yield ids[begin : begin + IDS_AT_ONCE]


def as_json(document: Any, *, indent: int | None = None) -> str:
    """A document for machines: its fields by their names, times in ISO 8601, ids and amounts as text.

    No secret of a URL is in it.
    """
    return redacted(json.dumps(document, default=_plain, ensure_ascii=False, indent=indent))


def _plain(value: Any) -> Any:
    if isinstance(value, date):  # a moment is one, too
        return value.isoformat()
    if isinstance(value, UUID | Path | Decimal):
        return str(value)
    if has(type(value)):
        return {field.name: getattr(value, field.name) for field in fields(type(value))}
    raise TypeError(f"{type(value).__name__} has no place in JSON")
