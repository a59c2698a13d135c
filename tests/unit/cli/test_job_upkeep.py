"""`vitrine jobs` for what is done by hand: planned first, done when that is said, refused in other states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import update

from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.db.models import Job

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine


def set_status(status: str) -> None:
    """Put every job into a state."""
    with opened(load_settings()) as stores, stores.database.write() as db:
        db.execute(update(Job).values(status=status))


def test_a_cleanup_at_the_command_line(seeded: Vitrine) -> None:
    """SPEC 119-124: planned, done, and nothing left to do; refused with 5, unknown with 1."""
    Path("old/.tmpa").mkdir(parents=True)
    Path("old/.tmpa/x").write_bytes(b"12345")
    seeded("jobs", "register", "--source", "hc", "--output-dir", "old")
    refused = seeded("jobs", "cleanup", "1")
    assert (refused.code, "job 1 is completed" in refused.err) == (5, True)
    assert seeded("jobs", "cleanup", "9").code == 1
    assert seeded("jobs", "cleanup", "1", "--mode", "all").code == 2
    set_status("indexed")
    planned = seeded("jobs", "cleanup", "1", "--dry-run", "--json").document
    assert (planned["dry_run"], planned["folders"], planned["bytes"]) == (True, [".tmpa"], 5)
    assert Path("old/.tmpa").exists()
    assert seeded("jobs", "cleanup", "1").code == 0
    assert not Path("old/.tmpa").exists()
    assert seeded("jobs", "show", "1", "--json").document["cleanup_status"] == "temp_cleaned"
    assert "nothing to clean up" in seeded("jobs", "cleanup", "1").err


def test_counts_and_sizes(seeded: Vitrine) -> None:
    """Of each state, also of those that no job has; and what a folder takes, counted when it is asked for."""
    Path("old/warcs").mkdir(parents=True)
    Path("old/warcs/a.warc.gz").write_bytes(b"12345")
    seeded("jobs", "register", "--source", "hc", "--output-dir", "old")
    counts = seeded("jobs", "status", "--json").document["counts"]
    assert (counts["completed"], counts["queued"], len(counts)) == (1, 0, 8)
    assert seeded("jobs", "storage", "--json").document["jobs"][0]["storage_scanned_at"] is None
    scanned = seeded("jobs", "storage", "--scan", "--json")
    assert scanned.code == 0
    assert scanned.document["jobs"][0]["storage_scanned_at"] is not None
    [found] = seeded("jobs", "storage", "1", "--json").document["jobs"]
    assert (found["warc_file_count"], found["warc_bytes_total"]) == (1, 5)
    assert seeded("jobs", "consolidate", "1").code == 0


def test_a_job_is_put_right(seeded: Vitrine) -> None:
    """Options are changed as a whole or not at all, and only where that is said twice."""
    seeded("jobs", "create", "--source", "hc", "--option", "log_level=DEBUG")
    assert "nothing is wrong" in seeded("jobs", "validate", "1").out
    shown = seeded(
        "jobs", "patch", "1", "--option", "initial_workers=4", "--option", "log_level=", "--json"
    ).document
    assert (shown["applied"], shown["tool_options"]["initial_workers"]) == (False, 4)
    options = seeded("jobs", "show", "1", "--json").document["config"]["tool_options"]
    assert (options["initial_workers"], options["log_level"]) == (1, "DEBUG")
    assert (
        seeded(
            "jobs", "patch", "1", "--option", "initial_workers=4", "--option", "log_level=", "--apply"
        ).code
        == 0
    )
    options = seeded("jobs", "show", "1", "--json").document["config"]["tool_options"]
    assert (options["initial_workers"], "log_level" in options) == (4, False)
    wrong = seeded("jobs", "patch", "1", "--option", "enable_adaptive_workers=1", "--apply")
    assert (wrong.code, "needs enable_monitoring" in wrong.err) == (2, True)
    with opened(load_settings()) as stores, stores.database.write() as db:
        db.execute(update(Job).values(retry_count=2, config={"seeds": ["nonsense"]}))
    assert seeded("jobs", "validate", "1").code == 1
    assert "2 retries" in seeded("jobs", "reset-retries", "1").out
    assert seeded("jobs", "show", "1", "--json").document["retry_count"] == 2
    assert seeded("jobs", "reset-retries", "1", "--apply").code == 0
    assert seeded("jobs", "show", "1", "--json").document["retry_count"] == 0


def test_warc_files_are_named_before_they_are_moved(seeded: Vitrine) -> None:
    """Nothing is changed without --apply; then they lie below warcs/, and a second time nothing does."""
    Path("old/.tmpa").mkdir(parents=True)
    Path("old/.tmpa/x.warc.gz").write_bytes(b"12345")
    seeded("jobs", "register", "--source", "hc", "--output-dir", "old")
    set_status("indexed")
    shown = seeded("jobs", "consolidate", "1", "--json").document
    assert (shown["applied"], len(shown["files"]), Path("old/.tmpa/x.warc.gz").exists()) == (False, 1, True)
    done = seeded("jobs", "consolidate", "1", "--apply")
    assert (done.code, done.out) == (0, f"warcs/{shown['files'][0]}\n")
    assert (Path("old/warcs") / shown["files"][0]).read_bytes() == b"12345"
