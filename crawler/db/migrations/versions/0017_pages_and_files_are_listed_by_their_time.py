"""Pages and files are listed and exported from the newest to the oldest, whichever session they are of."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let an index have them in that order."""
    for table in ("pages", "artifacts"):
        op.create_index(op.f(f"ix_{table}_created_at_id"), table, ["created_at", "id"])
