"""When a cleanup last looked through the store for files that have no row."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import TIME

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("retention_config", sa.Column("looked_at", TIME, nullable=True))
