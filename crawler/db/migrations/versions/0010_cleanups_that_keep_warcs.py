"""A job's cleanup may have taken everything temporary but its WARC files."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let the column say so."""
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_constraint(op.f("ck_jobs_cleanup_status"), type_="check")
        jobs.create_check_constraint(
            op.f("ck_jobs_cleanup_status"),
            "cleanup_status IN ('none', 'temp_cleaned', 'temp_nonwarc_cleaned')",
        )
