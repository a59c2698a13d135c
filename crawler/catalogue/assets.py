"""Assets in the database: what each run saw of them, and a version for each change."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import and_, bindparam, case, literal, select, update

from crawler.catalogue.plugins import AssetRecord
from crawler.catalogue.plugins.built_in import ProductPlugin
from crawler.catalogue.product_facts import content_of
from crawler.db.models import Asset, AssetSighting, AssetVersion
from crawler.db.upsert import for_both, insert_into

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.catalogue.products import Product
    from crawler.db.upsert import Insert


class AssetStatus(StrEnum):
    """What a run found of an asset."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    MISSING = "missing"


@frozen
class Seen:
    """An asset as a page has just shown it."""

    asset_id: int
    plugin: str
    kind: str
    url: str
    status: AssetStatus


@frozen
class Sight:
    """Where and when something is found; visits that no run makes have neither a run nor a source."""

    page_id: UUID | None
    now: datetime
    run_id: int | None = None
    source: str = ""
    domain: str = ""


# ── written with a page ──


def _adding_assets(adding: Insert) -> ReturningInsert[str, str, int, int]:
    """New assets, and those that are there as they are now."""
    new = adding.excluded
    is_older = Asset.last_run_id > new.last_run_id
    return adding.on_conflict_do_update(
        index_elements=[Asset.source, Asset.plugin, Asset.key_sha256],
        set_={
            "kind": new.kind,
            "domain": new.domain,
            "url": new.url,
            "title": new.title,
            "versions": Asset.versions + case((Asset.checksum != new.checksum, 1), else_=0),
            "checksum": new.checksum,
            "last_seen_at": new.last_seen_at,
            "last_run_id": case((is_older, Asset.last_run_id), else_=new.last_run_id),
            "missing_since": None,
            "listing_id": new.listing_id,
        },
    ).returning(Asset.plugin, Asset.key, Asset.id, Asset.versions)


def _adding_sightings(adding: Insert) -> Insert:
    """What a run finds; what it found first stays, unless what it finds later is a change."""
    before, found = AssetSighting.status, adding.excluded.status
    is_more = (before == "new") | ((before == "updated") & (found == "unchanged"))
    return adding.on_conflict_do_update(
        index_elements=[AssetSighting.run_id, AssetSighting.asset_id],
        set_={"status": case((is_more, before), else_=found)},
    )


_ASSETS = cast("Table", Asset.__table__)
_ADD_ASSETS = for_both(Asset, _adding_assets)
# Versions whose number is not there yet.
_ADD_VERSIONS = for_both(
    AssetVersion,
    lambda adding: adding.on_conflict_do_nothing(
        index_elements=[AssetVersion.asset_id, AssetVersion.number]
    ).returning(AssetVersion.asset_id),
)
_ADD_SIGHTINGS = for_both(AssetSighting, _adding_sightings)
_FOLLOW = (
    update(_ASSETS)
    .where(_ASSETS.c.listing_id == bindparam("its_listing"), _ASSETS.c.id != bindparam("own"))
    .values(
        url=bindparam("its_url"),
        title=bindparam("its_title"),
        versions=_ASSETS.c.versions + case((_ASSETS.c.checksum != bindparam("its_checksum"), 1), else_=0),
        checksum=bindparam("its_checksum"),
        last_seen_at=bindparam("its_time"),
        missing_since=None,
    )
    .returning(_ASSETS.c.id, _ASSETS.c.versions)
)
NOBODYS = -1


def see(
    db: Session, sight: Sight, found: Iterable[tuple[str, AssetRecord]], product: Product | None = None
) -> list[Seen]:
    """Write what plugins found in one page; of two records of one asset the first counts.

    What is kept of a product is what is known of it by now, also of the assets that other sources have of
    it. The rows are locked in the order of their keys, until the transaction ends. Transactions over several
    pages can still meet crosswise; PostgreSQL then refuses one of the pages, which is to be rolled back to
    its savepoint and repeated after the others were committed.
    """
    records: dict[tuple[str, str], AssetRecord] = {}
    for plugin, record in found:
        kept = _record_of(product) if product and plugin == ProductPlugin.name else record
        records.setdefault((plugin, kept.key), kept)
    seen = _see(db, sight, dict(sorted(records.items(), key=itemgetter(0))), product) if records else []
    if product is not None and not product.is_new:
        own = (each.asset_id for each in seen if each.plugin == ProductPlugin.name)
        follow(db, sight, product, besides=next(own, NOBODYS))
    return seen


def follow(db: Session, sight: Sight, product: Product, *, besides: int = NOBODYS) -> None:
    """Have the assets that sources have of a product say what is known of it by now."""
    record, connection = _record_of(product), db.connection()
    followed = connection.execute(
        _FOLLOW,
        {
            "its_listing": product.listing_id, "own": besides, "its_url": record.url,
            "its_title": record.title, "its_checksum": record.checksum, "its_time": sight.now,
        },
    ).all()  # fmt: skip
    if followed:
        versions = [_version(sight, asset_id, number, record) for asset_id, number in followed]
        connection.execute(_ADD_VERSIONS[connection.dialect.name], versions)


