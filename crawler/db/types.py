"""Column types that behave alike on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, DateTime, Numeric
from sqlalchemy.types import TypeDecorator

from crawler.storable import plain_amount

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect
    from sqlalchemy.types import TypeEngine


# ruff: file-ignore[unused-method-argument] - SQLAlchemy's signatures


class UtcTime(TypeDecorator[datetime]):
    """Aware times in UTC, in and out; SQLite keeps no offset, so it is put back there."""

    impl = DateTime(timezone=True)
    cache_ok = True

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


class Money(TypeDecorator[Decimal]):
    """Exact amounts with four decimals; SQLite, which knows no decimals, counts ten-thousandths."""

    impl = Numeric(18, 4)
    cache_ok = True
    STEP = Decimal("0.0001")

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """A whole number where the database has no exact fractions."""
        kind = BigInteger() if dialect.name == "sqlite" else self.impl_instance
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Round to the step that is stored."""
        if value is None:
            return None
        exact = value.quantize(self.STEP)
        return int(exact / self.STEP) if dialect.name == "sqlite" else exact

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """Give back the same amount everywhere, without the zeros that only fill up."""
        if value is None:
            return None
        amount = Decimal(value) * self.STEP if dialect.name == "sqlite" else Decimal(value)
        return plain_amount(amount)
