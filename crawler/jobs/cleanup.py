"""What of an archive's folder goes when it is cleaned up: planned first, then done (SPEC 119-129)."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import false, func, or_, select, update

from crawler import logs
from crawler.db.models import Job, Record, WarcFile
from crawler.engines.state import STATE_FILE, is_temp_folder, temp_folders, warc_files
from crawler.errors import NotFoundError
from crawler.jobs.lifecycle import CLEANABLE, JobStateError
from crawler.jobs.storage import locked
from crawler.retention.holds import note_action

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database

CLEANED, GONE_WHY = "temp_cleaned", "removed_by_cleanup"

log = logs.get_logger(__name__)


@frozen
class CleanupPlan:
    """What would go, and what that would cost."""

    job: int
    folder: str
    folders: tuple[str, ...]  # names of temporary folders
    state_file: bool
    bytes: int
    warc_files: int  # among what goes
    records: int  # captures that could be replayed from it no longer
    dry_run: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.folders


def plan(db: Session, job: Job) -> CleanupPlan:
    """Look at what is there; nothing is changed."""
    if job.status not in CLEANABLE:
        allowed = " or ".join(CLEANABLE)
        raise JobStateError(f"job {job.id} is {job.status}; only one that is {allowed} is cleaned up")
    folder = folder_of(job)
    found = temp_folders(folder)
    warcs = [
        path
        for path in warc_files(folder)
        if path.relative_to(folder).parts[0] in {each.name for each in found}
    ]
    return CleanupPlan(
        job=job.id, folder=str(folder), folders=tuple(path.name for path in found),
        state_file=(folder / STATE_FILE).is_file(), bytes=sum(map(_bytes_of, found)), warc_files=len(warcs),
        records=db.scalar(select(func.count()).select_from(Record).where(_lie_in(job, found))) or 0,
    )  # fmt: skip


def folder_of(job: Job) -> Path:
    """A job's folder, which has to be there."""
    folder = Path(job.output_dir)
    if not folder.is_dir() or folder.is_symlink():
        raise NotFoundError(f"the folder of job {job.id} is not there: {folder}")
    return folder


def clean_up(database: Database, settings: Settings, job_id: int, *, force: bool, who: str) -> CleanupPlan:
    """Mark the records, remove the folders, write the row, and say so in the audit log.

    Readers see first that it is gone: what is half removed is never read.
    """
    with database.write() as db:
        job = db.get_one(Job, job_id, with_for_update=True)
        planned = plan(db, job)
        if replay_is_enabled(settings) and not force:
            raise JobStateError(
                f"replay is enabled, and {planned.records} captures of job {job_id} may lie in what would go",
                hint="--force removes them all the same",
            )
    if planned.is_empty:
        return planned
    folder = Path(planned.folder)
    with locked(folder):
        with database.write() as db:
            _mark_gone(db, job_id, [folder / name for name in planned.folders])
        for name in planned.folders:
            remove_temp_folder(folder / name)
        (folder / STATE_FILE).unlink(missing_ok=True)
        with database.write() as db:
            cleaned = {
                "cleanup_status": CLEANED, "cleaned_at": db.now, "state_file_path": None,
                "tmp_bytes_total": 0, "tmp_non_warc_bytes_total": 0, "updated_at": db.now,
            }  # fmt: skip
            db.execute(update(Job).where(Job.id == job_id).values(**cleaned))
            note_action(
                db, "job.cleanup", f"job {job_id}", actor=who, now=db.now, folders=list(planned.folders),
                bytes=planned.bytes, records=planned.records, warc_files=planned.warc_files,
            )  # fmt: skip
    log.info("job.cleaned", job=job_id, folders=len(planned.folders), bytes=planned.bytes)
    return planned


def replay_is_enabled(settings: Settings) -> bool:
    """Whether somebody replays archives from here (SPEC 8, 128)."""
    return bool(settings.replay_base_url)


def remove_temp_folder(path: Path) -> None:
    """Remove a folder that is temporary by its name, and no link (SPEC 126); links are not followed."""
    if not is_temp_folder(path):
        raise NotFoundError(f"{path} is no temporary folder")
    shutil.rmtree(path)


def _mark_gone(db: Any, job_id: int, folders: list[Path]) -> None:
    job = db.get_one(Job, job_id)
    lie_in = _lie_in(job, folders)
    quietly = {"synchronize_session": False}
    db.execute(
        update(Record).where(lie_in, Record.gone_at.is_(None)).values(gone_at=db.now),
        execution_options=quietly,
    )
    files = update(WarcFile).where(_are_in(job, folders), WarcFile.gone_at.is_(None))
    db.execute(files.values(state="gone", gone_at=db.now, gone_why=GONE_WHY), execution_options=quietly)


def _lie_in(job: Job, folders: list[Path]) -> ColumnElement[bool]:
    return Record.warc_file_id.in_(select(WarcFile.id).where(_are_in(job, folders)))


def _are_in(job: Job, folders: list[Path]) -> ColumnElement[bool]:
    """The WARC files of a job's folder that lie in one of these."""
    inside = [WarcFile.path.startswith(f"{each.name}/", autoescape=True) for each in folders]
    below = or_(false(), *inside)
    themselves = or_(false(), *(WarcFile.folder.startswith(f"{each}", autoescape=True) for each in folders))
    return or_((WarcFile.folder == job.output_dir) & below, themselves)


def _bytes_of(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            found = (Path(where) / name).lstat()
            total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total