def _record_of(product: Product) -> AssetRecord:
    known = product.known
    return AssetRecord(
        kind=ProductPlugin.name,
        key=known.identity.url,
        url=product.page_url,
        title=known.name,
        content=content_of(known),
        details={"image": known.image, "policy": product.policy},
    )


def _see(
    db: Session, sight: Sight, records: dict[tuple[str, str], AssetRecord], product: Product | None
) -> list[Seen]:
    connection = db.connection()
    dialect = connection.dialect.name
    rows = [_row(sight, plugin, record, product) for (plugin, _), record in records.items()]
    # The number of versions that each has by now; each row is ours until the transaction ends.
    added = connection.execute(_ADD_ASSETS[dialect], rows)
    numbers = {(plugin, key): (asset_id, number) for plugin, key, asset_id, number in added}
    versions = [_version(sight, *numbers[key], record) for key, record in records.items()]
    # Whose newest version this is the first to write.
    fresh = set(connection.scalars(_ADD_VERSIONS[dialect], versions))
    seen = [
        Seen(asset_id, plugin, record.kind, record.url, _status(number, is_fresh=asset_id in fresh))
        for (plugin, key), record in records.items()
        for asset_id, number in [numbers[plugin, key]]
    ]
    connection.execute(
        _ADD_SIGHTINGS[dialect],
        [{"run_id": sight.run_id, "asset_id": each.asset_id, "status": each.status.value} for each in seen],
    )
    return seen


def _status(number: int, *, is_fresh: bool) -> AssetStatus:
    if not is_fresh:
        return AssetStatus.UNCHANGED
    return AssetStatus.NEW if number == 1 else AssetStatus.UPDATED


def _row(sight: Sight, plugin: str, record: AssetRecord, product: Product | None) -> dict[str, Any]:
    return {
        "source": sight.source,
        "domain": sight.domain,
        "plugin": plugin,
        **{name: getattr(record, name) for name in ("kind", "key", "url", "title", "checksum")},
        "key_sha256": hashlib.sha256(record.key.encode()).hexdigest(),  # stands for the key in the index
        "versions": 1,
        "first_seen_at": sight.now,
        "last_seen_at": sight.now,
        "last_run_id": sight.run_id,
        "listing_id": product.listing_id if product and plugin == ProductPlugin.name else None,
    }


def _version(sight: Sight, asset_id: int, number: int, record: AssetRecord) -> dict[str, Any]:
    return {
        "asset_id": asset_id, "number": number, "checksum": record.checksum, "content": record.content,
        "details": record.details, "run_id": sight.run_id, "page_id": sight.page_id, "seen_at": sight.now,
    }  # fmt: skip


# ── written when a run is over, and asked for afterwards ──


def mark_missing(
    db: Session,
    source: str,
    run_id: int,
    now: datetime,
    *,
    plugins: Collection[str] | None = None,
    within: ColumnElement[bool] | None = None,
) -> list[tuple[int, str, str]]:
    """Note what a completed run did not see; give back id, plugin and URL of what was there until now.

    With `plugins` only their assets are looked at: one that was not asked to look has missed nothing.
    `within` says what the run can tell anything about.
    """
    # A run that began later has seen the others; what this one did not see of them says nothing.
    is_unseen = and_(Asset.source == source, Asset.last_run_id < run_id)
    if plugins is not None:
        is_unseen = and_(is_unseen, Asset.plugin.in_(plugins))
    if within is not None:
        is_unseen = and_(is_unseen, within)
    unseen = select(literal(run_id), Asset.id, literal(AssetStatus.MISSING.value)).where(is_unseen)
    db.execute(
        insert_into(db, AssetSighting)
        .from_select(["run_id", "asset_id", "status"], unseen)
        .on_conflict_do_nothing(index_elements=[AssetSighting.run_id, AssetSighting.asset_id])
    )
    marking = update(Asset).where(is_unseen, Asset.missing_since.is_(None)).values(missing_since=now)
    marked = db.execute(
        marking.returning(Asset.id, Asset.plugin, Asset.url), execution_options={"synchronize_session": False}
    )
    return [(row.id, row.plugin, row.url) for row in marked]


# ── what changed from one version of an asset to the next. Pure ──


ABSENT = object()


@frozen
class Change:
    """A value that came, went, or became another; None is told apart from nothing by `kind`."""

    path: str  # names and positions, as `offers.0.price`
    kind: str  # added, removed or changed
    before: Any = None
    after: Any = None


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Each difference at the deepest place that shows it, in the order of the paths."""
    return sorted(_between("", before, after), key=lambda change: change.path)


def _between(path: str, before: Any, after: Any) -> Iterator[Change]:
    if before is ABSENT:
        yield Change(path, "added", after=after)
    elif after is ABSENT:
        yield Change(path, "removed", before=before)
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _inside(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _inside(path, dict(enumerate(before)), dict(enumerate(after)))
    elif before != after or type(before) is not type(after):
        yield Change(path, "changed", before, after)


def _inside(path: str, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[Change]:
    for name in {**before, **after}:
        inner = f"{path}.{name}" if path else str(name)
        yield from _between(inner, before.get(name, ABSENT), after.get(name, ABSENT))
