"""Captures are compared with the ones before; texts know their headings; keys of URLs are sorted by bytes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TABLE = "snapshot_changes"
_COUNTS = ("added_sections", "removed_sections", "changed_sections", "added_lines", "removed_lines")
_INDEXES = (
    ("from_snapshot_id",), ("group_id",), ("source_id", "to_captured_at", "id"), ("to_captured_at", "id"),
    ("to_job_id",),
)  # fmt: skip


def upgrade() -> None:
    """Add the table and the column, and let PostgreSQL sort keys as index files are sorted."""
    op.add_column(
        "texts", sa.Column("headings", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=True)
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE records ALTER COLUMN url_key TYPE VARCHAR COLLATE "C"')
    op.create_table(
        _TABLE,
        sa.Column("id", _KEY, nullable=False),
        sa.Column("source_id", _KEY, nullable=False),
        sa.Column("group_id", _KEY, nullable=False),
        sa.Column("from_snapshot_id", _KEY, nullable=True),
        sa.Column("to_snapshot_id", _KEY, nullable=False),
        sa.Column("from_job_id", _KEY, nullable=True),
        sa.Column("to_job_id", _KEY, nullable=True),
        sa.Column("from_captured_at", _TIME, nullable=True),
        sa.Column("to_captured_at", _TIME, nullable=False),
        sa.Column("from_text_id", _KEY, nullable=True),
        sa.Column("to_text_id", _KEY, nullable=True),
        sa.Column("change_type", sa.String(), nullable=False),
        sa.Column("summary", sa.String(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _COUNTS),
        sa.Column("change_ratio", sa.Double(), nullable=False),
        *(
            sa.Column(name, sa.Boolean(), nullable=False)
            for name in ("high_noise", "diff_truncated", "is_coarse")
        ),
        sa.Column("diff_version", sa.String(), nullable=False),
        sa.Column("normalization_version", sa.String(), nullable=False),
        sa.Column("computed_at", _TIME, nullable=False),
        sa.Column("computed_by", sa.String(), nullable=False),
        sa.Column("error_message", sa.String(), nullable=True),
        *_constraints(),
    )
    for columns in _INDEXES:
        op.create_index(op.f(f"ix_{_TABLE}_{'_'.join(columns)}"), _TABLE, list(columns))


def _constraints() -> list[sa.Constraint]:
    known = "'new_page', 'unchanged', 'updated', 'error'"
    referred = (
        ("source_id", "sources", None), ("group_id", "page_groups", "CASCADE"),
        ("from_snapshot_id", "snapshots", "CASCADE"), ("to_snapshot_id", "snapshots", "CASCADE"),
    )  # fmt: skip
    return [
        sa.CheckConstraint(f"change_type IN ({known})", name=op.f(f"ck_{_TABLE}_change_type")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{_TABLE}")),
        sa.UniqueConstraint("to_snapshot_id", name=op.f(f"uq_{_TABLE}_to_snapshot_id")),
        *(
            sa.ForeignKeyConstraint([name], [f"{table}.id"], name=op.f(f"fk_{_TABLE}_{name}"), ondelete=how)
            for name, table, how in referred
        ),
    ]
