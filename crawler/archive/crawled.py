"""Whether something is crawled into a database at this moment, by whichever machine: crawls come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import exists, or_, select

from crawler.db.models import CrawlSession, RunWorker

if TYPE_CHECKING:
    from crawler.db.engine import Database


def is_crawled(database: Database) -> bool:
    """Whether somebody who shows signs of life visits a domain or works on a run."""
    with database.read() as db:
        visited = exists().where(CrawlSession.status == "running", CrawlSession.alive_until > db.now)
        crewed = exists().where(RunWorker.alive_until > db.now)
        return bool(db.scalar(select(or_(visited, crewed))))
