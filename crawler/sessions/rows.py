"""What a session's row says, and the fence in front of every write of a running one."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from attrs import fields, frozen
from sqlalchemy import bindparam, insert, update

from crawler.db.models import CrawlSession
from crawler.db.models.sessions import MODES, RENDERS, RETENTIONS
from crawler.errors import CrawlerError
from crawler.pdp import POLICIES
from crawler.sessions.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime, timedelta
    from uuid import UUID

    from sqlalchemy import Table, Update
    from sqlalchemy.orm import Session

    from crawler.db.engine import Transaction


# The statements of every page are built once: building them costs more than running them.
_SESSIONS = cast("Table", CrawlSession.__table__)
_CREATE = insert(_SESSIONS)
AT_ONCE = 1000  # rows of one statement: each has the settings written out, and a URL file may be long
# The words in which a session is asked for more than its URL, whoever asks, and what each takes.
CHOICES = {
    "mode": MODES,
    "render": RENDERS,
    "retention": RETENTIONS,
    "policy": tuple(POLICIES),
    "warc": ("0", "1"),
}
# What a session says that is to be run again, of whatever came of it before.
AGAIN: dict[str, Any] = {
    "status": Status.QUEUED, "finished_at": None, "error_summary": None, "cause": None,
    "low_confidence": False, "pdp_url": None, "final_url": None,
}  # fmt: skip
NOBODYS = {"owner": None, "heartbeat_at": None, "alive_until": None}
ENDED = (Status.COMPLETED, Status.FAILED, Status.PARTIAL)


class StaleSessionError(CrawlerError):
    """The session was taken over by somebody else, or ended; nothing was written."""

    code = "stale_session"
    exit_code = 5


@frozen
class Fence:
    """The right to write for a session; an older epoch or another owner has it no more."""

    session_id: UUID
    owner: str
    epoch: int


@frozen
class SessionOrder:
    """What a session is asked to do; what has a column of its name is stored with it, and read again."""

    url: str  # without a password
    domain: str  # empty where the URL names none
    mode: str = "standard"
    retention_policy: str = "standard"
    crawl_policy_version: str = "v1.2"
    render: str = "0"  # or 1, or auto
    warc: bool = False  # what is sent and received is kept as well, in one file
    wanted_pdp_url: str | None = None
    batch_id: int | None = None
    run_id: int | None = None  # of the durable run that pays this visit
    entry_id: str | None = None  # of the entry that fed a fleet with it
    given_url: str | None = None  # as it was given, where that is another spelling; only the log has it

    @property
    def waits_for_others(self) -> bool:
        """Whether somebody takes it up again if this process stops: its batch's next start, or its fleet."""
        return self.batch_id is not None or self.entry_id is not None


_ORDERED = tuple(each.name for each in fields(SessionOrder) if each.name in _SESSIONS.c)


def order_of(row: CrawlSession) -> SessionOrder:
    """What a stored session was asked to do."""
    return SessionOrder(**{name: getattr(row, name) for name in _ORDERED})


def create(
    db: Transaction,
    orders: Mapping[UUID, SessionOrder],
    *,
    owner: str | None,
    snapshot: dict[str, Any],
    ttl: timedelta,
) -> None:
    """Write queued sessions, under the ids that were chosen for them; without an owner, for anybody."""
    rows = (
        {
            "id": session_id,
            "kind": "run" if order.run_id else "page",
            **{name: getattr(order, name) for name in _ORDERED},
            "config_snapshot": snapshot,
            "status": Status.QUEUED,
            "owner": owner,
            "created_at": db.now,
            **(alive(db, ttl) if owner else {}),
        }
        for session_id, order in orders.items()
    )
    while some := list(islice(rows, AT_ONCE)):
        db.connection().execute(_CREATE, some)


def alive(db: Transaction, ttl: timedelta) -> dict[str, datetime]:
    """The columns of a sign of life: when it is given, and until when its giver is not taken for dead."""
    return {"heartbeat_at": db.now, "alive_until": db.now + ttl}


def beat(db: Transaction, fence: Fence, ttl: timedelta) -> bool:
    """Say that a running session lives; False when it is no longer ours.

    Until the transaction's end nobody else can become its owner.
    """
    return change(db, fence, **alive(db, ttl))


def stale_of(db: Transaction, fences: Collection[Fence], ttl: timedelta) -> set[Fence]:
    """Say that running sessions live; those that are no longer ours."""
    said = alive(db, ttl)
    rows = [_its(fence, said) for fence in fences]
    if not rows or db.connection().execute(_fenced_update(tuple(said)), rows).rowcount == len(rows):
        return set()
    return {fence for fence in fences if not beat(db, fence, ttl)}


def change(db: Session, fence: Fence, **values: Any) -> bool:
    """Write columns of a running session; False, and nothing written, when it is no longer ours."""
    return db.connection().execute(_fenced_update(tuple(values)), _its(fence, values)).rowcount == 1


def _its(fence: Fence, values: Mapping[str, Any]) -> dict[str, Any]:
    return {"its_id": fence.session_id, "its_owner": fence.owner, "its_epoch": fence.epoch, **values}


@cache
def _fenced_update(columns: tuple[str, ...]) -> Update:
    """The statement behind every write of a running session, built once for each set of columns."""
    return (
        update(_SESSIONS)
        .where(
            _SESSIONS.c.id == bindparam("its_id"),
            _SESSIONS.c.owner == bindparam("its_owner"),
            _SESSIONS.c.epoch == bindparam("its_epoch"),
            _SESSIONS.c.status == Status.RUNNING,
        )
        .values({column: bindparam(column) for column in columns})
    )
