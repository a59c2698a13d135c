"""A home folder that was moved or copied with its database: rows follow the WARC files and archives in it.

Rows name these files by whole paths. Without this a moved home would have none of them, and a purge in a copy
would erase the original's files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import func, select, update

from crawler import logs
from crawler.db.models import Job, Run, StoreMark, WarcFile

if TYPE_CHECKING:
    from sqlalchemy.orm import InstrumentedAttribute, Session

    from crawler.db.engine import Database

HOME = "home"
_PATHS: tuple[InstrumentedAttribute[str] | InstrumentedAttribute[str | None], ...] = (
    WarcFile.folder, Job.output_dir, Job.combined_log_path, Job.state_file_path,
)  # fmt: skip

log = logs.get_logger(__name__)


def follow_home(database: Database, home: Path, *, may_remember: bool) -> None:
    """Have rows name files below `home` that they name below the home in which the database was before.

    Only a SQLite database that lies in its home moves with it: a server's may have several homes.
    """
    if database.path is None or database.path.absolute().parent != home.absolute():
        return
    here = str(home.absolute())
    with database.read() as db:
        known = db.get(StoreMark, HOME)
    if known is None and may_remember:
        with database.write() as db:
            if db.get(StoreMark, HOME) is None:
                db.add(StoreMark(place=HOME, mark=uuid4(), root=here, created_at=db.now))
    elif known is not None and known.root != here and not _is_same(known.root, here):
        with database.write() as db:
            known = db.get_one(StoreMark, HOME, with_for_update=True)
            _rewrite(db, known.root, here)
            known.root = here
        log.info("home.moved", home=here)


def _is_same(before: str, now: str) -> bool:
    """Return whether both are names of one folder, as a link is."""
    try:
        return Path(before).samefile(now)
    except OSError:
        return False


def _rewrite(db: Session, before: str, now: str) -> None:
    for path in _PATHS:
        moved = now + func.substr(path, len(before) + 1)
        is_below = path.startswith(f"{before}/", autoescape=True)
        db.execute(update(path.class_).where(is_below).values({path: moved}))
    for run in db.scalars(select(Run)):
        keeping = run.plan.get("keeping") or {}
        folder = keeping.get("warc_dir")
        if folder and Path(folder).is_relative_to(before):
            warc_dir = str(now / Path(folder).relative_to(before))
            run.plan = {**run.plan, "keeping": {**keeping, "warc_dir": warc_dir}}
