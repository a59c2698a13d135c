"""Parquet, as far as it is ours: which column has which type, which cell which value, how many are in memory.

The library itself is an extra of 55 MB, and not among the development tools: a stand-in writes down what it
is given.
"""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, Self
from uuid import UUID

import pytest
from attrs import define, field

from crawler.views import parquet
from crawler.views.exports import TABLES, What

KEY = UUID(int=7)
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@define
class Written:
    """What the stand-in was given."""

    schema: dict[str, str] = field(factory=dict)
    groups: list[list[list[Any]]] = field(factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write_batch(self, columns: list[list[Any]]) -> None:
        """A group of rows."""
        self.groups.append(columns)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    """The library's place is taken."""
    done = Written()

    def writer(_stream: Any, schema: list[SimpleNamespace]) -> Written:
        done.schema = {each.name: each.type for each in schema}
        return done

    arrow = SimpleNamespace(
        schema=lambda pairs: [SimpleNamespace(name=name, type=kind) for name, kind in pairs],
        array=lambda values, _kind: list(values),
        record_batch=lambda columns, schema: columns if len(columns) == len(schema) else None,
        bool_=lambda: "bool", int64=lambda: "int64", float64=lambda: "float64", string=lambda: "string",
        timestamp=lambda unit, tz: f"timestamp[{unit}, {tz}]",
        decimal128=lambda precision, scale: f"decimal128({precision}, {scale})",
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", SimpleNamespace(ParquetWriter=writer))
    return done


def test_columns_have_types(written: Written) -> None:
    """Prices are decimals, times are times in UTC, ids and documents text."""
    types: dict[str, str] = {}
    for what in What:
        assert list(parquet.write(io.BytesIO(), TABLES[what], [])) == []
        types |= {f"{what}.{name}": kind for name, kind in written.schema.items()}
    assert types["prices.price"] == types["prices.list_price"] == "decimal128(18, 4)"
    assert types["prices.seen_at"] == types["runs.created_at"] == "timestamp[us, UTC]"
    assert (types["prices.id"], types["prices.session_id"]) == ("int64", "string")
    assert (types["sessions.low_confidence"], types["sessions.id"]) == ("bool", "string")
    assert set(types.values()) == {"bool", "int64", "string", "timestamp[us, UTC]", "decimal128(18, 4)"}


def test_rows_are_written_in_groups(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """Column by column, and no more than a group is held."""
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    table = TABLES[What.RUNS]
    row = [None] * len(table.columns)
    rows = iter([[number, *row[1:]] for number in range(5)])
    assert list(parquet.write(io.BytesIO(), table, rows)) == [2, 4, 5]
    assert [group[0] for group in written.groups] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None), (True, True), (7, 7), (NOON, NOON), (Decimal("1.50"), Decimal("1.50")),
        (KEY, str(KEY)), ({"a": [1]}, '{"a": [1]}'), ("https://u:p@shop.example/", "https://u:***@shop.example/"),
    ],
)  # fmt: skip
def test_cells_lose_nothing_but_secrets(value: Any, shown: Any) -> None:
    """Numbers and times stay what they are."""
    assert parquet.cell(value) == shown


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As wrong usage."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(parquet.NoParquetError) as told:
        parquet.library()
    assert "vitrine[parquet]" in told.value.hint
    assert told.value.exit_code == 2
