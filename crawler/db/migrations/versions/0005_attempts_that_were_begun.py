"""A task's attempt counts when it is begun, not when it is leased; deaths of workers are counted apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both; what is leased, by workers that are gone, gets the attempt back that its lease has cost."""
    op.add_column("tasks", sa.Column("begun_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("tasks", sa.Column("deaths", sa.Integer(), nullable=True))
    tasks = sa.table("tasks", sa.column("status"), sa.column("attempts"), sa.column("deaths"))
    op.execute(tasks.update().values(deaths=0))
    held = tasks.update().where(tasks.c.status == "in_progress")
    op.execute(held.values(attempts=tasks.c.attempts - 1))
    with op.batch_alter_table("tasks") as altered:
        altered.alter_column("deaths", existing_type=sa.Integer(), nullable=False)
