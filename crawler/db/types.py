"""Column types that behave alike on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import DateTime, Numeric, Uuid
from sqlalchemy.engine.processors import to_str
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import TypeDecorator

from crawler.storable import plain_amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Dialect
    from sqlalchemy.types import TypeEngine


# ruff: file-ignore[unused-method-argument] - SQLAlchemy's signatures


class UtcTime(TypeDecorator[datetime]):
    """Aware times in UTC, in and out; SQLite keeps no offset, so it is put back there."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """What comes out."""
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time that does not say where it is."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give back UTC, whatever the driver said."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class _Steps(Numeric[Any]):
    """The declaration of an amount; whole numbers go through as they are."""

    def bind_processor(self, dialect: Dialect) -> None:
        """Leave whole numbers as they are."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Leave whole numbers as they are."""


class Money(TypeDecorator[Decimal]):
    """Amounts with four decimals, exact on both databases: SQLite, without decimals, has ten-thousandths."""

    PRECISION, SCALE = 18, 4
    impl = Numeric(PRECISION, SCALE)
    cache_ok = True
    STEP = Decimal("0.0001")

    @property
    def python_type(self) -> type[Decimal]:
        """What comes out."""
        return Decimal

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Declare the same everywhere."""
        is_sqlite = dialect.name == "sqlite"
        return dialect.type_descriptor(_Steps(18, 4) if is_sqlite else Numeric(18, 4))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Round to the step that is stored."""
        if value is None:
            return None
        amount = value.quantize(self.STEP)
        return int(amount.scaleb(self.SCALE)) if dialect.name == "sqlite" else amount

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """Give back the same amount everywhere, without the zeros that only fill up."""
        if value is None:
            return None
        amount = Decimal(value).scaleb(-self.SCALE) if dialect.name == "sqlite" else Decimal(value)
        return plain_amount(amount.quantize(self.STEP))


class Key(Uuid[UUID]):
    """An id, spelt in one way wherever it stands: with hyphens, in columns, in JSON and in names of files."""

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """As text, where the database knows no ids; SQLAlchemy itself would leave the hyphens out."""
        return None if dialect.supports_native_uuid else to_str


@compiles(Key, "sqlite")
def _declared(*_: object, **__: object) -> str:
    return "CHAR(36)"
