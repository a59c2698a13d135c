"""Jobs in the workshop: what is shown of one, and what may be done about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import AuditEntry, Job, JobStep
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN, a_job, token_of

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


def test_what_may_be_done_is_offered_and_nothing_else(inside: Served) -> None:
    """By the state of the job; what is not legal is refused as well."""
    failed, queued = a_job(inside, "failed"), a_job(inside, "queued")
    page = inside.get(f"/admin/jobs/{failed}").text
    assert "Try again" in page
    assert "Try again" not in inside.get(f"/admin/jobs/{queued}").text
    form = {"form_token": token_of(page)}
    refused = inside.client.post(f"/admin/jobs/{queued}/retry", data=form, headers=OWN)
    assert (refused.status_code, refused.json()["code"]) == (409, "job_state")
    done = inside.client.post(f"/admin/jobs/{failed}/retry", data=form, headers=OWN)
    assert done.status_code == 303
    with inside.database.read() as db:
        assert db.get_one(Job, failed).status == "retryable"
        [entry] = db.scalars(select(AuditEntry))
    assert (entry.action, entry.actor) == ("job.retry", "web")


def test_a_form_of_another_site_changes_nothing(inside: Served) -> None:
    """Without the form's token, with that of another login, or from elsewhere."""
    failed = a_job(inside, "failed")
    good = {"form_token": token_of(inside.get(f"/admin/jobs/{failed}").text)}
    path = f"/admin/jobs/{failed}/retry"
    for form, headers in (
        ({}, OWN), ({"form_token": "0" * 64}, OWN), (good, {"Sec-Fetch-Site": "cross-site"}),
        (good, {"Origin": "http://evil.example"}), (good, {}),
    ):  # fmt: skip
        assert inside.client.post(path, data=form, headers=headers).status_code == 403
    assert inside.get(path).status_code == 405
    with inside.database.read() as db:
        assert db.get_one(Job, failed).status == "failed"


def test_the_end_of_a_log_is_fit_to_be_shown(inside: Served) -> None:
    """No password, nothing that steers a terminal, and no file but the job's own."""
    folder = inside.stores.settings.vitrine_home / "archive"
    folder.mkdir(parents=True)
    log = folder / "archive_crawl.combined.log"
    log.write_text("\x1b[31mred\nGET https://u:canary-pw@shop.example/\n<i>last</i>\n", encoding="utf-8")
    (folder / "link.log").symlink_to("/etc/passwd")
    (folder / "archive_link.combined.log").symlink_to("/etc/passwd")
    for name, shown in (
        ("archive_crawl.combined.log", True),
        ("link.log", False),
        ("../../x", False),
        ("", True),
    ):
        path = str(folder / name) if name else None  # none yet: the crawl is under way
        job = a_job(inside, "failed", combined_log_path=path)
        with inside.database.write() as db:
            db.get_one(Job, job).output_dir = f"{folder}"
        text = inside.get(f"/admin/jobs/{job}").text
        assert ("&lt;i&gt;last" in text) is shown
        assert "canary-pw" not in text
        assert "\x1b" not in text
        assert "root:" not in text
        with inside.database.write() as db:
            db.delete(db.get_one(Job, job))


def test_the_page_of_a_job_says_what_became_of_it(inside: Served) -> None:
    """That it is stuck and who goes on with it; that a purge took its files, and when, in lists too."""
    job = a_job(inside, "running")
    with inside.database.write() as db:
        step = db.scalars(select(JobStep)).one()
        step.status, step.lease_owner = "in_progress", "gone-host:1"
        step.lease_expires_at = utc_now() - timedelta(hours=1)
        db.get_one(Job, job).emptied_at = datetime(2026, 5, 3, 12, tzinfo=UTC)
    page = inside.get(f"/admin/jobs/{job}").text
    for said in (f"Job {job} is stuck", "left behind", "A purge took the last of its WARC files"):
        assert said in page
    assert "emptied by a purge <time" in inside.get("/admin/jobs").text
    assert inside.get("/admin/jobs.csv").text.splitlines()[0].endswith(",emptied_at")
    told = inside.get(f"/api/admin/jobs/{job}", headers={"X-Admin-Token": TOKEN}).json()
    assert told["emptiedAt"].startswith("2026-05-03T12:00:00")


def test_a_job_is_indexed_by_a_worker(inside: Served) -> None:
    """Where its state allows that; the step is due then, and the log says who asked."""
    done, queued = a_job(inside, "indexed"), a_job(inside, "queued")
    page = inside.get(f"/admin/jobs/{done}").text
    assert "Index again" in page
    form = {"form_token": token_of(page)}
    assert inside.client.post(f"/admin/jobs/{queued}/index", data=form, headers=OWN).status_code == 409
    assert inside.client.post(f"/admin/jobs/{done}/index", data=form, headers=OWN).status_code == 303
    with inside.database.read() as db:
        step = db.scalars(select(JobStep).where(JobStep.job_id == done, JobStep.kind == "index")).one()
        [entry] = db.scalars(select(AuditEntry))
    assert (step.status, entry.action) == ("pending", "job.index")
