"""What of an archive's folder goes when it is cleaned up: planned first, then done."""

from __future__ import annotations

import os
import shutil
import stat
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import false, func, or_, select, update

from crawler import logs
from crawler.db.models import Job, Record, WarcFile
from crawler.engines.state import (
    STATE_FILE,
    is_temp_folder,
    named_folders,
    temp_folders,
    warc_files,
    write_atomically,
)
from crawler.errors import NotFoundError
from crawler.jobs.lifecycle import CLEANABLE, JobStateError
from crawler.jobs.storage import locked
from crawler.jobs.upkeep import consolidate, to_move
from crawler.retention.holds import note_action

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction

GONE_WHY = "removed_by_cleanup"
PROVENANCE = "provenance"
MAX_PROVENANCE_BYTES = 256 * 1024 * 1024  # of one file
_CONFIGS = ("collections/crawl-*/crawls/*.yaml", "collections/crawl-*/crawls/*.json", "*.yaml")

log = logs.get_logger(__name__)


class CleanupMode(StrEnum):
    """What of temporary folders goes: all of it, or all but the WARC files."""

    TEMP = "temp"
    TEMP_NONWARC = "temp-nonwarc"

    @property
    def status(self) -> str:
        """What a job's row says afterwards."""
        return f"{self.replace('-', '_')}_cleaned"


@frozen
class CleanupPlan:
    """What would go, and what that would cost."""

    job: int
    folder: str
    mode: CleanupMode
    folders: tuple[str, ...]  # names of temporary folders
    state_file: bool
    bytes: int
    warc_files: int  # among what goes
    records: int  # captures that could be replayed from it no longer
    moved: int  # WARC files that get a place of their own first
    was_begun: bool  # a cleanup died in the midst of it

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.folders or self.was_begun)


def plan(db: Session, job: Job, mode: CleanupMode = CleanupMode.TEMP) -> CleanupPlan:
    """Look at what is there; nothing is changed."""
    if job.status not in CLEANABLE:
        allowed = " or ".join(CLEANABLE)
        raise JobStateError(f"job {job.id} is {job.status}; only one that is {allowed} is cleaned up")
    folder = folder_of(job)
    found = temp_folders(folder)
    names = {each.name for each in found}
    warcs = [path for path in warc_files(folder) if path.relative_to(folder).parts[0] in names]
    size, records, moved = sum(map(_bytes_of, found)), 0, 0
    if mode is CleanupMode.TEMP:
        lost = select(func.count()).select_from(Record).where(_lie_in(job, found))
        records = db.scalar(lost) or 0
    else:
        size -= sum(path.lstat().st_size for path in warcs)
        moved, warcs = len(to_move(folder)), []
    return CleanupPlan(
        job=job.id, folder=str(folder), mode=mode, folders=tuple(path.name for path in found),
        state_file=(folder / STATE_FILE).is_file(), bytes=size, warc_files=len(warcs), records=records,
        moved=moved, was_begun=bool(set(named_folders(folder)) - names) and job.cleaned_at is None,
    )  # fmt: skip


def folder_of(job: Job) -> Path:
    """A job's folder, which has to be there."""
    folder = Path(job.output_dir)
    if not folder.is_dir() or folder.is_symlink():
        raise NotFoundError(f"the folder of job {job.id} is not there: {folder}")
    return folder


def clean_up(
    database: Database, settings: Settings, job_id: int, *, force: bool, who: str,
    mode: CleanupMode = CleanupMode.TEMP,
) -> CleanupPlan:  # fmt: skip
    """Mark the records, remove the folders, write the row, and say so in the audit log.

    Readers see first that it is gone: what is half removed is never read.
    """
    with database.write() as db:
        job = db.get_one(Job, job_id, with_for_update=True)
        planned = plan(db, job, mode)
        if mode is CleanupMode.TEMP and replay_is_enabled(settings) and not force:
            raise JobStateError(
                f"replay is enabled, and {planned.records} captures of job {job_id} may lie in what would go",
                hint="--mode temp-nonwarc keeps them; --force removes them all the same",
            )
    if planned.is_empty:
        return planned
    if mode is CleanupMode.TEMP_NONWARC:
        consolidate(database, job_id, who=who)
    folder = Path(planned.folder)
    with locked(folder):
        _make_ready(database, job_id, planned)
        for name in planned.folders:
            remove_temp_folder(folder / name)
        with database.write() as db:
            _note_done(db, planned, who)
        # The last to go: it names the folders, by which a cleanup that died here is known.
        (folder / STATE_FILE).unlink(missing_ok=True)
    log.info("job.cleaned", job=job_id, mode=str(mode), folders=len(planned.folders), bytes=planned.bytes)
    return planned


def _make_ready(database: Database, job_id: int, planned: CleanupPlan) -> None:
    """Have readers see what goes as gone; where WARC files are kept, be sure that all of them are."""
    folder = Path(planned.folder)
    folders = [folder / name for name in planned.folders]
    if planned.mode is CleanupMode.TEMP:
        with database.write() as db:
            _mark_gone(db, job_id, folders)
        return
    with database.read() as db:
        inside = _lie_in(db.get_one(Job, job_id), folders) & Record.gone_at.is_(None)
        left = db.scalar(select(func.count()).select_from(Record).where(inside))
    if left or to_move(folder):
        raise JobStateError(
            f"{left} captures of job {job_id} still lie in what would go",
            hint="index the job again, or see what is in its temporary folders",
        )
    _keep_provenance(folder, folders)


def _keep_provenance(folder: Path, folders: list[Path]) -> None:
    """Copy what says how the archive came about: the tool's state, and its engine's configurations."""
    kept = {STATE_FILE.removeprefix("."): folder / STATE_FILE}
    for temp in folders:
        for path in (path for pattern in _CONFIGS for path in sorted(temp.glob(pattern))):
            kept[f"{temp.name.removeprefix('.')}-{path.name}"] = path
    (folder / PROVENANCE).mkdir(exist_ok=True)
    for name, path in kept.items():
        found = path.lstat() if os.path.lexists(path) else None
        if found and stat.S_ISREG(found.st_mode) and found.st_size <= MAX_PROVENANCE_BYTES:
            write_atomically(folder / PROVENANCE / name, path.read_bytes())


def _note_done(db: Transaction, planned: CleanupPlan, who: str) -> None:
    cleaned = {
        "cleanup_status": planned.mode.status, "cleaned_at": db.now, "state_file_path": None,
        "tmp_bytes_total": 0, "tmp_non_warc_bytes_total": 0, "updated_at": db.now,
    }  # fmt: skip
    db.execute(update(Job).where(Job.id == planned.job).values(**cleaned))
    note_action(
        db, "job.cleanup", f"job {planned.job}", actor=who, now=db.now, mode=str(planned.mode),
        folders=list(planned.folders), bytes=planned.bytes, records=planned.records,
        warc_files=planned.warc_files, moved=planned.moved,
    )  # fmt: skip


def replay_is_enabled(settings: Settings) -> bool:
    """Whether somebody replays archives from here."""
    return bool(settings.replay_base_url)


def remove_temp_folder(path: Path) -> None:
    """Remove a folder that is temporary by its name, and no link; links are not followed."""
    if not is_temp_folder(path):
        raise NotFoundError(f"{path} is no temporary folder")
    shutil.rmtree(path)


def _mark_gone(db: Transaction, job_id: int, folders: list[Path]) -> None:
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
