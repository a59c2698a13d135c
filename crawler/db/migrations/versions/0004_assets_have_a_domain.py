"""An asset names the domain that it was read from, and is found by its age, its page and its run."""

from __future__ import annotations

from urllib.parse import urlsplit

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ASSETS = sa.table("assets", sa.column("id", sa.BigInteger()), sa.column("url"), sa.column("domain"))
_PORTS = {"http": 80, "https": 443}


def upgrade() -> None:
    """Add the column and the indexes; what is there was read, as far as is known, where its URL leads."""
    op.add_column("assets", sa.Column("domain", sa.String(), nullable=True))
    op.create_index(op.f("ix_assets_last_seen_at_id"), "assets", ["last_seen_at", "id"])
    op.create_index(op.f("ix_asset_versions_page_id"), "asset_versions", ["page_id"])
    op.create_index(op.f("ix_asset_sightings_asset_id"), "asset_sightings", ["asset_id"])
    connection = op.get_bind()
    for row in connection.execute(sa.select(_ASSETS.c.id, _ASSETS.c.url)).fetchall():
        named = sa.update(_ASSETS).where(_ASSETS.c.id == row.id).values(domain=_domain_of(row.url))
        connection.execute(named)
    with op.batch_alter_table("assets") as assets:
        assets.alter_column("domain", existing_type=sa.String(), nullable=False)


def _domain_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    host = (parts.hostname or "").removeprefix("www.").removesuffix(".")
    return host if port in {None, _PORTS.get(parts.scheme)} else f"{host}:{port}"
