"""Assets in the database: what each run saw of them, and a version for each change."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, case, func, literal, select, update

from crawler.db.models import Asset, AssetSighting, AssetVersion
from crawler.db.upsert import dialect_of, insert_for, insert_into

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.catalogue.plugins import AssetRecord
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


# ── assets in the database: what each run saw of them, and a version for each change ──


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
class _Sight:
    """Where and when records are found."""

    source: str
    run_id: int
    page_id: UUID | None
    now: datetime


def see(
    db: Session,
    source: str,
    run_id: int,
    records: Iterable[tuple[str, AssetRecord]],
    *,
    page_id: UUID | None,
    now: datetime,
) -> list[Seen]:
    """Write what plugins found in one page; of two records of one asset the first counts.

    The rows are locked in the order of their keys, until the transaction ends. Transactions over several
    pages can still meet crosswise; PostgreSQL then refuses one of the pages, which is to be rolled back to
    its savepoint and repeated after the others were committed.
    """
    by_key: dict[tuple[str, str], AssetRecord] = {}
    for plugin, record in records:
        by_key.setdefault((plugin, record.key_sha256), record)
    if not by_key:
        return []
    return _see(db, _Sight(source, run_id, page_id, now), dict(sorted(by_key.items(), key=itemgetter(0))))


def mark_missing(
    db: Session, source: str, run_id: int, now: datetime, *, plugins: Collection[str] | None = None
) -> list[tuple[int, str, str]]:
    """Note what a completed run did not see; give back id, plugin and URL of what was there until now.

    With `plugins` only their assets are looked at: one that was not asked to look has missed nothing.
    """
    # A run that began later has seen the others; what this one did not see of them says nothing.
    is_unseen = and_(Asset.source == source, Asset.last_run_id < run_id)
    if plugins is not None:
        is_unseen = and_(is_unseen, Asset.plugin.in_(plugins))
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


def counts(db: Session, run_id: int) -> dict[str, dict[str, int]]:
    """How many assets a run found new, updated, unchanged and missing, by plugin."""
    query = (
        select(Asset.plugin, AssetSighting.status, func.count())
        .join(Asset, Asset.id == AssetSighting.asset_id)
        .where(AssetSighting.run_id == run_id)
        .group_by(Asset.plugin, AssetSighting.status)
        .order_by(Asset.plugin)
    )
    by_plugin: dict[str, dict[str, int]] = {}
    for plugin, status, number in db.execute(query):
        by_plugin.setdefault(plugin, dict.fromkeys(map(str, AssetStatus), 0))[status] = number
    return by_plugin


def _see(db: Session, sight: _Sight, records: dict[tuple[str, str], AssetRecord]) -> list[Seen]:
    numbers = _note_assets(db, sight, records)
    fresh = _note_versions(db, sight, records, numbers)
    seen = [
        Seen(asset_id, plugin, record.kind, record.url, _status(number, is_fresh=asset_id in fresh))
        for (plugin, key), record in records.items()
        for asset_id, number in [numbers[plugin, key]]
    ]
    _note_sightings(db, sight, seen)
    return seen


def _status(number: int, *, is_fresh: bool) -> AssetStatus:
    if not is_fresh:
        return AssetStatus.UNCHANGED
    return AssetStatus.NEW if number == 1 else AssetStatus.UPDATED


def _note_assets(
    db: Session, sight: _Sight, records: dict[tuple[str, str], AssetRecord]
) -> dict[tuple[str, str], tuple[int, int]]:
    """Id and version number of each asset by plugin and key; each row is ours until the transaction ends."""
    rows = [_row(sight, plugin, record) for (plugin, _), record in records.items()]
    found = db.connection().execute(adding_assets(dialect_of(db)), rows)
    return {(plugin, key): (asset_id, number) for plugin, key, asset_id, number in found}


def _row(sight: _Sight, plugin: str, record: AssetRecord) -> dict[str, Any]:
    return {
        "source": sight.source,
        "plugin": plugin,
        "kind": record.kind,
        "key": record.key,
        "key_sha256": record.key_sha256,
        "url": record.url,
        "title": record.title,
        "checksum": record.checksum,
        "versions": 1,
        "first_seen_at": sight.now,
        "last_seen_at": sight.now,
        "last_run_id": sight.run_id,
    }


def _note_versions(
    db: Session,
    sight: _Sight,
    records: dict[tuple[str, str], AssetRecord],
    numbers: dict[tuple[str, str], tuple[int, int]],
) -> set[int]:
    """The assets whose newest version this is the first to write: the number says that there is one more."""
    rows = [
        {
            "asset_id": numbers[key][0], "number": numbers[key][1], "checksum": record.checksum,
            "content": record.content, "details": record.details,
            "run_id": sight.run_id, "page_id": sight.page_id, "seen_at": sight.now,
        }
        for key, record in records.items()
    ]  # fmt: skip
    return set(db.connection().scalars(adding_versions(dialect_of(db)), rows))


def _note_sightings(db: Session, sight: _Sight, seen: Sequence[Seen]) -> None:
    rows = [{"run_id": sight.run_id, "asset_id": each.asset_id, "status": each.status.value} for each in seen]
    db.connection().execute(adding_sightings(dialect_of(db)), rows)
