"""Jobs put right by hand: their options changed, their counts reset, their WARCs brought to one place."""

from __future__ import annotations

import filecmp
import hashlib
import os
import shutil
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen
from sqlalchemy import and_, or_, update

from crawler.db.models import Job, WarcFile
from crawler.engines.flags import checked_options, checked_passthrough
from crawler.engines.state import temp_folders, warc_files
from crawler.evidence.archive_folders import entries_of, sizes_of, write_entries
from crawler.jobs.lifecycle import CRAWLABLE, JobStateError, JobStatus
from crawler.jobs.registry import checked_seeds
from crawler.jobs.storage import locked
from crawler.retention.holds import note_action

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import Update
    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction

PATCHABLE = (*CRAWLABLE, JobStatus.FAILED)


@frozen
class MovedFile:
    """A WARC file that has a place of its own below `warcs/`."""

    name: str
    found_at: str  # below the archive's folder
    size_bytes: int
    sha256: str


def validate(job: Job, settings: Settings) -> None:
    """Raise what is wrong with a job's configuration; what is right says nothing."""
    config = job.config or {}
    checked_seeds(config.get("seeds") or (), settings)
    checked_options(config.get("tool_options") or {})
    checked_passthrough(config.get("zimit_passthrough_args") or ())


def patched(job: Job, options: Mapping[str, Any]) -> dict[str, Any]:
    """A job's configuration with some options otherwise, checked as a whole; an empty text takes one out."""
    if job.status not in PATCHABLE:
        allowed = " or ".join(PATCHABLE)
        raise JobStateError(f"job {job.id} is {job.status}; only one that is {allowed} is changed")
    config = dict(job.config or {})
    said = {**(config.get("tool_options") or {}), **options}
    kept = {name: value for name, value in said.items() if not isinstance(value, str) or value}
    return {**config, "tool_options": checked_options(kept)}


def write_config(db: Session, job: Job, config: dict[str, Any], *, who: str, now: datetime) -> None:
    """Store a configuration, and who changed it."""
    before = (job.config or {}).get("tool_options")
    job.config, job.updated_at = config, now
    note_action(
        db, "job.patch", f"job {job.id}", actor=who, now=now, before=before, after=config["tool_options"]
    )


def reset_retries(db: Session, job: Job, *, who: str, now: datetime) -> None:
    """Let a job's failures be forgotten; its state stays."""
    if job.status == JobStatus.RUNNING:
        raise JobStateError(f"job {job.id} is {job.status}; its counts are its worker's")
    before = {"retry_count": job.retry_count, "infra_errors": job.infra_errors}
    job.retry_count = job.infra_errors = 0
    job.updated_at = now
    note_action(db, "job.reset_retries", f"job {job.id}", actor=who, now=now, **before)


def measure(db: Transaction, job: Job) -> None:
    """Count a job's files anew."""
    for name, value in asdict(sizes_of(Path(job.output_dir))).items():
        setattr(job, name, value)
    job.storage_scanned_at = db.now


def to_move(folder: Path) -> dict[str, Path]:
    """The WARC files of temporary folders by the names that they get below `warcs/`."""
    stable = folder / "warcs"
    taken = {path.name: path for path in stable.iterdir()} if stable.is_dir() else {}
    moved: dict[str, Path] = {}
    temporary = {path.name for path in temp_folders(folder)}
    for path in warc_files(folder):
        top = path.relative_to(folder).parts[0]
        if top not in temporary or not path.stat().st_size:
            continue
        for name in _names_for(path, top.lstrip(".")):
            there = taken.get(name) or moved.get(name)
            if there is None:
                moved[name] = path
            if there is None or (there.is_file() and filecmp.cmp(there, path, shallow=False)):
                break
    return moved


def _names_for(path: Path, top: str) -> Iterator[str]:
    """Names that a file may get, until one is free, or is that of the same bytes."""
    yield path.name
    yield f"{top}-{path.name}"
    yield from (f"{top}-{number}-{path.name}" for number in count(2))


def consolidate(database: Database, job_id: int, *, who: str) -> list[MovedFile]:
    """Give each WARC file of a temporary folder a place that a cleanup leaves alone, with a manifest.

    It is the same file where the file system can do that, and a copy elsewhere; rows follow it.
    """
    with database.read() as db:
        job = db.get_one(Job, job_id)
    if job.status == JobStatus.RUNNING:
        raise JobStateError(f"job {job.id} is {job.status}; its files are its worker's")
    folder = Path(job.output_dir)
    with locked(folder):
        stable, places = folder / "warcs", to_move(folder)
        if not places:
            return []
        stable.mkdir(exist_ok=True)
        moved = [_moved(folder, stable / name, path) for name, path in places.items()]
        _add_to_manifest(stable, moved)
        with database.write() as db:
            for each in moved:
                db.execute(_moves(folder, each))
            note_action(db, "job.consolidate", f"job {job_id}", actor=who, now=db.now, files=len(moved))
    return moved


def _moves(folder: Path, each: MovedFile) -> Update:
    """The row of a file follows it, whether it names the archive's folder or the file's own."""
    found_at = folder / each.found_at
    by_archive = and_(WarcFile.folder == str(folder), WarcFile.path == each.found_at)
    by_itself = and_(WarcFile.folder == str(found_at.parent), WarcFile.path == found_at.name)
    there = update(WarcFile).where(or_(by_archive, by_itself))
    return there.values(folder=str(folder), path=f"warcs/{each.name}")


def _moved(folder: Path, to: Path, path: Path) -> MovedFile:
    try:
        os.link(path, to, follow_symlinks=False)
    except OSError:  # another file system, or one that knows no links
        beside = to.with_name(f".{to.name}.part")
        shutil.copyfile(path, beside, follow_symlinks=False)
        beside.replace(to)
    with to.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return MovedFile(to.name, str(path.relative_to(folder)), to.stat().st_size, digest)


def _add_to_manifest(stable: Path, moved: list[MovedFile]) -> None:
    """Write what `vitrine warcs verify --manifest` compares, beside what stood in it before."""
    names = {each.name for each in moved}
    entries = [
        {"path": each.name, "found_at": each.found_at, "size_bytes": each.size_bytes, "sha256": each.sha256}
        for each in moved
    ]
    write_entries(stable, [*(each for each in entries_of(stable) if each.get("path") not in names), *entries])
