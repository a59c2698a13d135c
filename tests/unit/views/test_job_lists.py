"""Jobs in lists stand as the next worker finds them; what came of one is counted and cut."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crawler.db.models import RegisteredSource
from crawler.errors import NotFoundError
from crawler.views import job_lists
from tests.unit.archive.written import NOON, SHOP, a_file, a_record, index
from tests.unit.views.rows import THEN, a_job, a_step

if TYPE_CHECKING:
    from crawler.db.engine import Database


@pytest.fixture
def filled(database: Database) -> Database:
    """One waits, one is at work, one has lost its worker, one has no source."""
    with database.write() as db:
        source = RegisteredSource(
            code="shop", name="The shop", enabled=True, created_at=THEN, updated_at=THEN
        )
        db.add(source)
        db.flush()
        for number, (status, step) in enumerate(
            (("queued", {}), ("running", {"lease_expires_at": db.now + timedelta(hours=1)}),
             ("running", {"lease_expires_at": THEN}), ("completed", None))
        ):  # fmt: skip
            job = a_job(
                name=f"job{number}", status=status, source_id=source.id if number < 3 else None,
                created_at=THEN + timedelta(hours=number),
            )  # fmt: skip
            db.add(job)
            db.flush()
            if step is not None:
                more: dict[str, Any] = {"status": "in_progress", "lease_owner": "me", **step} if step else {}
                db.add(a_step(job.id, **more))
    return database


def names(database: Database, **how: Any) -> tuple[list[tuple[str, str]], int]:
    """Names and states on a page, and how many there are in all."""
    with database.read() as db:
        page = job_lists.page(db, **{"limit": 10, "offset": 0, **how})
    return [(each.name, each.status) for each in page.items], page.total


def test_states_are_those_that_are_shown(filled: Database) -> None:
    """Who asks for what is running does not get what nobody works at; who asks for what waits, does."""
    everything, total = names(filled)
    assert everything == [
        ("job3", "completed"),
        ("job2", "retryable"),
        ("job1", "running"),
        ("job0", "queued"),
    ]
    assert total == 4
    assert names(filled, status="running") == ([("job1", "running")], 1)
    assert names(filled, status="retryable") == ([("job2", "retryable")], 1)
    assert names(filled, status="failed") == ([], 0)


def test_of_a_source_in_whichever_case(filled: Database) -> None:
    """A page of them, and how many there are in all."""
    assert names(filled, source="SHOP", limit=1, offset=1) == ([("job1", "running")], 3)
    assert names(filled, source="nobody") == ([], 0)
    assert names(filled, offset=99) == ([], 4)


def test_what_operators_ask_of_one(filled: Database) -> None:
    """With its steps; a job without a source has none to name."""
    with filled.read() as db:
        found, steps = job_lists.details(db, "3")
        homeless, none = job_lists.details(db, "4")
        with pytest.raises(NotFoundError):
            job_lists.details(db, "99")
    assert (found.status, found.worker, found.source_name, len(steps)) == ("retryable", None, "The shop", 1)
    assert (homeless.source_code, none) == ("", [])


def test_what_came_of_a_job(database: Database) -> None:
    """The newest first, a page of it; an address shows no password; of an unknown job there is nothing."""
    with database.write() as db:
        file = a_file(db, job_id=7)
        mine = [a_record(db, warc_file_id=file.id).id for _ in range(3)]
    index(
        database,
        *({"record_id": key, "url": f"https://u:geheim@shop.example/{n}", "at": NOON + timedelta(hours=n)}
          for n, key in enumerate(mine)),
        {"url": f"{SHOP}other"},
    )  # fmt: skip
    with database.read() as db:
        found = job_lists.snapshots(db, 7, limit=2, offset=0)
        nothing = job_lists.snapshots(db, 8, limit=2, offset=0)
    assert (found.total, [each.url[-2:] for each in found.items]) == (3, ["/2", "/1"])
    assert "geheim" not in str(found)
    assert (nothing.total, nothing.items) == (0, [])
