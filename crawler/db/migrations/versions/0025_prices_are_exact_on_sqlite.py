"""Prices are whole ten-thousandths on SQLite, which has no decimals."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Write the amounts anew, each as it was read so far."""
    if op.get_bind().dialect.name == "sqlite":
        steps = ", ".join(
            f"{name} = CAST(round({name} * 10000) AS INTEGER)" for name in ("price", "list_price")
        )
        op.execute(f"UPDATE price_history SET {steps}")  # ruff: ignore[hardcoded-sql-expression] - our own names
