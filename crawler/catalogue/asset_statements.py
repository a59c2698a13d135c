"""The statements that write assets, each built once: they run for every page. Pure."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import case

from crawler.db.models import Asset, AssetSighting, AssetVersion
from crawler.db.upsert import insert_for

if TYPE_CHECKING:
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.db.upsert import Insert


@cache
def adding_assets(dialect: str) -> ReturningInsert[str, str, int, int]:
    """New assets, and those that are there as they are now: plugin, key digest, id, number of versions."""
    adding = insert_for(dialect, Asset)
    new = adding.excluded
    is_older = Asset.last_run_id > new.last_run_id
    return adding.on_conflict_do_update(
        index_elements=[Asset.source, Asset.plugin, Asset.key_sha256],
        set_={
            "kind": new.kind,
            "url": new.url,
            "title": new.title,
            "versions": Asset.versions + case((Asset.checksum != new.checksum, 1), else_=0),
            "checksum": new.checksum,
            "last_seen_at": new.last_seen_at,
            "last_run_id": case((is_older, Asset.last_run_id), else_=new.last_run_id),
            "missing_since": None,
        },
    ).returning(Asset.plugin, Asset.key_sha256, Asset.id, Asset.versions)


@cache
def adding_versions(dialect: str) -> ReturningInsert[int]:
    """Versions whose number is not there yet: the ids of their assets."""
    return (
        insert_for(dialect, AssetVersion)
        .on_conflict_do_nothing(index_elements=[AssetVersion.asset_id, AssetVersion.number])
        .returning(AssetVersion.asset_id)
    )


@cache
def adding_sightings(dialect: str) -> Insert:
    """What a run finds; what it found first stays, unless what it finds later is a change."""
    adding = insert_for(dialect, AssetSighting)
    before, found = AssetSighting.status, adding.excluded.status
    is_more = (before == "new") | ((before == "updated") & (found == "unchanged"))
    return adding.on_conflict_do_update(
        index_elements=[AssetSighting.run_id, AssetSighting.asset_id],
        set_={"status": case((is_more, before), else_=found)},
    )
