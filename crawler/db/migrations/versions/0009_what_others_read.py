"""Ids and prices are spelt alike in plain SQL on both databases; a database knows its store of artifacts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_SHORT, _WHOLE = " CHAR(32)", " CHAR(36)"
_STEPS = "BIGINT"  # ten-thousandths, as amounts were
_AMOUNT = "NUMERIC(18, 4)"


def upgrade() -> None:
    """Add the mark; in SQLite, write ids with hyphens and prices as numbers."""
    op.create_table(
        "store_marks",
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("mark", sa.Uuid().with_variant(sa.CHAR(36), "sqlite"), nullable=False),
        sa.Column("root", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_store_marks")),
    )
    if op.get_bind().dialect.name == "sqlite":
        _spell_ids()
        op.execute("UPDATE price_history SET price = price / 10000.0, list_price = list_price / 10000.0")
        _declare()


def _spell_ids() -> None:
    connection = op.get_bind()
    for table in sa.inspect(connection).get_table_names():
        columns = connection.exec_driver_sql(f'PRAGMA table_info("{table}")').all()
        ids = [column.name for column in columns if f" {column.type}" == _SHORT]
        if ids:
            spelt = ", ".join(f"{name} = {_hyphened(name)}" for name in ids)
            op.execute(f"UPDATE {table} SET {spelt}")  # ruff: ignore[hardcoded-sql-expression] - our own names


def _hyphened(name: str) -> str:
    parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    return " || '-' || ".join(f"substr({name}, {start}, {length})" for start, length in parts)


def _declare() -> None:
    """Have the tables declare what they hold, by SQLite's own way where nothing stored changes its form."""
    connection = op.get_bind()
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema=ON")
    changing = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table'"
    connection.exec_driver_sql(changing, (_SHORT, _WHOLE))
    of_prices = f"{changing} AND name = 'price_history'"
    connection.exec_driver_sql(of_prices, (f"price {_STEPS}", f"price {_AMOUNT}"))
    connection.exec_driver_sql(f"PRAGMA schema_version={version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema=OFF")
