"""What is put right by hand: options are changed as a whole, and no WARC file is lost on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import AuditEntry, Job
from crawler.jobs import upkeep
from crawler.jobs.lifecycle import JobStateError
from crawler.jobs.storage import ArchiveBusyError, locked
from tests.unit.views.rows import NOW, a_job

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


def lay(folder: Path, **files: bytes) -> None:
    """Files by their paths: two underlines are a slash, one is a dot."""
    for name, data in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_counts_of_a_job_at_work_are_its_workers(database: Database) -> None:
    """Of any other they are forgotten, and the audit log remembers them."""
    with database.write() as db:
        waiting = a_job(status="failed", retry_count=2, infra_errors=3, config={})
        db.add(waiting)
        upkeep.reset_retries(db, waiting, who="me", now=NOW)
        with pytest.raises(JobStateError):
            upkeep.reset_retries(db, a_job(id=9, status="running"), who="me", now=NOW)
    with database.read() as db:
        job, entry = db.scalars(select(Job)).one(), db.scalars(select(AuditEntry)).one()
    assert (job.retry_count, job.infra_errors, job.status) == (0, 0, "failed")
    assert (entry.actor, entry.details["retry_count"], entry.details["infra_errors"]) == ("me", 2, 3)


def test_every_file_has_a_name_of_its_own(tmp_path: Path) -> None:
    """However many have the same one; what lies there already is not copied again."""
    lay(
        tmp_path, _tmpa__a_warc_gz=b"1", _tmpa__more__a_warc_gz=b"22", _tmpa__most__a_warc_gz=b"333",
        _tmpb__a_warc_gz=b"4444", _tmpb__b_warc_gz=b"same", warcs__b_warc_gz=b"same", _tmpb__no_warc_gz=b"",
        warcs__c_warc_gz=b"mine", _tmpb__c_warc_gz=b"other", tmpc__d_warc_gz=b"5",
    )  # fmt: skip
    places = upkeep.to_move(tmp_path)
    wanted = {b"1", b"22", b"333", b"4444", b"other"}
    assert {path.read_bytes() for path in places.values()} == wanted
    assert not places.keys() & {"b.warc.gz", "c.warc.gz", "no.warc.gz", "d.warc.gz"}
    for name, path in places.items():
        (tmp_path / "warcs" / name).write_bytes(path.read_bytes())
    assert upkeep.to_move(tmp_path) == {}


def test_a_folder_that_somebody_writes_to_is_left_alone(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is that of a job at work."""
    lay(tmp_path, _tmpa__a_warc_gz=b"12345")
    monkeypatch.setattr("crawler.jobs.storage.PATIENCE_SECONDS", -1.0)
    with database.write() as db:
        jobs = [a_job(status="indexed", output_dir=str(tmp_path)), a_job(status="running", output_dir="/x")]
        db.add_all(jobs)
        db.flush()
        indexed, running = (job.id for job in jobs)
    with locked(tmp_path), pytest.raises(ArchiveBusyError):
        upkeep.consolidate(database, indexed, who="me")
    with pytest.raises(JobStateError):
        upkeep.consolidate(database, running, who="me")
    assert not (tmp_path / "warcs").exists()
