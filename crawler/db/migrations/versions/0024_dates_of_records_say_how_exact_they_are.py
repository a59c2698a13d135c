"""Records and snapshots say how exact their date is, where that is less than a second."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column to both."""
    for table in ("records", "snapshots"):
        op.add_column(table, sa.Column("date_precision", sa.String(), nullable=True))
