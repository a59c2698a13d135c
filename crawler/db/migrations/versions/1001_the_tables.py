"""All tables, indexes and views, as the models have them."""

from __future__ import annotations

from alembic import op

from crawler.db import tables

revision = "1001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them in a database that has none."""
    tables.make(op.get_bind())
