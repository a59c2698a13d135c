"""The first tables."""

from __future__ import annotations

from crawler.db.migrations.first_tables import assets, catalogue, records, runs, visits

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table of the first release."""
    catalogue.create()
    runs.create()
    assets.create()
    visits.create()
    records.create()
