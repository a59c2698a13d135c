"""Workers of jobs say that they run, also while they have nothing to do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import TIME

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "job_workers",
        sa.Column("process", sa.String(), nullable=False),
        *(sa.Column(name, TIME, nullable=False) for name in ("started_at", "seen_at", "lasts_until")),
        sa.PrimaryKeyConstraint("process", name=op.f("pk_job_workers")),
    )
