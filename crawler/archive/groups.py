"""Page groups: which URLs are one page, what its captures come to, who leads to it (SPEC 25-26, 62).

All of it is written in the transaction that writes the captures, for the groups that these touch.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import bindparam, delete, func, select, update

from crawler.db.lists import evened
from crawler.db.models import LinkCount, Outlink, PageGroup, Snapshot
from crawler.db.upsert import insert_many, insert_rows, taking
from crawler.errors import BadUrlError
from crawler.html.content import MAX_URL_CHARS
from crawler.urls import canonical, without_tracking
from crawler.warc.cdxj import url_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from sqlalchemy import Select, Table
    from sqlalchemy.orm import Session

BY_PATH = "path"
SHOWN_CLASSES = (0, 2)  # answers that are shown without being asked for
_GROUPS = cast("Table", PageGroup.__table__)
_KEY_BYTES = 8
_AT_ONCE = 500  # keys in one statement


def group_key(url: str, by: str = "query") -> str:
    """Return the spelling that all URLs of one page share: without tracking parameters, the rest sorted.

    With `by="path"` the query makes no difference.
    """
    try:
        key = without_tracking(canonical(url))
    except (BadUrlError, ValueError):
        key = url
    return (key.partition("?")[0] if by == BY_PATH else key)[:MAX_URL_CHARS]


@lru_cache(maxsize=8_192)  # a site's pages lead to each other, again and again
def link_key(url: str, by: str = "query") -> int:
    """Return a number for the page that a URL is of, whatever its scheme, `www.` and tracking parameters."""
    key = url_key(url.partition("?")[0] if by == BY_PATH else without_tracking(url))
    digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


def ensure(db: Session, keys: Collection[tuple[int, str]], link_keys: Mapping[str, int]) -> dict[
    tuple[int, str], int
]:  # fmt: skip
    """The ids of groups, by source and key; those that are not there are made, and know who leads to them."""
    found = _ids(db, keys)
    missing = sorted(key for key in keys if key not in found)
    if not missing:
        return found
    rows = [
        {"source_id": source, "group_key": key, "link_key": link_keys[key], "snapshot_count": 0,
         "inlink_count": 0, "outlink_count": 0}
        for source, key in missing
    ]  # fmt: skip
    insert_rows(db, _GROUPS, rows)
    made = _ids(db, missing)
    count_inlinks(db, made.values())
    return found | made


def _ids(db: Session, keys: Collection[tuple[int, str]]) -> dict[tuple[int, str], int]:
    query = select(PageGroup.source_id, PageGroup.group_key, PageGroup.id).where(
        PageGroup.source_id.in_({source for source, _ in keys}),
        PageGroup.group_key.in_(evened({key for _, key in keys})),
    )
    # They stay until this transaction's end: a purge that has them already is waited for.
    rows = db.execute(query.with_for_update(read=True)).all()
    return {(source, key): group for source, key, group in rows if (source, key) in keys}


# ── what a group's captures come to ──


def _of_group(*columns: Any, good: bool = False) -> Select[Any]:
    query = select(*columns).where(Snapshot.group_id == PageGroup.id)
    return query.where(Snapshot.status_class.in_(SHOWN_CLASSES)) if good else query


def _newest(column: Any, *, good: bool) -> Any:
    query = _of_group(column, good=good).order_by(Snapshot.captured_at.desc(), Snapshot.id.desc())
    return query.limit(1).scalar_subquery()


_REFRESHED = update(PageGroup).values(
    snapshot_count=_of_group(func.count()).scalar_subquery(),
    first_at=_of_group(func.min(Snapshot.captured_at)).scalar_subquery(),
    last_at=_of_group(func.max(Snapshot.captured_at)).scalar_subquery(),
    latest_snapshot_id=_newest(Snapshot.id, good=False),
    latest_ok_snapshot_id=_newest(Snapshot.id, good=True),
    shown_class=_newest(Snapshot.status_class, good=True),
    shown_at=_newest(Snapshot.captured_at, good=True),
)
_REFRESHED_SOME = _REFRESHED.where(PageGroup.id.in_(bindparam("ids", expanding=True)))
_QUIETLY = {"synchronize_session": False}


def refresh(db: Session, ids: Iterable[int]) -> None:
    """Write anew what the captures of some groups come to."""
    for some in _some(ids):
        db.execute(_REFRESHED_SOME, {"ids": some}, execution_options=_QUIETLY)


# ── which pages lead to which ──


@frozen
class Links:
    """Where a good capture of a group leads."""

    captured_at: datetime
    targets: frozenset[int]


def write_links(db: Session, found: Mapping[int, Links]) -> None:
    """Keep the links of each group's newest capture, and count them where they lead."""
    found = _newest_only(db, found)
    if not found:
        return
    before = _links_of(db, found)
    counts: Counter[int] = Counter()
    changed = []
    for group, new in found.items():
        old = before.get(group, set())
        if new.targets != old:
            counts.update(new.targets - old)
            counts.subtract(old - new.targets)
            changed.append({"group_id": group, "targets": packed(new.targets)})
    if changed:
        insert_rows(db, _OUTLINKS, changed, on_conflict=_TAKING)
    add_to_counts(db, counts)
    counted = update(_GROUPS).where(_GROUPS.c.id == bindparam("its_id"))
    said = [
        {"its_id": group, "how_many": len(new.targets), "at": new.captured_at} for group, new in found.items()
    ]
    db.connection().execute(
        counted.values(outlink_count=bindparam("how_many"), links_at=bindparam("at")), said
    )


