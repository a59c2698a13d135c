"""Assets: what plugins made of pages, what a run found of it, and how it changed.

To show one more column takes the column in `crawler/db/models/assets.py`, a migration, and a field of the
same name in `AssetDocument` or `VersionDocument` here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, case, select

from crawler.catalogue.assets import AssetStatus, Change, changes
from crawler.db import lookup
from crawler.db.models import Asset, AssetSighting, AssetVersion
from crawler.views.documents import document_of
from crawler.views.paging import ALL, Newest, equals, page

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted

NEWEST = Newest(
    table=Asset,
    by=(Asset.id,),
    time=Asset.last_seen_at,
    domain=equals(Asset.domain),
)


@frozen(kw_only=True)
class AssetDocument:
    """An asset as it is now."""

    id: int
    source: str
    plugin: str
    kind: str
    key: str
    url: str
    title: str | None
    checksum: str
    versions: int
    first_seen_at: datetime
    last_seen_at: datetime
    last_run_id: int
    missing_since: datetime | None
    listing_id: UUID | None


@frozen(kw_only=True)
class SeenAsset(AssetDocument):
    """An asset with what a run found of it."""

    status: str | None  # None where the run's records are gone


@frozen(kw_only=True)
class VersionDocument:
    """An asset as it was from one change to the next."""

    number: int
    checksum: str
    run_id: int | None  # None where a visit outside of any run saw it
    page_id: UUID | None
    seen_at: datetime
    content: dict[str, Any]
    details: dict[str, Any]
    changes: tuple[Change, ...]  # since the version before; none in the first, where everything is new


@frozen(kw_only=True)
class AssetHistory(AssetDocument):
    """An asset with its versions, the oldest first."""

    history: tuple[VersionDocument, ...]


def newest(
    db: Session,
    wanted: Wanted = ALL,
    *,
    source: str | None = None,
    run_id: int | None = None,
    status: AssetStatus | None = None,
) -> list[SeenAsset]:
    """Assets, those that came last first, each with what a run found of it; without a run the newest one."""
    sighted = and_(
        AssetSighting.asset_id == Asset.id,
        AssetSighting.run_id == (Asset.last_run_id if run_id is None else run_id),
    )
    found: ColumnElement[Any] = AssetSighting.status.expression
    if run_id is None:
        found = case((Asset.missing_since.is_not(None), AssetStatus.MISSING.value), else_=found)
    query = select(Asset, found).join(AssetSighting, sighted, isouter=run_id is None)
    query = query.where(Asset.source == source) if source else query
    query = query.where(found == status.value) if status else query
    rows = db.execute(page(db, query, NEWEST, wanted))
    return [document_of(SeenAsset, asset, status=how) for asset, how in rows]


def history(db: Session, asset_id: int, limit: int) -> AssetHistory:
    """An asset with its newest versions, each with what changed in it."""
    asset = lookup.find(db, Asset, str(asset_id))
    query = (
        select(AssetVersion)
        .where(AssetVersion.asset_id == asset.id)
        .order_by(AssetVersion.number.desc())
        .limit(limit + 1)  # one more, to tell what changed in the oldest one that is shown
    )
    versions = db.scalars(query).all()[::-1]
    steps = [document_of(VersionDocument, version, changes=()) for version in versions[:1]]
    for old, new in pairwise(versions):
        changed = tuple(changes(old.content, new.content))
        steps.append(document_of(VersionDocument, new, changes=changed))
    return document_of(AssetHistory, asset, history=tuple(steps[-limit:]))
