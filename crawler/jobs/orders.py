"""Jobs are made, registered, tried again; each change of a state is checked, and has its step with it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen
from sqlalchemy import exists, or_, select, update

from crawler.db.models import Job, JobStep
from crawler.errors import NotFoundError, UsageError
from crawler.jobs import registry
from crawler.jobs.lifecycle import RETRIED, JobStateError, JobStatus, require_change
from crawler.runs.sources import job_name_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.runs.sources import Source

RETRIED_PRIORITY = 1  # in front of what nobody asked for again
MAX_TWINS = 1_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@frozen
class JobOrder:
    """What a new job is asked to do beyond what its source says."""

    seeds: tuple[str, ...] = ()
    options: Mapping[str, Any] | None = None
    passthrough: tuple[str, ...] = ()
    max_pages: int | None = None
    depth: int | None = None


def checked_name(name: str) -> str:
    """The name of an archive, which is the name of files too."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise UsageError(
            f"{name[:80]!r} is no name of an archive",
            hint="letters, digits and . _ - in between, at most 100",
        )
    return name


def create(db: Session, settings: Settings, source: Source, order: JobOrder, *, now: datetime) -> Job:
    """Write a queued job with its crawl."""
    row = registry.find_registered(db, source.code)
    if not (source.enabled and row.enabled):
        raise JobStateError(f"source {source.code} is not enabled", hint="enabled = true in its table")
    limited = evolve(
        source,
        max_pages=source.max_pages if order.max_pages is None else order.max_pages,
        depth=source.depth if order.depth is None else order.depth,
    )
    config = registry.job_config(limited, settings, order.seeds, order.options, passthrough=order.passthrough)
    name = checked_name(job_name_of(source, now))
    folder = _free_folder(db, registry.output_dir_of(settings.archives, source, name, now))
    job = Job(
        source_id=row.id, name=name, output_dir=str(folder), engine=source.engine, status=JobStatus.QUEUED,
        config=config, created_at=now, updated_at=now, queued_at=now,
    )  # fmt: skip
    db.add(job)
    db.flush()
    db.add(JobStep(job_id=job.id, kind="crawl", detail={}, next_run_at=now, created_at=now, updated_at=now))
    db.flush()
    return job


def register(db: Session, code: str, folder: Path, name: str | None, *, now: datetime) -> Job:
    """Write a job for an archive that is there already."""
    source = registry.find_registered(db, code)
    if not folder.is_dir() or folder.is_symlink():
        raise NotFoundError(f"{folder} is no folder")
    resolved = folder.resolve()
    if _is_taken(db, resolved):
        raise JobStateError(f"{resolved} belongs to another job")
    if (other := _overlapping(db, resolved)) is not None:
        raise JobStateError(f"{resolved} and the folder of job {other.id} lie in one another")
    job = Job(
        source_id=source.id, name=checked_name(name) if name else resolved.name[:100],
        output_dir=str(resolved), status=JobStatus.COMPLETED, config=None, created_at=now, updated_at=now,
        queued_at=now,
    )  # fmt: skip
    db.add(job)
    db.flush()
    return job


def retry(db: Session, job: Job, now: datetime) -> JobStatus:
    """Let a failed job be tried again; a crawl goes in front of others then."""
    after = RETRIED.get(JobStatus(job.status))
    if after is None:
        tried = " or ".join(RETRIED)
        raise JobStateError(f"job {job.id} is {job.status}; only one that is {tried} is tried again")
    move(db, job, after, now)
    if after is JobStatus.RETRYABLE:
        job.infra_errors = 0
        again = {
            "status": "pending", "priority": RETRIED_PRIORITY, "next_run_at": now, "attempts": 0,
            "finished_at": None, "updated_at": now,
        }  # fmt: skip
        db.execute(update(JobStep).where(JobStep.job_id == job.id, JobStep.kind == "crawl").values(again))
    return after


def move(db: Session, job: Job, after: JobStatus, now: datetime) -> None:
    """Change the state of a job, from the one that it was read in; whoever came first has changed it."""
    before = job.status
    require_change(job.id, before, after)
    changed = db.connection().execute(
        update(Job.__table__)  # type: ignore[arg-type]
        .where(Job.id == job.id, Job.status == before)
        .values(status=after, updated_at=now)
    )
    if changed.rowcount != 1:
        raise JobStateError(f"job {job.id} is no longer {before}; it did not become {after}")
    db.refresh(job)


def require_folder_inside(folder: Path, root: Path) -> None:
    """Refuse a job's folder that a link leads to, or that lies elsewhere than archives do."""
    real_root = Path(os.path.realpath(root))
    if Path(os.path.realpath(folder)) != real_root / os.path.relpath(folder, root) or ".." in folder.parts:
        raise UsageError(f"{folder} is not a folder of its own in {root}", hint="links are not followed")
    if not folder.is_relative_to(root) or folder == root:
        raise UsageError(f"{folder} does not lie in {root}", hint="ARCHIVE_ROOT says where archives lie")


def _free_folder(db: Session, wanted: Path) -> Path:
    """A folder that nothing else has; two jobs of one second are told apart by a number."""
    for number in range(1, MAX_TWINS):
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        if not _is_taken(db, folder) and not os.path.lexists(folder):
            return folder
    raise JobStateError(f"{wanted} and all folders like it are taken")


def _overlapping(db: Session, folder: Path) -> Job | None:
    """A job whose folder lies in this one, or around it."""
    inside = Job.output_dir.startswith(f"{folder}/", autoescape=True)
    around = Job.output_dir.in_([str(each) for each in folder.parents])
    return db.scalars(select(Job).where(or_(inside, around)).limit(1)).first()


def _is_taken(db: Session, folder: Path) -> bool:
    return bool(db.scalar(select(exists().where(Job.output_dir == str(folder)))))
