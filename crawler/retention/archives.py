"""What archives have of a domain: their WARC files hold other domains too, so records are overwritten.

A record is overwritten in place by one of its length; the file's other records stay where they are. A file
that has nothing else goes. Files of jobs that were never indexed are read to their ends: no row tells what is
in them. Manifests beside the files and the jobs' own counts say what is there afterwards.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, frozen
from sqlalchemy import String, and_, cast, exists, func, or_, select, update

from crawler import logs
from crawler.db.models import Job, Record, Snapshot, WarcFile
from crawler.errors import BadUrlError, LockedError, NotFoundError
from crawler.evidence.archive_folders import (
    correct_entry,
    cut_lines_naming,
    found_at,
    lines_naming,
    sizes_of,
)
from crawler.evidence.blobs import as_store_error
from crawler.evidence.warc_files import note_erasure
from crawler.evidence.warc_tools import Erasure, digest_of, discover, erase_where
from crawler.retention.belongings import archived
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from crawler.db.engine import Transaction
    from crawler.evidence.archive_folders import Sizes
    from crawler.retention.belongings import Reach

PURGED = "purged"
AT_WORK = ("running", "indexing")
GOES_ON = "when it is over, the same command goes on"
KNOWN = "indexed"  # the state of a job whose files' records all have rows

log = logs.get_logger(__name__)


@frozen
class ArchiveFile:
    """A WARC file that may have captures of a domain."""

    path: Path
    row_id: int | None  # None: nobody has written it down
    job_id: int | None
    sha256: str | None = None  # as its row has it


def files_with(db: Transaction, scope: Reach) -> list[ArchiveFile]:
    """Those that have records of the domain, by their rows, and those of which no rows tell."""
    named = select(Record.warc_file_id).where(archived(db, scope))
    # A session's artifact stays as it was published: of what it has of other domains, the rows go.
    is_archive = and_(WarcFile.artifact_id.is_(None), WarcFile.gone_at.is_(None))
    rows = db.scalars(select(WarcFile).where(WarcFile.id.in_(named), is_archive))
    files = [ArchiveFile(Path(row.folder) / row.path, row.id, row.job_id, row.sha256) for row in rows]
    found = {file.path: file for file in files}
    unread = select(Job.id, Job.output_dir).where(Job.status.not_in((KNOWN, *AT_WORK)))
    for job_id, folder in db.execute(unread):
        for path in discover(Path(folder)):
            found.setdefault(path, ArchiveFile(path, None, job_id))
    return list(found.values())


def unread_with(db: Transaction, scope: Reach) -> int:
    """How many files have to be read to their ends, for no rows tell what is in them."""
    return 0 if scope.domain is None else sum(file.row_id is None for file in files_with(db, scope))


def jobs_with(db: Transaction, scope: Reach) -> list[int]:
    """The jobs that have files of its visits, or of what is archived of the domain."""
    named = select(Record.warc_file_id).where(archived(db, scope))
    theirs = or_(WarcFile.id.in_(named), WarcFile.session_id.in_(scope.sessions))
    in_folder = or_(WarcFile.folder == Job.output_dir, WarcFile.folder == Job.output_dir.concat("/warcs"))
    is_its = or_(WarcFile.job_id == Job.id, in_folder)
    return list(db.scalars(select(Job.id).where(exists().where(theirs, is_its)).order_by(Job.id)))


def jobs_for(db: Transaction, scope: Reach) -> list[int]:
    """The jobs that were ordered to visit the domain, whatever came of it."""
    return [job_id for job_id, config, _ in _mentioning(db, scope) if _is_ordered(config, scope.domain)]


def job_at_work(db: Transaction, scope: Reach) -> int | None:
    """A job that is worked on, and has captures of the domain, or was ordered to make some."""
    for job_id, config, has_captures in _mentioning(db, scope, Job.status.in_(AT_WORK)):
        if has_captures or _is_ordered(config, scope.domain):
            return job_id
    return None


def _mentioning(
    db: Transaction, scope: Reach, *which: ColumnElement[bool]
) -> Iterator[tuple[int, Mapping[str, Any], bool]]:
    """Jobs that have captures of a domain, or whose orders may name it."""
    if scope.domain is None:
        return
    named = select(Record.warc_file_id).where(archived(db, scope))
    has_some = exists().where(WarcFile.job_id == Job.id, WarcFile.id.in_(named))
    mentions = func.lower(cast(Job.config, String)).contains(scope.domain, autoescape=True)
    found = select(Job.id, Job.config, has_some).where(or_(has_some, mentions), *which)
    for job_id, config, has_captures in db.execute(found.order_by(Job.id)):
        yield job_id, config or {}, has_captures


def _is_ordered(config: Mapping[str, Any], domain: str | None) -> bool:
    source = config.get("source") or {}
    allowed = {str(each).removeprefix("*.") for each in source.get("allowed_domains") or ()}
    return domain in allowed or any(_is_of(str(seed), domain) for seed in config.get("seeds") or ())


def erased(file: ArchiveFile, domain: str, at: datetime) -> Erasure | None:
    """Overwrite the domain's records in a file, and in its first copy; None where the file is not there."""
    try:
        return _erased(file, domain, at)
    except OSError as error:
        raise as_store_error(error, str(file.path), hint="then purge again") from error


