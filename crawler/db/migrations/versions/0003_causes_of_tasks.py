"""The cause of a task is a column of its own; of a run's worker it can be told whether it is gone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# What errors began with before, as `cause: words`.
CAUSES = (
    "bad_url", "blocked", "bot_block", "connection_failed", "crashed", "domain_held", "egress_refused",
    "empty_page", "http_error", "interrupted", "not_html", "not_stored", "rate_limited", "redirect_loop",
    "robots_refused", "timeout", "too_large", "truncated", "unknown_host", "unreadable",
)  # fmt: skip
# What was said without one.
SAID = {
    "filtered invalid url": "filtered", "filtered by domain rules": "filtered",
    "filtered by path rules": "filtered", "lease expired": "lease_expired",
    "the request got lost in the crawl": "lost",
}  # fmt: skip


def upgrade() -> None:
    """Add both, and take the causes out of the errors that are stored."""
    op.add_column("tasks", sa.Column("cause", sa.String(), nullable=True))
    op.add_column("run_workers", sa.Column("process", sa.String(), nullable=True))
    tasks = sa.table("tasks", sa.column("cause", sa.String()), sa.column("last_error", sa.String()))
    error = tasks.c.last_error
    for cause in CAUSES:
        start = f"{cause}: "
        op.execute(
            tasks.update()
            .where(sa.func.substr(error, 1, len(start)) == start)
            .values(cause=cause, last_error=sa.func.substr(error, len(start) + 1))
        )
    for said, cause in SAID.items():
        op.execute(tasks.update().where(error == said).values(cause=cause))
