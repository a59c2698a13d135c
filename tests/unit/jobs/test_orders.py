"""Jobs are made, registered and tried again; no state is changed that is not as it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import select, update

from crawler.config import Settings, load_settings
from crawler.db.models import Job, JobStep
from crawler.errors import NotFoundError, UsageError
from crawler.jobs import orders, registry
from crawler.jobs.lifecycle import JobStateError, JobStatus, require_change
from tests.unit.jobs.test_registry import NOW, SHOP
from tests.unit.views.rows import a_job

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Archives lie in a folder of the test's."""
    return load_settings({"ARCHIVE_ROOT": str(tmp_path / "archive")})


@pytest.fixture
def shop(database: Database) -> Database:
    """A database that knows the shop."""
    with database.write() as db:
        registry.seed_sources(db, [SHOP], NOW)
    return database


def test_a_new_job_waits_with_its_crawl(shop: Database, settings: Settings, tmp_path: Path) -> None:
    """SPEC 34; a second one in the same second has a folder of its own."""
    with shop.write() as db:
        one, other = (orders.create(db, settings, SHOP, orders.JobOrder(), now=NOW) for _ in range(2))
        [step] = db.scalars(select(JobStep).where(JobStep.job_id == one.id))
    assert (one.status, one.queued_at, one.name, one.retry_count) == ("queued", NOW, "shop-20251209", 0)
    assert one.output_dir == str(tmp_path / "archive/shop/20251209T210911Z__shop-20251209")
    assert other.output_dir == one.output_dir + "-2"
    assert (step.kind, step.status, step.next_run_at) == ("crawl", "pending", NOW)
    assert one.config is not None
    assert one.config["seeds"] == ["https://shop.example/"]


def test_a_change_of_state_that_cannot_be_is_refused() -> None:
    """Both states are named."""
    require_change(7, JobStatus.QUEUED, JobStatus.RUNNING)
    for before, after in (("queued", "completed"), ("indexed", "running"), ("failed", "queued")):
        with pytest.raises(JobStateError, match=f"job 7 is {before}; it cannot become {after}") as refused:
            require_change(7, JobStatus(before), JobStatus(after))
        assert refused.value.exit_code == 5


def test_of_a_source_that_is_off_no_job_is_made(shop: Database, settings: Settings) -> None:
    """It is said where that is written."""
    with shop.write() as db, pytest.raises(JobStateError, match="not enabled"):
        orders.create(db, settings, evolve(SHOP, enabled=False), orders.JobOrder(), now=NOW)


@pytest.mark.parametrize("name", ["", "a/b", "a..b", "a'b", "-a", "a b", "é", "a" * 300, "a\n", ".a"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    """It becomes names of files and of containers."""
    with pytest.raises(UsageError, match="is no name of an archive"):
        orders.checked_name(name)


def test_a_folder_becomes_a_completed_job(shop: Database, tmp_path: Path) -> None:
    """SPEC 133: under the folder's name, once; no file, link or nothing."""
    folder, file, link = tmp_path / "old", tmp_path / "file", tmp_path / "link"
    folder.mkdir()
    file.touch()
    link.symlink_to(folder)
    with shop.write() as db:
        job = orders.register(db, "SHOP", folder, None, now=NOW)
        assert (job.name, job.status, job.output_dir) == ("old", "completed", str(folder))
        for wrong in (file, link, tmp_path / "none"):
            with pytest.raises(NotFoundError, match="is no folder"):
                orders.register(db, "shop", wrong, None, now=NOW)
        with pytest.raises(JobStateError, match="belongs to another job"):
            orders.register(db, "shop", folder, None, now=NOW)
        (folder / "inner").mkdir()
        for overlapping in (folder / "inner", tmp_path):
            with pytest.raises(JobStateError, match="lie in one another"):
                orders.register(db, "shop", overlapping, None, now=NOW)


def test_trying_again(shop: Database, settings: Settings) -> None:
    """SPEC 135: a crawl that failed, in front of the others; an index that failed; nothing else."""
    with shop.write() as db:
        job = orders.create(db, settings, SHOP, orders.JobOrder(), now=NOW)
        job.status = JobStatus.FAILED
        db.execute(update(JobStep).values(status="error", attempts=3))
        assert orders.retry(db, job, NOW) == job.status == "retryable"
        step = db.scalars(select(JobStep).where(JobStep.job_id == job.id)).one()
        db.refresh(step)
        assert (step.status, step.priority, step.attempts) == ("pending", 1, 0)
        job.status = JobStatus.INDEX_FAILED
        db.flush()
        assert orders.retry(db, job, NOW) == "completed"
        with pytest.raises(JobStateError, match="completed; only one that is failed or index_failed"):
            orders.retry(db, job, NOW)


def test_who_comes_second_changes_nothing(shop: Database) -> None:
    """A state is changed from what was read, or not at all."""
    with shop.write() as db:
        db.add(a_job(id=1))
    with shop.read() as db:
        stale = db.get_one(Job, 1)
    with shop.write() as db:
        orders.move(db, db.get_one(Job, 1), JobStatus.RUNNING, NOW)
    with (
        shop.write() as db,
        pytest.raises(JobStateError, match="no longer queued; it did not become running"),
    ):
        orders.move(db, stale, JobStatus.RUNNING, NOW)


@pytest.mark.parametrize("where", ["/elsewhere", "../x", ".", "shop/../../x", "link/x"])
def test_a_job_writes_inside_the_archive_only(tmp_path: Path, where: str) -> None:
    """No link leads it elsewhere either."""
    root = tmp_path / "archive"
    (root / "shop").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    orders.require_folder_inside(root / "shop" / "x", root)
    with pytest.raises(UsageError):
        orders.require_folder_inside(root / where, root)
