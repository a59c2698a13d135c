"""An export as a Parquet file: typed columns, written in groups of rows, by a library that is an extra."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from importlib import import_module
from itertools import islice
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from crawler.db.types import Money
from crawler.errors import UsageError
from crawler.urls import redacted
from crawler.views.documents import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawler.views.exports import Table

GROUP_ROWS = 10_000  # that are in memory at once


class NoParquetError(UsageError):
    """The library that writes Parquet is not installed."""


def library() -> tuple[Any, Any]:
    """Arrow and its writer of Parquet, or an error that names the extra which brings them."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise NoParquetError(
            "Parquet is written by pyarrow, which is not installed",
            hint="it comes with an extra: pip install 'vitrine[parquet]'",
        ) from None


def write(stream: IO[bytes], table: Table, rows: Iterable[Any]) -> Iterator[int]:
    """Write all rows; after each group, how many there are."""
    arrow, parquet = library()
    kinds = zip(table.columns, table.types, strict=True)
    schema = arrow.schema([(name, arrow_type(arrow, kind)) for name, kind in kinds])
    count = 0
    with parquet.ParquetWriter(stream, schema) as writer:
        left = iter(rows)
        while group := list(islice(left, GROUP_ROWS)):
            columns = [
                arrow.array([cell(value) for value in values], field.type)
                for values, field in zip(zip(*group, strict=True), schema, strict=True)
            ]
            writer.write_batch(arrow.record_batch(columns, schema=schema))
            count += len(group)
            yield count


def arrow_type(arrow: Any, kind: type) -> Any:
    """The type of a column, by what is in it; ids and documents are text."""
    by_kind: dict[type, Callable[[], Any]] = {
        bool: arrow.bool_,
        int: arrow.int64,
        float: arrow.float64,
        datetime: lambda: arrow.timestamp("us", tz="UTC"),
        Decimal: lambda: arrow.decimal128(Money.PRECISION, Money.SCALE),
    }
    return by_kind.get(kind, arrow.string)()


def cell(value: Any) -> Any:
    """A value as its column takes it, without a URL's secrets."""
    if value is None or isinstance(value, bool | int | float | datetime | Decimal):
        return value
    if isinstance(value, UUID):
        return str(value)
    return redacted(value) if isinstance(value, str) else as_json(value)
