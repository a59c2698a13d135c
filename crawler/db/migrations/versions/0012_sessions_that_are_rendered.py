"""A session knows whether its pages are rendered; those there are were not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("sessions", sa.Column("render", sa.String(), nullable=True))
    op.execute(sa.table("sessions", sa.column("render")).update().values(render="0"))
    with op.batch_alter_table("sessions") as altered:
        altered.alter_column("render", existing_type=sa.String(), nullable=False)
        altered.create_check_constraint(op.f("ck_sessions_render"), "render IN ('0', '1', 'auto')")
