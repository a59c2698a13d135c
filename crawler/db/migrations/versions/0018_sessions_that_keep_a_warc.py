"""A session knows whether it keeps a WARC; of those there are the evidence packs did."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("sessions", sa.Column("warc", sa.Boolean(), nullable=True))
    sessions = sa.table("sessions", sa.column("warc"), sa.column("mode"))
    op.execute(sessions.update().values(warc=sessions.c.mode == "evidence_pack"))
    with op.batch_alter_table("sessions") as altered:
        altered.alter_column("warc", existing_type=sa.Boolean(), nullable=False)
