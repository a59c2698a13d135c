"""A run's tasks: each page found once, leased domain by domain, counted at any time."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import bindparam, delete, exists, func, or_, select, text, update

from crawler.capture.failures import REFUSALS
from crawler.capture.items import MEDIA
from crawler.db.models import Run, RunDomain, Task
from crawler.db.models.leased import IS_ERROR, IS_IN_PROGRESS, IS_NEW, IS_PENDING, IS_RESTING
from crawler.db.upsert import insert_into
from crawler.urls import canonical, domain_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import BindParameter, ColumnElement, ScalarSelect, Select, Table
    from sqlalchemy.orm import Session

    from crawler.access.scope import Scope
    from crawler.leases.rows import Lease, Leases
    from crawler.pdp import Reading
    from crawler.runs.sources import Source
    from crawler.runs.store import RunAtWork

LIKELY_PRODUCT = 1  # added to a task's priority: products first, among pages of one depth
_BATCH = 500
_RUNS = cast("Table", Run.__table__)
_TASKS = cast("Table", Task.__table__)
_AT = _TASKS.c
_OF_RUN = _AT.run_id == bindparam("its_run")
_OF_DOMAIN = (_OF_RUN, _AT.domain == bindparam("its_domain"))


@frozen
class NewTask:
    """A page to fetch, as it was found."""

    url: str
    domain: str
    url_sha256: str  # of the canonical form; a run has each once
    depth: int = 0
    priority: int = 0  # higher goes first
    kind: str = "page"


@frozen
class WorkLeft:
    """What is left to do of a run."""

    domains: list[str]  # that have something to lease now, other than those excepted
    is_drained: bool
    counts: dict[str, int]  # tasks by status, and those errors that are refusals, where that was asked for
    slowest: str | None  # the domain that most of the waiting ones are of


@frozen
class LeasedTask:
    """A page to fetch now, and the right to say what came of it."""

    lease: Lease
    run_id: int
    url: str
    url_sha256: str
    domain: str
    depth: int
    priority: int
    kind: str


# ── found ──


def task_of(url: str, **fields: Any) -> NewTask:
    """A task for a URL; what makes it one page of a run is the URL's canonical form."""
    digest = hashlib.sha256(canonical(url).encode("utf-8", "replace")).hexdigest()
    return NewTask(url, domain_of(url), digest, **fields)


def goes_on(source: Source, depth: int) -> bool:
    """Whether a run follows links to pages that are so far from its first ones."""
    return source.depth is None or depth <= source.depth


def found_on(reading: Reading, run: RunAtWork, depth: int) -> tuple[NewTask, ...]:
    """What a run may follow of a page: the source's rules are applied before a link becomes a task.

    Products go first among the links of one depth. Pictures and the like belong to their page, wherever they
    lie, and come as soon.
    """
    source, scope = run.source, run.scope
    pages: list[NewTask] = []
    if goes_on(source, depth):
        for url in run.links.unknown(reading.links):
            if scope.judge(url) is None:
                priority = LIKELY_PRODUCT * reading.links[url] - 2 * depth
                pages.append(task_of(url, depth=depth, priority=priority))
    media = reading.media if "media" in source.plugins or source.requisites else ()
    styles = reading.styles if source.requisites else ()
    return (*pages, *media_tasks((*styles, *media), scope, depth))


def media_tasks(urls: Iterable[str], scope: Scope, depth: int) -> tuple[NewTask, ...]:
    """What belongs to a page and is none."""
    fit = (url for url in urls if scope.judge(url, kind=MEDIA) is None)
    return tuple(task_of(url, depth=depth, priority=-2 * depth, kind=MEDIA) for url in fit)


# ── in ──


def add(db: Session, run_id: int, tasks: Iterable[NewTask], now: datetime) -> int:
    """Write down pages that the run does not know yet, in the order given; how many were new (SPEC D88).

    A run takes no more than its `max_pages`. Who has news for a run takes the run's row until the
    transaction's end: so its count is exact, and no two of them wait for each other.
    """
    news = _unknown(db, run_id, tasks)
    if not news:
        return 0
    max_pages, planned = db.connection().execute(_ROOM, {"its_run": run_id}).one()
    room = len(news) if max_pages is None else max_pages - planned
    added = begin = 0
    # What somebody else wrote meanwhile takes no room, and leaves some to the next.
    while group := news[begin : begin + max(0, min(_BATCH, room - added))]:
        added += _insert(db, run_id, group, now)
        begin += len(group)
    if added:
        db.connection().execute(_RAISE_PLANNED, {"its_run": run_id, "more": added})
    return added


def go_by(db: Session, task: LeasedTask, url: str) -> None:
    """Have a task go by the URL that it was led to: whoever is led there too finds that it is known.

    A task that somebody has found a link for meanwhile, and nobody has begun, is the same.
    """
    if canonical(url) == canonical(task.url):
        return
    digest = task_of(url).url_sha256
    connection, values = db.connection(), {"its_run": task.run_id, "digest": digest}
    connection.execute(_ROOM, {"its_run": task.run_id})
    if connection.execute(_DROP_UNTOUCHED, values).rowcount:
        connection.execute(_RAISE_PLANNED, {"its_run": task.run_id, "more": -1})
    elif connection.execute(_KNOWN, {"its_run": task.run_id, "digests": [digest]}).first():
        return  # it is being fetched for itself
    connection.execute(_GO_BY, {"its_id": task.lease.id, "digest": digest})


