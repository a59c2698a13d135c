"""A product's asset names its listing, and is known by what the listing is known by."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ASSETS = sa.table(
    "assets",
    sa.column("id", sa.BigInteger()),
    sa.column("source", sa.String()),
    sa.column("plugin", sa.String()),
    sa.column("key", sa.String()),
    sa.column("key_sha256", sa.String()),
    sa.column("last_run_id", sa.BigInteger()),
    sa.column("listing_id", sa.Uuid()),
)
_LISTINGS = sa.table("listings", sa.column("id", sa.Uuid()), sa.column("url_sha256", sa.String()))


def upgrade() -> None:
    """Add the columns, and tie the products that are there to their listings."""
    op.add_column("listings", sa.Column("mpn", sa.String(), nullable=True))
    with op.batch_alter_table("asset_versions") as versions:
        versions.alter_column("run_id", existing_type=sa.BigInteger(), nullable=True)
    with op.batch_alter_table("assets") as assets:
        assets.add_column(sa.Column("listing_id", sa.Uuid(), nullable=True))
        assets.create_foreign_key(
            op.f("fk_assets_listing_id"), "listings", ["listing_id"], ["id"], ondelete="SET NULL"
        )
        assets.create_index(op.f("ix_assets_listing_id"), ["listing_id"])
    _tie_products()


def _tie_products() -> None:
    """Give each listing the asset that was seen last; those of its other SKUs stay as they were.

    The key was the listing's URL, `#`, and the SKU; a canonical URL has no `#` itself.
    """
    connection = op.get_bind()
    tied: set[tuple[str, str]] = set()
    products = sa.select(_ASSETS.c.id, _ASSETS.c.source, _ASSETS.c.key).where(_ASSETS.c.plugin == "product")
    for row in connection.execute(
        products.order_by(_ASSETS.c.last_run_id.desc(), _ASSETS.c.id.desc())
    ).fetchall():
        url, _, _ = row.key.partition("#")
        digest = hashlib.sha256(url.encode()).hexdigest()
        listing = connection.scalar(sa.select(_LISTINGS.c.id).where(_LISTINGS.c.url_sha256 == digest))
        if listing is None or (row.source, url) in tied:
            continue
        tied.add((row.source, url))
        connection.execute(
            sa.update(_ASSETS)
            .where(_ASSETS.c.id == row.id)
            .values(key=url, key_sha256=digest, listing_id=listing)
        )
