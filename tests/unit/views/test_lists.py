"""Every list is cut in the same way: by domain, by days, by cause, and page by page without a gap."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import event

from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import (
    PageGroup,
    Record,
    RegisteredSource,
    Snapshot,
    SnapshotChange,
    WarcFile,
)
from crawler.errors import NotFoundError, UsageError
from crawler.views import (
    assets,
    changes,
    exceptions,
    hauls,
    jobs,
    products,
    retention,
    runs,
    sessions,
    snapshots,
    stored,
    warcs,
)
from crawler.views.paging import ALL, Resource, Wanted, listed
from tests.unit.views.rows import (
    NOW,
    THEN,
    a_haul,
    a_hold,
    a_job,
    a_listing,
    a_page,
    a_price,
    a_run,
    a_session,
    a_step,
    a_task,
    an_artifact,
    an_asset,
    an_exception,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from crawler.db.engine import Transaction

DAYS = [THEN.replace(day=day) for day in (1, 2, 3)]
# The newest of these is of another domain, which begins as the first one does.
DOMAINS = ["shop.example", "shop.example", "shop.example.evil.example"]
CAUSES = ["timeout", "robots_refused", "timeout"]


def _changes(db: Transaction, wanted: Wanted = ALL) -> Sequence[Any]:
    order = changes.FeedOrder(latest=False, wanted=wanted)
    return changes.feed(db, load_settings(), order).results


def _listed(resource: Resource[Any], db: Transaction, wanted: Wanted = ALL) -> Sequence[Any]:
    return listed(db, resource, wanted)


LISTS: dict[str, Callable[..., Sequence[Any]]] = {
    "sessions": lambda db, wanted=ALL: sessions.newest(db, NOW, wanted),
    "runs": lambda db, wanted=ALL: runs.newest(db, NOW, wanted),
    "jobs": lambda db, wanted=ALL: jobs.newest(db, NOW, wanted),
    "pages": partial(_listed, stored.PAGES),
    "artifacts": partial(_listed, stored.ARTIFACTS),
    "warcs": warcs.known,
    "assets": assets.newest,
    "listings": partial(_listed, products.LISTINGS),
    "prices": products.newest_prices,
    "hauls": partial(_listed, hauls.HAULS),
    "exceptions": partial(_listed, exceptions.EXCEPTIONS),
    "snapshots": partial(_listed, snapshots.SNAPSHOTS),
    "changes": _changes,
    "holds": lambda db, wanted=ALL: listed(db, retention.HOLDS, wanted, standing_at=NOW),
}
WITH_CAUSE = {"sessions", "runs", "jobs", "pages", "artifacts", "warcs"}


def key_of(document: Any) -> Any:
    """What `--after` takes."""
    return document.change_id if isinstance(document, changes.ChangeDocument) else document.id


def rows_of(db: Transaction, number: int, domain: str, cause: str, day: datetime) -> None:
    """One of everything, of a domain on a day."""
    url = f"https://{'www.' if number else ''}{domain}/p/{number}"
    session = a_session(domain=domain, cause=cause, created_at=day)
    listing = a_listing(domain=domain, last_seen_at=day)
    run, source = a_run(source=domain, created_at=day), RegisteredSource(
        code=f"code{number}", name="x", base_url=url, created_at=day, updated_at=day
    )  # fmt: skip
    for row in (session, listing, run, source):
        db.add(row)
        db.flush()
    page = a_page(session.id, created_at=day)
    job = a_job(source_id=source.id, created_at=day)
    artifact = an_artifact(session.id, created_at=day)
    file = WarcFile(folder="/x", path=str(number), session_id=session.id, created_at=day)
    group = PageGroup(source_id=source.id, group_key=url)
    db.add_all([page, job, artifact, file, group, a_price(listing.id, "1", seen_at=day)])
    db.flush()
    record = Record(artifact_id=artifact.id, url=url, url_key=f"{','.join(domain.split('.')[::-1])})/p")
    db.add_all(
        [
            record, a_task(run.id, url, domain=domain, status="error", cause=cause),
            a_step(job.id, cause=cause), an_asset(run.id, url, domain=domain, last_seen_at=day),
            a_haul(domain + str(number), (url, None), created_at=day), a_hold(domain=domain, created_at=day),
            an_exception(run.id, "broken", url=url, last_at=day),
        ]
    )  # fmt: skip
    db.flush()
    snapshot = Snapshot(
        record_id=record.id, source_id=source.id, group_id=group.id, url=url, captured_at=day, status_class=2,
        title="", snippet="", language="en", content_hash="0", find_title="", find_snippet="", find_url="",
    )  # fmt: skip
    db.add(snapshot)
    db.flush()
    db.add(
        SnapshotChange(
            source_id=source.id, group_id=group.id, to_snapshot_id=snapshot.id, to_captured_at=day,
            change_type="new_page", summary="New page", computed_at=day, computed_by="cli",
        )
    )  # fmt: skip


def test_every_list_is_cut_alike(database: Database) -> None:
    """By days, by domain however a URL of it is spelt, by cause, and behind a row that is named."""
    with database.write() as db:
        for number, what in enumerate(zip(DOMAINS, CAUSES, DAYS, strict=True)):
            rows_of(db, number, *what)
    with database.read() as db:
        for name, listed in LISTS.items():
            whole = [key_of(each) for each in listed(db)]
            assert len(whole) == 3, name

            def cut(listed: Callable[..., Sequence[Any]] = listed, **which: Any) -> list[Any]:
                return [key_of(each) for each in listed(db, Wanted(**which))]

            assert cut(since=DAYS[1]) == whole[:2], name
            assert cut(until=DAYS[1]) == whole[2:], name
            assert cut(since=DAYS[1], until=DAYS[2]) == whole[1:2], name
            assert cut(domain="shop.example") == whole[1:], name
            assert cut(domain=DOMAINS[2]) == whole[:1], name
            assert cut(domain="op.example") == cut(domain="") == [], name
            assert (cut(limit=2), cut(limit=2, after=str(whole[1]))) == (whole[:2], whole[2:]), name
            assert cut(after=str(whole[2])) == [], name
            if name in WITH_CAUSE:
                assert cut(cause="timeout") == [whole[0], whole[2]], name
                assert cut(cause="timeout", domain="shop.example") == [whole[2]], name
            else:
                with pytest.raises(UsageError, match="has no cause"):
                    cut(cause="timeout")
            with pytest.raises(NotFoundError):
                cut(after="77" if isinstance(whole[0], int) else str(uuid4()))


def test_rows_of_one_moment_are_not_lost_between_pages(database: Database) -> None:
    """Where times are equal the key decides."""
    with database.write() as db:
        db.add_all(a_session() for _ in range(5))
    with database.read() as db:
        whole = [each.id for each in sessions.newest(db, NOW)]
        found, after = [], None
        while page := sessions.newest(db, NOW, Wanted(limit=2, after=after)):
            found += [each.id for each in page]
            after = str(found[-1])
    assert found == whole


def test_a_page_of_a_list_is_found_by_an_index(sqlite_database: str) -> None:
    """However many rows there are, none but those of the page are looked at or sorted."""
    sqlite = Database(sqlite_database)
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "LIMIT" in statement:
            asked.append((statement, parameters))

    event.listen(sqlite.engine, "before_cursor_execute", note)
    with closing(sqlite), sqlite.read() as db:
        for name, listed in LISTS.items():
            if name not in {"hauls", "changes"}:  # of these members, or all, are counted besides
                listed(db, Wanted(limit=2))
                listed(db, Wanted(limit=2, since=THEN))
        event.remove(sqlite.engine, "before_cursor_execute", note)
        plans = {each: _steps(db, each, given) for each, given in asked}
    assert len(plans) == 2 * (len(LISTS) - 2)
    assert [each for each, steps in plans.items() if any("FOR ORDER BY" in step for step in steps)] == []


def _steps(db: Transaction, statement: str, given: Any) -> list[str]:
    """What SQLite does for the rows themselves; what it does for one of them is beneath that."""
    rows = db.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
    return [step for _, parent, _, step in rows if parent == 0]
