"""Which workers of jobs run, also those that have nothing to do: each gives a sign now and then.

A worker at a job is known by its step's lease. An idle one has nothing on loan; so it has a row, which says
until when it is to be taken for running, and which goes with it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from crawler.access.process import is_gone, this_process
from crawler.db.models import JobStep, JobWorker
from crawler.db.upsert import insert_into
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database, Transaction

BEAT_SECONDS = 20.0  # however often it looks for jobs, it says no more often that it does
GRACE_SECONDS = 60.0  # after the time of the next sign


class Presence:
    """What one worker says of itself, from its first look for a job to its end."""

    def __init__(
        self, database: Database, poll_interval: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._database = database
        self._lasts = timedelta(seconds=max(poll_interval, BEAT_SECONDS) + GRACE_SECONDS)
        self._next = 0.0
        self._process = this_process()

    def tell(self) -> None:
        """Give a sign, if it is time to."""
        if self._clock() < self._next:
            return
        with self._database.write() as db:
            if not self._next:
                _forget_the_gone(db)
            said = {"seen_at": db.now, "lasts_until": db.now + self._lasts}
            row = insert_into(db, JobWorker).values(process=self._process, started_at=db.now, **said)
            db.execute(row.on_conflict_do_update(index_elements=["process"], set_=said))
        self._next = self._clock() + BEAT_SECONDS

    def close(self) -> None:
        """It ends; what cannot be written now is over by itself soon."""
        if not self._next:
            return
        with suppress(CrawlerError), self._database.write() as db:
            db.execute(delete(JobWorker).where(JobWorker.process == self._process))


def _forget_the_gone(db: Transaction) -> None:
    """Take out the rows of workers that were killed."""
    rows = db.execute(select(JobWorker.process, JobWorker.lasts_until)).all()
    gone = [process for process, until in rows if until < db.now or is_gone(process)]
    db.execute(delete(JobWorker).where(JobWorker.process.in_(gone)))


def running(db: Session, now: datetime) -> list[JobWorker]:
    """The workers that said lately that they look for jobs, but for those that are known to be gone."""
    rows = db.scalars(select(JobWorker).where(JobWorker.lasts_until > now))
    return [row for row in rows if not is_gone(row.process)]


def workers_at(db: Session, now: datetime) -> int:
    """How many workers run: those that look for jobs, and those that are at one."""
    busy = db.scalars(
        select(JobStep.process).where(JobStep.status == "in_progress", JobStep.lease_expires_at > now)
    )
    return len(
        {process for process in busy if not is_gone(process)} | {row.process for row in running(db, now)}
    )
