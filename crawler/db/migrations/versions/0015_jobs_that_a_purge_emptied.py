"""A job knows when a purge took the last of what it had archived."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("jobs", sa.Column("emptied_at", sa.DateTime(timezone=True), nullable=True))
