"""What a person should look at in a run: noted once however often it comes, listed, and resolved.

What has the stage, URL and message of something noted before in its run raises that row's count. If it was
resolved, it is open again: whoever resolved it was mistaken.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, and_, cast, func, literal, select, update

from crawler.db.models import Asset, AssetSighting, CrawlException
from crawler.db.upsert import insert_into
from crawler.storable import as_json, as_text
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

MAX_URL_CHARS = 8192
# Of a context.
MAX_VALUES = 100
MAX_VALUE_CHARS = 500
MAX_DEPTH = 4
MAX_MESSAGE_CHARS = 1000
MAX_RESOLUTION_CHARS = 1000
MAX_NAME_CHARS = 200
GONE = "no page of the run had it any more"


class Stage(StrEnum):
    """Where in a run it happened."""

    FETCH = "fetch"
    PARSE = "parse"
    PLUGIN = "plugin"
    DISAPPEARED = "disappeared"


def note(  # ruff: ignore[too-many-positional-arguments] - they stand as in the row
    db: Session,
    run_id: int,
    stage: Stage | str,
    url: str,
    message: str,
    context: Mapping[str, Any],
    now: datetime,
) -> int:
    """Note one; its texts are cut and its passwords go, so that nothing in it can fail a page. Its id."""
    stage = Stage(stage)
    url, message = as_text(url, MAX_URL_CHARS), as_text(redacted(message), MAX_MESSAGE_CHARS)
    adding = insert_into(db, CrawlException).values(
        run_id=run_id, stage=stage.value, url=url, message=message, key=_key(stage, url, message),
        context=as_json(context, MAX_VALUE_CHARS, values=MAX_VALUES, depth=MAX_DEPTH),
        times=1, created_at=now, last_at=now,
    )  # fmt: skip
    statement = adding.on_conflict_do_update(
        index_elements=[CrawlException.run_id, CrawlException.key],
        set_={
            "times": CrawlException.times + 1,
            "context": adding.excluded.context,
            "last_at": now,
            **dict.fromkeys(("resolved_at", "resolved_by", "resolution")),
        },
    )
    return db.execute(statement.returning(CrawlException.id)).scalar_one()


def note_disappeared(db: Session, run_id: int, now: datetime) -> int:
    """Note each URL of which an asset was marked missing at `now`, in one statement; how many there are."""
    gone = (
        select(
            literal(run_id), literal(Stage.DISAPPEARED.value), Asset.url, literal(GONE),
            literal("asset:") + cast(func.min(Asset.id), String), func.count(),
            literal({}, CrawlException.context.type), literal(now, CrawlException.created_at.type),
            literal(now, CrawlException.last_at.type),
        )
        .join(AssetSighting, and_(AssetSighting.asset_id == Asset.id, AssetSighting.run_id == run_id))
        .where(AssetSighting.status == "missing", Asset.missing_since == now)
        .group_by(Asset.url)
    )  # fmt: skip
    columns = ["run_id", "stage", "url", "message", "key", "times", "context", "created_at", "last_at"]
    statement = insert_into(db, CrawlException).from_select(columns, gone)
    adding = statement.on_conflict_do_nothing(index_elements=[CrawlException.run_id, CrawlException.key])
    return db.connection().execute(adding, execution_options={"preserve_rowcount": True}).rowcount


def resolve(
    db: Session,
    *,
    ids: Collection[int] | None = None,
    run_id: int | None = None,
    stage: Stage | None = None,
    by: str,
    resolution: str,
    now: datetime,
) -> int:
    """Close the open ones that are meant, by their ids or by run and stage; how many were open."""
    if ids is None and run_id is None and stage is None:
        raise ValueError("name what is resolved")
    changing = (
        update(CrawlException)
        .where(*_which(ids=ids, run_id=run_id, stage=stage, open_only=True))
        .values(
            resolved_at=now,
            resolved_by=as_text(by, MAX_NAME_CHARS),
            resolution=as_text(resolution, MAX_RESOLUTION_CHARS) or None,
        )
    )
    return db.connection().execute(changing).rowcount


def unknown(db: Session, ids: Collection[int]) -> list[int]:
    """Those of the ids that there is nothing of."""
    known = set(db.scalars(select(CrawlException.id).where(CrawlException.id.in_(ids))))
    return sorted(set(ids) - known)


def _which(
    *,
    ids: Collection[int] | None = None,
    run_id: int | None = None,
    stage: Stage | None = None,
    open_only: bool,
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if ids is not None:
        conditions.append(CrawlException.id.in_(ids))
    if run_id is not None:
        conditions.append(CrawlException.run_id == run_id)
    if stage is not None:
        conditions.append(CrawlException.stage == stage.value)
    if open_only:
        conditions.append(CrawlException.resolved_at.is_(None))
    return conditions


def _key(stage: Stage, url: str, message: str) -> str:
    return hashlib.sha256(f"{stage.value}\0{url}\0{message}".encode()).hexdigest()
