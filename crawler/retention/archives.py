"""What archives have of a domain: their WARC files hold other domains too, so records are overwritten.

A record is overwritten in place by one of its length; the file's other records stay where they are. A file
that has nothing else goes. Files of jobs that were never indexed are read to their ends: no row tells what is
in them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import Job, Record, WarcFile
from crawler.errors import BadUrlError, NotFoundError
from crawler.evidence.blobs import as_store_error
from crawler.evidence.warc_files import note_erasure
from crawler.evidence.warc_tools import Erasure, discover, erase_where
from crawler.retention.belongings import archived
from crawler.urls import domain_of

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Transaction
    from crawler.retention.belongings import Scope

PURGED = "purged"
AT_WORK = ("running", "indexing")
KNOWN = "indexed"  # the state of a job whose files' records all have rows


@frozen
class ArchiveFile:
    """A WARC file that may have captures of a domain."""

    path: Path
    row_id: int | None  # None: nobody has written it down


def files_with(db: Transaction, scope: Scope) -> list[ArchiveFile]:
    """Those that have records of the domain, by their rows, and those of which no rows tell."""
    named = select(Record.warc_file_id).where(archived(db, scope))
    rows = db.scalars(select(WarcFile).where(WarcFile.id.in_(named), WarcFile.gone_at.is_(None)))
    paths = {Path(row.folder) / row.path: row.id for row in rows}
    found = {path: ArchiveFile(path, row_id) for path, row_id in paths.items()}
    for folder in db.scalars(select(Job.output_dir).where(Job.status.not_in((KNOWN, *AT_WORK)))):
        for path in discover(Path(folder)):
            found.setdefault(path, ArchiveFile(path, None))
    return list(found.values())


def job_at_work(db: Transaction, scope: Scope) -> int | None:
    """A job that is worked on, and whose files have captures of the domain."""
    named = select(Record.warc_file_id).where(archived(db, scope))
    query = select(Job.id).join(WarcFile, WarcFile.job_id == Job.id)
    return db.scalar(query.where(WarcFile.id.in_(named), Job.status.in_(AT_WORK)).limit(1))


def erased(file: ArchiveFile, domain: str, at: datetime) -> Erasure | None:
    """Overwrite the domain's records in a file; None where the file is not there."""
    try:
        done = erase_where(file.path, lambda url: _is_of(url, domain), at, what=domain)
        if done.is_done and not done.others:
            file.path.unlink(missing_ok=True)
    except NotFoundError:
        return None
    except OSError as error:
        raise as_store_error(error, str(file.path), hint="then purge again") from error
    return done


def note(db: Transaction, file: ArchiveFile, done: Erasure | None) -> None:
    """Have the file's row say what became of it; the records' own rows go with the others."""
    if done is None or not done.is_done:
        return
    note_erasure(db, file.path, done, PURGED)
    if not done.others and file.row_id is not None:
        row = db.get_one(WarcFile, file.row_id)
        row.state, row.gone_at, row.gone_why = "gone", db.now, PURGED


def _is_of(url: str, domain: str) -> bool:
    try:
        return bool(url) and domain_of(url) == domain
    except BadUrlError:
        return False
