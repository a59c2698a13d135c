"""Cleaning up: what goes, what stays, who is told; and WARC files brought to safety before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from sqlalchemy import select, update

from crawler.config import load_settings
from crawler.db.models import AuditEntry, Job, Record, WarcFile
from crawler.errors import NotFoundError
from crawler.evidence.warc_tools import verify_manifest
from crawler.jobs import cleanup, upkeep
from crawler.jobs.lifecycle import JobStateError
from tests.unit.views.rows import THEN, a_job

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

# The statements that differ between databases are tested where they are written.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
KEEPING = cleanup.CleanupMode.TEMP_NONWARC
FILES = {
    ".archive_state.json": b"{}", ".tmpa/collections/crawl-1/archive/a.warc.gz": b"a" * 50,
    ".tmpa/log": b"b" * 7,
    ".tmpb/a.warc.gz": b"c" * 60, "warcs/s.warc.gz": b"d" * 10, "x.zim": b"e" * 3, "tmpc/stays": b"",
}  # fmt: skip


@pytest.fixture
def archive(tmp_path: Path, database: Database) -> Path:
    """An indexed job with two temporary folders, a link among them, and what is known of its WARC files."""
    folder = tmp_path / "archive"
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (folder / ".tmplink").symlink_to(tmp_path / "precious")
    (folder / ".tmpa" / "link").symlink_to(tmp_path / "precious")
    with database.write() as db:
        db.add(a_job(id=1, output_dir=str(folder), status="indexed", state_file_path="x"))
        for number, name in enumerate(
            (".tmpa/collections/crawl-1/archive/a.warc.gz", "warcs/s.warc.gz"), start=1
        ):
            db.add(WarcFile(id=number, folder=str(folder), path=name, state="sealed", created_at=THEN))
            db.flush()
            db.add(a_record(number))
    return folder


def a_record(number: int) -> Record:
    """An answer in a WARC file."""
    return Record(
        warc_file_id=number, offset=0, length=10, kind="response", url="https://shop.example/",
        url_key="example,shop)/", captured_at=THEN,
    )  # fmt: skip


def job_of(database: Database) -> Job:
    """The job's row."""
    with database.read() as db:
        return db.get_one(Job, 1)


def cleaned(database: Database, **more: Any) -> cleanup.CleanupPlan:
    """Clean up."""
    settings = load_settings({"DATABASE_URL": database.url.render_as_string(hide_password=False)})
    return cleanup.clean_up(database, settings, 1, who="me", **{"force": False, **more})


def test_a_plan_changes_nothing(archive: Path, database: Database) -> None:
    """It says what would go, how much that is, and what it costs."""
    with database.read() as db:
        plan = cleanup.plan(db, db.get_one(Job, 1))
    assert sorted(plan.folders) == [".tmpa", ".tmpb"]
    assert (plan.bytes, plan.warc_files, plan.records, plan.state_file) == (117, 2, 1, True)
    assert all((archive / name).exists() for name in FILES)


def test_temporary_folders_go_and_nothing_else(archive: Path, database: Database, tmp_path: Path) -> None:
    """SPEC 125-127: no link is followed, readers are told, the audit log too."""
    assert not cleaned(database).is_empty
    left = sorted(str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file())
    assert left == [".archive.lock", "tmpc/stays", "warcs/s.warc.gz", "x.zim"]
    assert (tmp_path / "precious" / "file").exists()
    job = job_of(database)
    assert (job.cleanup_status, job.state_file_path, job.cleaned_at is not None) == (
        "temp_cleaned",
        None,
        True,
    )
    with database.read() as db:
        gone = db.scalars(select(Record).where(Record.gone_at.is_not(None))).all()
        files = db.execute(select(WarcFile.id, WarcFile.state, WarcFile.gone_why)).all()
        [entry] = db.scalars(select(AuditEntry))
    assert [record.warc_file_id for record in gone] == [1]
    assert sorted(files) == [(1, "gone", "removed_by_cleanup"), (2, "sealed", None)]
    assert (entry.action, entry.actor, entry.details["bytes"]) == ("job.cleanup", "me", 117)


@pytest.mark.parametrize("status", ["failed", "completed", "indexing"])
def test_only_what_is_through_is_cleaned_up(archive: Path, database: Database, status: str) -> None:
    """SPEC 121."""
    with database.write() as db:
        db.execute(update(Job).values(status=status))
    with pytest.raises(JobStateError, match=f"job 1 is {status}; only one that is indexed or index_failed"):
        cleaned(database)
    assert (archive / ".tmpa").exists()