def _erased(file: ArchiveFile, domain: str, at: datetime) -> Erasure | None:
    copies = [path for path in (file.path, found_at(file.path)) if path is not None]
    done, *_ = [_overwritten(path, domain, at) for path in copies]
    if done is None:
        return None
    if done.is_done and not done.others:
        correct_entry(file.path, None)
        for path in copies:
            path.unlink(missing_ok=True)
        return done
    if not done.is_done and file.sha256 and (now := digest_of(file.path)) != file.sha256:
        # Somebody who died before it was written down had erased what its rows still name.
        done = evolve(done, is_done=True, others=max(done.others, 1), sha256_before=file.sha256, sha256=now)
    if done.is_done:
        correct_entry(file.path, done.sha256_for(file.sha256))
    return done


def _overwritten(path: Path, domain: str, at: datetime) -> Erasure | None:
    try:
        return erase_where(path, lambda url: _is_of(url, domain), at, what=domain)
    except NotFoundError:
        return None


def note(db: Transaction, file: ArchiveFile, done: Erasure | None) -> None:
    """Have the file's row say what became of it; the records' own rows go with the others."""
    if done is None or not done.is_done:
        return
    note_erasure(db, file.path, done, PURGED)
    if not done.others and file.row_id is not None:
        row = db.get_one(WarcFile, file.row_id)
        row.state, row.gone_at, row.gone_why = "gone", db.now, PURGED


def _is_of(url: str, domain: str | None) -> bool:
    try:
        return bool(url) and domain_of(url) == domain
    except BadUrlError:
        return False


# ── what jobs say of themselves ──


def folders_of(db: Transaction, jobs: Iterable[int]) -> dict[int, Path]:
    """Where jobs have their archives."""
    rows = db.execute(select(Job.id, Job.output_dir).where(Job.id.in_(jobs)).order_by(Job.id))
    return {job_id: Path(folder) for job_id, folder in rows}


def counted(folder: Path) -> Sizes | None:
    """What is left in a job's folder; None where nobody can say."""
    try:
        return sizes_of(folder) if folder.is_dir() else None
    except OSError as error:  # a mount that is away
        log.warning("purge.not_counted", folder=str(folder), error=error.strerror)
        return None


def require_idle(db: Transaction, jobs: Iterable[int]) -> None:
    """Refuse while one of them is worked on: its log is being written, and its files may be."""
    at_work = select(Job.id).where(Job.id.in_(jobs), Job.status.in_(AT_WORK)).order_by(Job.id).limit(1)
    if (job_id := db.scalar(at_work)) is not None:
        raise LockedError(f"job {job_id} is at work, and was at it", hint=GOES_ON)


def lines_in(folders: Iterable[Path], scope: Reach) -> int:
    """How many lines of the jobs' logs name it."""
    return sum(_in_logs(lines_naming, folder, scope) for folder in folders)


def cut_logs(db: Transaction, job_id: int, scope: Reach) -> int:
    """Take what names it out of a job's logs; how many lines. Nobody begins with the job meanwhile."""
    job = db.get_one(Job, job_id, with_for_update=True, populate_existing=True)
    require_idle(db, [job_id])
    folder = Path(job.output_dir)
    if not folder.is_dir():  # a mount that is away, or what an operator removed
        log.warning("purge.logs_not_there", job=job_id, folder=str(folder))
    return _in_logs(cut_lines_naming, folder, scope)


def _in_logs(act: Callable[[Path, str], int], folder: Path, scope: Reach) -> int:
    try:
        return act(folder, scope.domain or str(scope.session_id))
    except OSError as error:
        raise as_store_error(error, str(folder), hint="then purge again") from error


def write_counts(db: Transaction, job_id: int, left: Sizes | None) -> None:
    """Have a job's row say what is there now; one of which nothing is left can be indexed all the same."""
    pages = select(func.count()).select_from(Snapshot).where(Snapshot.job_id == job_id)
    values: dict[str, Any] = {"indexed_page_count": db.scalar(pages), "updated_at": db.now}
    if left is not None:
        values |= {**asdict(left), "storage_scanned_at": db.now}
        values |= {} if left.warc_file_count else {"emptied_at": db.now}
    db.execute(update(Job).where(Job.id == job_id).values(values))
