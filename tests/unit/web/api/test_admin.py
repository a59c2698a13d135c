"""Jobs for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


AS_ADMIN = {"X-Admin-Token": TOKEN}


def test_jobs_are_listed_the_newest_first(with_jobs: Served) -> None:
    """With the state that the next worker finds, and without a source too (SPEC 101, 102)."""
    found = with_jobs.get("/api/admin/jobs", headers=AS_ADMIN).json()
    assert (found["total"], found["limit"], found["offset"]) == (4, 50, 0)
    shown = {
        each["name"]: (each["sourceCode"], each["status"], each["cleanupStatus"]) for each in found["items"]
    }
    assert shown == {
        "well": ("hc", "indexed", "none"), "failed": ("hc", "failed", "temp_cleaned"),
        "alone": ("", "queued", "none"), "left": ("hc", "retryable", "none"),
    }  # fmt: skip
    assert [each["name"] for each in found["items"]] == ["left", "alone", "failed", "well"]


def test_a_job_has_everything(with_jobs: Served) -> None:
    """Of SPEC 103; an unknown one is 404, and has no snapshots (105)."""
    newest = with_jobs.get("/api/admin/jobs?limit=1&offset=3", headers=AS_ADMIN).json()["items"][0]
    job = with_jobs.get(f"/api/admin/jobs/{newest['id']}", headers=AS_ADMIN).json()
    assert {name: job[name] for name in newest} == newest
    assert {
        "outputDir", "crawlerStage", "pagesCrawled", "pagesTotal", "pagesFailed", "finalZimPath",
        "combinedLogPath", "stateFilePath", "config", "lastStats",
    } <= job.keys()  # fmt: skip
    unknown = with_jobs.get("/api/admin/jobs/999999", headers=AS_ADMIN)
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "Job not found")
    assert with_jobs.get("/api/admin/jobs/999999/snapshots", headers=AS_ADMIN).json()["items"] == []
    for query in ("limit=0", "limit=501", "offset=-1", "status=odd"):
        assert with_jobs.get(f"/api/admin/jobs?{query}", headers=AS_ADMIN).status_code == 422