def test_replay_is_not_pulled_away(
    archive: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC 128: refused before anything is touched, unless it is forced."""
    monkeypatch.setattr(cleanup, "replay_is_enabled", lambda _: True)
    with pytest.raises(JobStateError, match="replay is enabled, and 1 captures"):
        cleaned(database)
    assert (archive / ".tmpa").exists()
    assert not cleaned(database, force=True).is_empty


@pytest.mark.parametrize("name", [".tmplink", "tmpc", "warcs", ".archive_state.json"])
def test_what_is_no_temporary_folder_is_never_removed(archive: Path, name: str) -> None:
    """SPEC 126."""
    with pytest.raises(NotFoundError):
        cleanup.remove_temp_folder(archive / name)
    assert (archive / name).exists()


def test_warc_files_are_brought_to_safety(archive: Path, database: Database) -> None:
    """Each under a name of its own, by its content, with a manifest; what a cleanup takes is no loss then."""
    moved = upkeep.consolidate(database, 1, who="me")
    names = sorted(each.name for each in moved)
    assert (len(names), names[0], names[1][-10:]) == (2, "a.warc.gz", "-a.warc.gz"[-10:])
    manifest = json.loads((archive / "warcs" / "manifest.json").read_text("utf-8"))["entries"]
    assert {each["size_bytes"] for each in manifest} == {50, 60}
    assert upkeep.consolidate(database, 1, who="me") == []
    assert [each.state for each in verify_manifest(archive / "warcs")] == ["sealed"] * 2
    assert cleaned(database).records == 0
    assert sorted(path.name for path in (archive / "warcs").glob("*.gz")) == sorted([*names, "s.warc.gz"])
    with database.read() as db:
        assert db.scalars(select(Record).where(Record.gone_at.is_not(None))).all() == []


def test_everything_temporary_but_warc_files_goes(
    archive: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC 129: nothing is lost for replay, so it needs no force; what made the archive is told by copies."""
    monkeypatch.setattr(cleanup, "replay_is_enabled", lambda _: True)
    (archive / ".tmpa" / "collections" / "crawl-1" / "crawls").mkdir()
    (archive / ".tmpa" / "collections" / "crawl-1" / "crawls" / "c.yaml").write_text("seeds: []", "utf-8")
    with database.read() as db:
        plan = cleanup.plan(db, db.get_one(Job, 1), KEEPING)
    assert (plan.warc_files, plan.records, plan.moved, plan.bytes) == (0, 0, 2, 16)
    cleaned(database, mode=KEEPING)
    left = {str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file()}
    assert {"provenance/archive_state.json", "provenance/tmpa-c.yaml", "warcs/a.warc.gz"} < left
    assert not [name for name in left if name.startswith(".tmp") or name == ".archive_state.json"]
    job = job_of(database)
    assert (job.cleanup_status, job.cleaned_at is not None) == ("temp_nonwarc_cleaned", True)
    with database.read() as db:
        assert db.scalars(select(Record).where(Record.gone_at.is_not(None))).all() == []
        assert db.get_one(WarcFile, 1).path.startswith("warcs/")
        [entry] = db.scalars(select(AuditEntry).where(AuditEntry.action == "job.cleanup"))
    assert (entry.details["mode"], entry.details["moved"]) == ("temp-nonwarc", 2)


def test_rows_follow_their_files_however_they_name_them(archive: Path, database: Database) -> None:
    """By the archive's folder, or by the file's own."""
    inner = archive / ".tmpa" / "collections" / "crawl-1" / "archive"
    with database.write() as db:
        db.execute(update(WarcFile).where(WarcFile.id == 1).values(folder=str(inner), path="a.warc.gz"))
    cleaned(database, mode=KEEPING)
    with database.read() as db:
        row = db.get_one(WarcFile, 1)
    assert (row.folder, row.state) == (str(archive), "sealed")
    assert (archive / row.path).read_bytes() == b"a" * 50


def test_captures_that_would_be_lost_stop_it(archive: Path, database: Database) -> None:
    """A row that names a file which nobody has found keeps everything where it is."""
    with database.write() as db:
        db.add(WarcFile(id=9, folder=str(archive), path=".tmpb/x.warc.gz", state="sealed", created_at=THEN))
        db.flush()
        db.add(a_record(9))
    with pytest.raises(JobStateError, match="1 captures of job 1 still lie"):
        cleaned(database, mode=KEEPING)
    assert (archive / ".tmpb").exists()
    assert job_of(database).cleanup_status == "none"


def test_a_cleanup_that_died_is_gone_on_with(
    archive: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All folders were gone, and nobody had written that down."""
    state = {"temp_dirs_host_paths": [str(archive / ".tmpa"), str(archive / ".tmpb")]}
    (archive / ".archive_state.json").write_text(json.dumps(state), "utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(cleanup, "_note_done", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cleaned(database)
    assert not (archive / ".tmpa").exists()
    assert job_of(database).cleanup_status == "none"
    assert not cleaned(database).is_empty
    assert job_of(database).cleanup_status == "temp_cleaned"
    assert cleaned(database).is_empty
