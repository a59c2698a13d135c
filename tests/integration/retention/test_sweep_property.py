"""Policies against a model: whatever is stored, and however days change, the right rows go, oldest first."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import define, field
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select

from crawler.clock import utc_now
from crawler.db.models import AuditEntry, RetentionConfig
from crawler.retention import policies
from crawler.retention.policies import DEFAULT_DAYS
from crawler.retention.sweep import MOST_AT_ONCE, sweep
from tests.integration.catalogue.visits import DAY

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database

NAME = "audit_log"
ROWS = st.lists(st.integers(0, 200), max_size=130)  # ages in days
STEPS = st.lists(st.one_of(st.integers(1, 150), st.sampled_from(["pass", "dry run"])), min_size=1, max_size=6)


@define
class Model:
    """What has to be true: days, and the rows with their ages."""

    days: int = DEFAULT_DAYS[NAME]
    rows: list[tuple[datetime, int]] = field(factory=list)

    def expired(self, now: datetime) -> list[tuple[datetime, int]]:
        """Strictly older than the days, oldest first."""
        return sorted(row for row in self.rows if row[0] < now - self.days * DAY)


def begin(database: Database, ages: list[int]) -> Model:
    """Rows of these ages, and nothing else; half a minute keeps them off the edge."""
    now = utc_now()
    with database.write() as db:
        db.execute(delete(AuditEntry))
        db.execute(delete(RetentionConfig))
        rows = [
            {"timestamp": now - age * DAY - timedelta(seconds=30), "actor": "me", "action": "test",
             "subject": "-", "details": {}}
            for age in ages
        ]  # fmt: skip
        if rows:
            db.execute(insert(AuditEntry), rows)
        stored = db.execute(select(AuditEntry.timestamp, AuditEntry.id))
        return Model(rows=[(timestamp, key) for timestamp, key in stored])


def take(database: Database, model: Model, step: int | str) -> None:
    """One step, by the program and by the model."""
    if isinstance(step, int):
        with database.write() as db:
            policies.set_days(db, NAME, step, actor="me", now=utc_now())
            entry = db.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()
            model.rows.append((entry.timestamp, entry.id))
        model.days = step
        return
    expired = model.expired(utc_now())
    result = next(each for each in sweep(database, dry_run=step == "dry run") if each.collection == NAME)
    goes = [] if step == "dry run" else expired[:MOST_AT_ONCE]
    assert (result.total_docs, result.expired_docs) == (len(model.rows), len(expired))
    assert (result.ttl_days, result.deleted_docs, result.error) == (model.days, len(goes), None)
    model.rows = [row for row in model.rows if row not in goes]


def test_the_right_rows_go(database: Database) -> None:
    """What is left after each step is what the model has left."""

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(ROWS, STEPS)
    def check(ages: list[int], steps: list[int | str]) -> None:
        model = begin(database, ages)
        for step in steps:
            take(database, model, step)
            with database.read() as db:
                left = {(row.timestamp, row.id) for row in db.scalars(select(AuditEntry))}
            assert left == set(model.rows)

    check()
