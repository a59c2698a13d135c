"""Each stored answer is a record, in a WARC file or in an artifact; what has a date is what expires."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_EXPIRING = "retention_until IS NOT NULL AND deleted_at IS NULL AND NOT legal_hold"


def upgrade() -> None:
    """Make both tables, let pages refer to them, and have dates instead of a type say what expires."""
    _warc_files()
    _records()
    with op.batch_alter_table("pages") as pages:
        pages.add_column(sa.Column("record_id", _KEY, nullable=True))
        pages.add_column(sa.Column("content_sha256", sa.String(), nullable=True))
        pages.create_foreign_key(
            op.f("fk_pages_record_id"), "records", ["record_id"], ["id"], ondelete="SET NULL"
        )
        pages.create_index(op.f("ix_pages_record_id"), ["record_id"])
    _artifacts()


def _warc_files() -> None:
    op.create_table(
        "warc_files",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("job_id", _KEY, nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("artifact_id", sa.Uuid(), nullable=True),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=True),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("records_bad", sa.Integer(), nullable=False),
        sa.Column("damage", _JSON, nullable=True),
        sa.Column("first_at", _TIME, nullable=True),
        sa.Column("last_at", _TIME, nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("sealed_at", _TIME, nullable=True),
        sa.Column("gone_at", _TIME, nullable=True),
        sa.Column("gone_why", sa.String(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'sealed', 'damaged', 'gone')", name=op.f("ck_warc_files_state")
        ),
        _reference("warc_files", "artifact_id", "artifacts", "SET NULL"),
        _reference("warc_files", "session_id", "sessions", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_warc_files")),
        sa.UniqueConstraint("folder", "path", name=op.f("uq_warc_files_folder_path")),
    )
    for column in ("artifact_id", "job_id", "session_id"):
        op.create_index(op.f(f"ix_warc_files_{column}"), "warc_files", [column])


def _records() -> None:
    op.create_table(
        "records",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("warc_file_id", _KEY, nullable=True),
        sa.Column("artifact_id", sa.Uuid(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("record_urn", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("original_id", _KEY, nullable=True),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("url_key", sa.String(), nullable=False),
        sa.Column("captured_at", _TIME, nullable=True),
        sa.Column("mime_type", sa.String(), nullable=True),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("payload_digest", sa.String(), nullable=True),
        sa.Column("gone_at", _TIME, nullable=True),
        sa.CheckConstraint("kind IN ('response', 'revisit', 'resource')", name=op.f("ck_records_kind")),
        sa.CheckConstraint(
            "(warc_file_id IS NULL) <> (artifact_id IS NULL)", name=op.f("ck_records_one_container")
        ),
        _reference("records", "artifact_id", "artifacts", "CASCADE"),
        _reference("records", "original_id", "records", "SET NULL"),
        _reference("records", "warc_file_id", "warc_files", "CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_records")),
        sa.UniqueConstraint("artifact_id", name=op.f("uq_records_artifact_id")),
        sa.UniqueConstraint("warc_file_id", "offset", name=op.f("uq_records_warc_file_id_offset")),
    )
    op.create_index(op.f("ix_records_original_id"), "records", ["original_id"])
    op.create_index(op.f("ix_records_url_key_captured_at"), "records", ["url_key", "captured_at"])


def _reference(table: str, column: str, to: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"), ondelete=ondelete
    )


def _artifacts() -> None:
    for index in ("ix_artifacts_untried", "ix_artifacts_failed"):
        op.drop_index(index, "artifacts")
    with op.batch_alter_table("artifacts") as artifacts:
        artifacts.drop_constraint(op.f("ck_artifacts_only_html_expires"), type_="check")
        artifacts.create_check_constraint(
            op.f("ck_artifacts_may_expire"), "type IN ('html_gz', 'warc') OR retention_until IS NULL"
        )
    untried, failed = f"{_EXPIRING} AND cleanup_attempts = 0", f"{_EXPIRING} AND cleanup_attempts > 0"
    op.create_index("ix_artifacts_untried", "artifacts", ["retention_until", "id"], **_only_where(untried))
    op.create_index("ix_artifacts_failed", "artifacts", ["cleanup_next", "id"], **_only_where(failed))


def _only_where(condition: str) -> dict[str, Any]:
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(condition)}