def known(db: Session, run_id: int, url_sha256: str) -> bool:
    """Whether the run has a task of this page, of any status."""
    return bool(_known(db, run_id, [url_sha256]))


def _unknown(db: Session, run_id: int, tasks: Iterable[NewTask]) -> list[NewTask]:
    """Each page once, without those that the run has: late in a crawl few links lead to anything new."""
    wanted: dict[str, NewTask] = {}
    for task in tasks:
        wanted.setdefault(task.url_sha256, task)
    digests = list(wanted)
    for begin in range(0, len(digests), _BATCH):
        for digest in _known(db, run_id, digests[begin : begin + _BATCH]):
            del wanted[digest]
    return list(wanted.values())


def _known(db: Session, run_id: int, digests: Sequence[str]) -> Sequence[str]:
    return db.connection().execute(_KNOWN, {"its_run": run_id, "digests": digests}).scalars().all()


def _insert(db: Session, run_id: int, tasks: Sequence[NewTask], now: datetime) -> int:
    rows = [
        {
            "run_id": run_id, "url": task.url, "domain": task.domain, "url_sha256": task.url_sha256,
            "depth": task.depth, "priority": task.priority, "kind": task.kind, "status": "pending",
            "attempts": 0, "lease_epoch": 0, "next_run_at": now, "created_at": now, "updated_at": now,
        }
        for task in tasks
    ]  # fmt: skip
    domains = [{"run_id": run_id, "domain": domain} for domain in sorted({task.domain for task in tasks})]
    connection = db.connection()
    new_domains = insert_into(db, RunDomain).on_conflict_do_nothing(index_elements=["run_id", "domain"])
    connection.execute(new_domains, domains)
    # Counted by what comes back: drivers do not agree on how many rows such a statement wrote.
    new_tasks = insert_into(db, Task).on_conflict_do_nothing(index_elements=["run_id", "url_sha256"])
    return len(connection.execute(new_tasks.returning(_AT.id), rows).all())


# ── out ──


def lease(
    db: Session, leases: Leases, run_id: int, domain: str, *, owner: str, now: datetime, limit: int
) -> tuple[list[LeasedTask], datetime | None]:
    """Lease tasks of one domain, the most urgent first; where there are none, when one is due.

    Those of it that expired are freed before.
    """
    values = {"its_run": run_id, "its_domain": domain}
    found = leases.acquire(db, owner=owner, now=now, limit=limit, within=_OF_DOMAIN, values=values)
    leased = [
        LeasedTask(
            lease=held, run_id=row["run_id"], url=row["url"], url_sha256=row["url_sha256"],
            domain=row["domain"], depth=row["depth"], priority=row["priority"], kind=row["kind"],
        )
        for row, held in found
    ]  # fmt: skip
    return leased, None if leased else domain_due_at(db, run_id, domain)


def work_left(
    db: Session,
    run_id: int,
    now: datetime,
    *,
    but: Collection[str],
    limit: int,
    after: str,
    counted: bool,
) -> WorkLeft:
    """What is left to do of a run; counting a million tasks takes its time."""
    domains = waiting_domains(db, run_id, now, limit=limit, but=but, after=after) if limit else []
    most = waiting(db, run_id, 1) if counted else []
    return WorkLeft(
        domains,
        is_drained=not domains and is_drained(db, run_id),
        counts={**counts(db, run_id), "refused": refused(db, run_id)} if counted else {},
        slowest=most[0][0] if most else None,
    )


def waiting_domains(
    db: Session, run_id: int, now: datetime, *, limit: int = 100, but: Collection[str] = (), after: str = ""
) -> list[str]:
    """Domains that have something to lease now: where leases expired, then round in a circle from `after`."""
    parameters = {"its_run": run_id, "now": now, "but": list(but), "how_many": limit}
    connection = db.connection()
    found = dict.fromkeys(connection.execute(_WITH_EXPIRED, parameters).scalars())
    for begin in dict.fromkeys([after, ""]):
        if len(found) < limit:
            found |= dict.fromkeys(
                connection.execute(_WITH_PENDING, {**parameters, "after": begin}).scalars()
            )
    return list(found)[:limit]


def domain_due_at(db: Session, run_id: int, domain: str) -> datetime | None:
    """When a domain's next rest or lease ends, or a time that is past where something is new; None: never."""
    values = {"its_run": run_id, "its_domain": domain}
    times = db.connection().execute(_NEXT_DUE, values).one()
    return min((time for time in times if time is not None), default=None)


def is_drained(db: Session, run_id: int) -> bool:
    """Whether nothing is pending or in progress (SPEC D77)."""
    return not db.connection().execute(_HAS_WORK, {"its_run": run_id}).scalar_one()


# ── how it stands ──


