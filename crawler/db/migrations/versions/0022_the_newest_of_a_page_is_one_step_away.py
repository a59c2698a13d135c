"""The newest capture of a page is the last one of an index, however little a database knows of its tables."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Have the index of a page's captures order those of one moment too.

    Without that, a PostgreSQL that has not looked at a new table yet takes the index of all captures by their
    time, and reads from its end until it meets one of the page: of a first large archive, nearly everything.
    """
    op.create_index(
        op.f("ix_snapshots_group_id_captured_at_id"), "snapshots", ["group_id", "captured_at", "id"]
    )
    op.drop_index(op.f("ix_snapshots_group_id_captured_at"), "snapshots")
