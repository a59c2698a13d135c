"""Of the hits of a search most are counted and passed over: an index knows what that takes."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let the index on texts know the rest."""
    columns = ["text_id", "deduplicated", "status_class", "captured_at"]
    op.create_index("ix_snapshots_shown", "snapshots", columns)
    op.drop_index(op.f("ix_snapshots_text_id"), "snapshots")
