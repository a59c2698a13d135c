"""What all tables share: names of constraints, types of columns, words about them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from sqlalchemy import JSON, BigInteger, Integer, MetaData, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase

from crawler.db.types import Key, Money, UtcTime

if TYPE_CHECKING:
    from collections.abc import Iterable

# SQLite numbers rows by itself only where the key is exactly INTEGER.
BigKey = BigInteger().with_variant(Integer, "sqlite")
# In PostgreSQL, too, by its bytes and not by some language: as files are sorted that others read.
SortedByBytes = String().with_variant(String(collation="C"), "postgresql")
JsonValue = JSON().with_variant(JSONB(), "postgresql")
# What a column of this name holds in every table that says nothing else beside it.
ALIKE = {
    "id": "its key",
    "created_at": "when the row was made",
    "updated_at": "when the row was changed last",
    "timestamp": "when it happened",
    "url": "in its canonical spelling",
    "domain": "a host without `www.`, with its port where that is not the usual one",
}


def one_of(column: str, values: Iterable[str]) -> str:
    """A condition on a column that takes these values alone."""
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


class Base(DeclarativeBase):
    """Every table's parent."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcTime,
        Decimal: Money,
        UUID: Key,
        dict[str, Any]: JsonValue,
        list[str]: JsonValue,
    }
