"""A snapshot knows where a static copy of its page was written to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("snapshots", sa.Column("raw_snapshot_path", sa.String(), nullable=True))