def counts(db: Session, run_id: int) -> dict[str, int]:
    """How many tasks have which status."""
    planned, pending, in_progress, error = db.connection().execute(_COUNTS, {"its_run": run_id}).one()
    # Those that are done are the most in the end; they are what is left over, and need no counting.
    finished = planned - pending - in_progress - error
    return {"pending": pending, "in_progress": in_progress, "finished": finished, "error": error}


def refused(db: Session, run_id: int) -> int:
    """How many tasks ended as errors because they must not be fetched: none of them failed."""
    return int(db.connection().execute(_REFUSED, {"its_run": run_id}).scalar_one())


def waiting(db: Session, run_id: int, limit: int) -> list[tuple[str, int]]:
    """Domains and their pending tasks, those with the most first."""
    rows = db.connection().execute(_WAITING, {"its_run": run_id, "how_many": limit})
    return [(domain, pending) for domain, pending in rows]


# ── statements, built once ──


def _earliest(column: ColumnElement[Any], which: str) -> ScalarSelect[Any]:
    return select(func.min(column)).where(*_OF_DOMAIN, text(which)).scalar_subquery()


def _count(which: str) -> ScalarSelect[Any]:
    return select(func.count()).select_from(_TASKS).where(_OF_RUN, text(which)).scalar_subquery()


def _first(column: ColumnElement[Any], which: str, *more: ColumnElement[bool]) -> ScalarSelect[Any]:
    """A value of the first row in the order of the index of pending tasks.

    Asked in this way a planner takes the index whatever it believes of the numbers: for EXISTS it may read
    the whole table, and it joins where it should look once.
    """
    rows = select(column).where(_OF_RUN, text(which), *more)
    return rows.order_by(_AT.domain, _AT.priority.desc(), _AT.id).limit(1).scalar_subquery()


def _walk() -> Select[Any]:
    """From one domain with pending tasks to the next, each by one step in the index.

    What it costs grows with the domains that are given back or passed over, not with the tasks.
    """
    start = _first(_AT.domain, IS_PENDING, _AT.domain > bindparam("after"))
    walk = select(start.label("domain")).cte("walk", recursive=True)
    step = _first(_AT.domain, IS_PENDING, _AT.domain > walk.c.domain)
    walk = walk.union_all(select(step).where(walk.c.domain.is_not(None)))
    due = _first(_AT.id, IS_PENDING, _AT.domain == walk.c.domain, _AT.next_run_at <= bindparam("now"))
    return (
        select(walk.c.domain)
        .where(walk.c.domain.is_not(None), walk.c.domain.not_in(_BUT), due.is_not(None))
        .limit(bindparam("how_many"))
    )


_BUT: BindParameter[Any] = bindparam("but", expanding=True)
_KNOWN = select(_AT.url_sha256).where(_OF_RUN, _AT.url_sha256.in_(bindparam("digests", expanding=True)))
# Not so strong a lock that those who only refer to the run would have to wait.
_ROOM = (
    select(_RUNS.c.max_pages, _RUNS.c.planned)
    .where(_RUNS.c.id == bindparam("its_run"))
    .with_for_update(key_share=True)
)
_RAISE_PLANNED = (
    update(_RUNS)
    .where(_RUNS.c.id == bindparam("its_run"))
    .values(planned=_RUNS.c.planned + bindparam("more"))
)
_DROP_UNTOUCHED = delete(_TASKS).where(
    _OF_RUN, _AT.url_sha256 == bindparam("digest"), text(IS_NEW), _AT.deaths == 0
)
_GO_BY = update(_TASKS).where(_AT.id == bindparam("its_id")).values(url_sha256=bindparam("digest"))
_WITH_PENDING = _walk()
_WITH_EXPIRED = (
    select(_AT.domain)
    .where(_OF_RUN, text(IS_IN_PROGRESS), _AT.lease_expires_at <= bindparam("now"), _AT.domain.not_in(_BUT))
    .distinct()
    .order_by(_AT.domain)
    .limit(bindparam("how_many"))
)
_NEXT_DUE = select(
    _first(_AT.next_run_at, IS_NEW, _OF_DOMAIN[1]),  # any will do: new tasks are due when they come
    _earliest(_AT.next_run_at, IS_RESTING),
    _earliest(_AT.lease_expires_at, IS_IN_PROGRESS),
)
_HAS_WORK = select(
    or_(_first(_AT.id, IS_PENDING).is_not(None), exists().where(_OF_RUN, text(IS_IN_PROGRESS)))
)
_COUNTS = select(_RUNS.c.planned, _count(IS_PENDING), _count(IS_IN_PROGRESS), _count(IS_ERROR)).where(
    _RUNS.c.id == bindparam("its_run")
)
_REFUSED = select(func.count()).where(_OF_RUN, text(IS_ERROR), _AT.cause.in_(sorted(REFUSALS)))
_WAITING = (
    select(_AT.domain, func.count().label("pending"))
    .where(_OF_RUN, text(IS_PENDING))
    .group_by(_AT.domain)
    .order_by(func.count().desc(), _AT.domain)
    .limit(bindparam("how_many"))
)
