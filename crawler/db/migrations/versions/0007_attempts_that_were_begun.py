"""A task's attempt counts when it is begun, not when it is leased; deaths of workers are counted apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both; what is leased, by workers that are gone, gets the attempt back that its lease has cost."""
    for name in ("tasks", "job_steps"):
        op.add_column(name, sa.Column("begun_at", sa.DateTime(timezone=True), nullable=True))
        op.add_column(name, sa.Column("deaths", sa.Integer(), nullable=True))
        table = sa.table(name, sa.column("status"), sa.column("attempts"), sa.column("deaths"))
        op.execute(table.update().values(deaths=0))
        held = table.update().where(table.c.status == "in_progress")
        op.execute(held.values(attempts=table.c.attempts - 1))
        with op.batch_alter_table(name) as altered:
            altered.alter_column("deaths", existing_type=sa.Integer(), nullable=False)
