"""`vitrine jobs` and `vitrine sources seed`: orders at the command line."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import Job, JobStep
from crawler.jobs.presence import Presence

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine

KEYS = {
    "id", "source", "name", "status", "engine", "run", "retry_count", "output_dir", "crawler_exit_code",
    "crawler_status", "crawler_stage", "pages_crawled", "pages_total", "pages_failed", "warc_file_count",
    "indexed_page_count", "records_bad", "cleanup_status", "cleaned_at", "queued_at", "started_at",
    "finished_at", "config", "steps",
}  # fmt: skip


def set_status(status: str) -> None:
    """Put every job into a state."""
    with opened(load_settings()) as stores, stores.database.write() as db:
        db.execute(update(Job).values(status=status))


def test_sources_are_registered_once(vitrine: Vitrine) -> None:
    """Those that come along are listed when they are, or when all are asked for."""
    assert vitrine("sources", "list").code == 2  # there is no file, and nothing registered
    assert "hc" in vitrine("sources", "list", "--all").out
    assert not Path("var").exists()
    assert vitrine("sources", "seed").out == "2 sources registered\n"
    assert vitrine("sources", "seed").out.startswith("nothing to register")
    listed = vitrine("sources", "list", "--json").document["sources"]
    assert [(one["code"], one["registered"]) for one in listed] == [("hc", True), ("phac", True)]


def test_a_job_is_ordered_and_shown(seeded: Vitrine) -> None:
    """The public document; the same from all three commands."""
    made = seeded(
        "jobs", "create", "--source", "HC", "--option", "initial_workers=3", "--page-limit", "5", "--json"
    )
    assert (made.code, made.document["status"]) == (0, "queued")
    assert set(made.document) >= KEYS
    assert made.document["config"]["tool_options"]["initial_workers"] == 3
    assert made.document["config"]["source"]["max_pages"] == 5
    assert seeded("jobs", "show", "1", "--json").document == made.document
    assert seeded("jobs", "list", "--json").document["jobs"] == [made.document]
    assert seeded("jobs", "list", "--status", "failed").err.startswith("No jobs found")
    assert seeded("jobs", "list", "--source", "phac", "--fail-empty").code == 4
    assert "queued" in seeded("jobs", "show", "1").out


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (["--source", "bogus"], 1, "'bogus' is not registered"),
        (["--source", "hc", "--seed", "http://127.0.0.1/"], 2, "is loopback"),
        (["--source", "hc", "--seed", "nonsense"], 2, "not an http or https URL"),
        (["--source", "hc", "--option", "min_workers"], 2, "says no value"),
        (["--source", "hc", "--option", "bogus=1"], 2, "there is no option 'bogus'"),
        (["--source", "hc", "--option", "enable_adaptive_workers=1"], 2, "needs enable_monitoring"),
        (["--source", "hc", "--", "--output", "/etc"], 2, "--output cannot be passed on"),
    ],
)  # fmt: skip
def test_a_wrong_order_is_refused(seeded: Vitrine, given: list[str], code: int, said: str) -> None:
    """One line, and nothing is written."""
    done = seeded("jobs", "create", *given)
    assert (done.code, said in done.err) == (code, True), done.err
    assert seeded("jobs", "list", "--json").document == {"jobs": []}


def test_trying_again_what_failed_and_nothing_else(seeded: Vitrine) -> None:
    """SPEC 135, K11."""
    seeded("jobs", "create", "--source", "hc")
    refused = seeded("jobs", "retry", "1")
    assert (refused.code, "job 1 is queued" in refused.err) == (5, True)
    set_status("failed")
    assert seeded("jobs", "retry", "1").code == 0
    assert seeded("jobs", "show", "1", "--json").document["status"] == "retryable"


def test_an_order_says_that_somebody_has_to_make_it(seeded: Vitrine) -> None:
    """Unless a worker runs, at a job or with nothing to do, which looks for the next one by itself."""
    order = ("jobs", "create", "--source", "hc")
    alone = seeded(*order).err
    assert alone.startswith("no worker runs: nothing is made before one looks for jobs")
    assert alone.endswith("next: vitrine worker\n")
    with closing(Database("sqlite:///var/vitrine.db")) as database:
        with closing(Presence(database, 30)) as idle:
            idle.tell()
            assert seeded(*order).err == "1 worker runs; next: vitrine jobs show 2\n"
        with database.write() as db:
            step = db.scalars(select(JobStep).limit(1)).one()
            step.status, step.lease_expires_at = "in_progress", db.now + timedelta(minutes=1)
    assert seeded(*order).err == "1 worker runs; next: vitrine jobs show 3\n"


def test_a_job_without_a_worker_does_not_say_running(seeded: Vitrine) -> None:
    """Whoever worked on it is gone; the next worker finds it so."""
    seeded("jobs", "create", "--source", "hc")
    set_status("running")
    shown = seeded("jobs", "show", "1", "--json").document
    assert (shown["status"], shown["worker"]) == ("retryable", None)
    assert len(seeded("jobs", "list", "--status", "retryable", "--json").document["jobs"]) == 1
    assert seeded("jobs", "list", "--status", "running", "--json").document["jobs"] == []


def test_a_folder_is_registered(seeded: Vitrine) -> None:
    """SPEC 133: in `completed`."""
    Path("old").mkdir()
    done = seeded("jobs", "register", "--source", "hc", "--output-dir", "old", "--json")
    assert (done.document["status"], done.document["name"], done.document["config"]) == (
        "completed",
        "old",
        None,
    )
    assert seeded("jobs", "register", "--source", "hc", "--output-dir", "none").code == 1
    assert seeded("jobs", "register", "--source", "no", "--output-dir", "old").code == 1