def packed(targets: Iterable[int]) -> bytes:
    """Link keys as they are kept."""
    keys = sorted(targets)
    return pack(f"<{len(keys)}q", *keys)


def unpacked(kept: bytes) -> tuple[int, ...]:
    """The link keys that are kept so."""
    return unpack(f"<{len(kept) // _KEY_BYTES}q", kept)


def _newest_only(db: Session, found: Mapping[int, Links]) -> dict[int, Links]:
    query = select(PageGroup.id, PageGroup.link_key, PageGroup.links_at).where(
        PageGroup.id.in_(evened(found))
    )
    kept: dict[int, Links] = {}
    for group, own, at in db.execute(query):
        new = found[group]
        if at is None or new.captured_at >= at:
            kept[group] = Links(new.captured_at, new.targets - {own})
    return kept


def _links_of(db: Session, groups: Collection[int]) -> dict[int, set[int]]:
    query = select(Outlink.group_id, Outlink.targets).where(Outlink.group_id.in_(evened(groups)))
    return {group: set(unpacked(targets)) for group, targets in db.execute(query)}


_OUTLINKS = cast("Table", Outlink.__table__)
_TAKING = taking(_OUTLINKS, ("group_id",), ("targets",))
_LEADING = select(LinkCount.pages).where(LinkCount.target == PageGroup.link_key)
_COUNTED = (
    update(PageGroup)
    .where(PageGroup.id.in_(bindparam("ids", expanding=True)))
    .values(inlink_count=func.coalesce(_LEADING.scalar_subquery(), 0))
)


def count_inlinks(db: Session, ids: Iterable[int]) -> None:
    """Have some groups know anew how many pages lead to them."""
    for some in _some(ids):
        db.execute(_COUNTED, {"ids": some}, execution_options=_QUIETLY)


def add_to_counts(db: Session, counts: Mapping[int, int]) -> None:
    """Count more links, or fewer, to what they lead to, and tell the groups that are that."""
    rows = sorted((to, count) for to, count in counts.items() if count)
    add = "(target) DO UPDATE SET pages = link_counts.pages + excluded.pages"
    insert_many(db, "link_counts", ("target", "pages"), rows, on_conflict=add)
    fewer = [to for to, count in rows if count < 0]
    for some in _some(fewer):
        db.execute(delete(LinkCount).where(LinkCount.target.in_(some), LinkCount.pages <= 0))
    groups = [
        group
        for some in _some(to for to, _ in rows)
        for group in db.scalars(select(PageGroup.id).where(PageGroup.link_key.in_(some)))
    ]
    count_inlinks(db, groups)


def _some(ids: Iterable[int]) -> Iterable[list[int]]:
    every = sorted(ids)
    return (evened(every[begin : begin + _AT_ONCE]) for begin in range(0, len(every), _AT_ONCE))
