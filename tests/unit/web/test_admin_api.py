"""Jobs for programs, and the metrics that say the same."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawler.clock import utc_now
from crawler.db.models import Job, JobStep, RegisteredSource
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served

AS_ADMIN = {"X-Admin-Token": TOKEN}


@pytest.fixture
def with_jobs(served_on_both: Served) -> Served:
    """A job of each kind of trouble: well, failed, without a source, and left by its worker."""
    now = utc_now()
    with served_on_both.database.write() as db:
        source = RegisteredSource(code="hc", name="Health", created_at=now, updated_at=now)
        db.add(source)
        db.flush()
        rows = {
            "well": Job(status="indexed", source_id=source.id, pages_crawled=7, pages_failed=2),
            "failed": Job(status="failed", source_id=source.id, cleanup_status="temp_cleaned"),
            "alone": Job(status="queued"),
            "left": Job(status="running", source_id=source.id),
        }
        for name, row in rows.items():
            row.name, row.output_dir = name, f"/archive/{name}"
            row.created_at = row.updated_at = row.queued_at = now - timedelta(hours=3)
            db.add(row)
            db.flush()
        db.add(
            JobStep(
                job_id=rows["left"].id, status="in_progress", detail={}, next_run_at=now, created_at=now,
                updated_at=now, begun_at=now - timedelta(hours=2), lease_owner="gone",
                lease_expires_at=now - timedelta(hours=1),
            )
        )  # fmt: skip
    return served_on_both


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


def test_lists_and_counts_and_metrics_agree(with_jobs: Served) -> None:
    """A number is the same wherever it is asked for."""
    counts = with_jobs.get("/api/admin/jobs/status-counts", headers=AS_ADMIN).json()["counts"]
    assert counts == with_jobs.get("/api/health").json()["checks"]["jobs"]
    for status, number in counts.items():
        listed = with_jobs.get(f"/api/admin/jobs?status={status}", headers=AS_ADMIN).json()
        assert (status, listed["total"], len(listed["items"])) == (status, number, number)
    metrics = samples(with_jobs)
    assert {
        dict(labels)["status"]: value
        for (name, labels), value in metrics.items()
        if name == "vitrine_jobs_total"
    } == counts
    assert metrics["vitrine_jobs_cleanup_status_total", (("cleanup_status", "temp_cleaned"),)] == 1
    assert metrics["vitrine_jobs_pages_crawled_total", ()] == 7
    assert metrics["vitrine_jobs_pages_failed_total", (("source", "hc"),)] == 2
    assert metrics["vitrine_queue_expired", (("kind", "job_step"),)] == 1
    assert metrics["vitrine_attention", (("code", "job_stuck"),)] == 1


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


def test_metrics_are_what_prometheus_reads(served: Served) -> None:
    """Each family has HELP and TYPE, nothing is counted twice, and names that go up and down are untyped."""
    served.get("/api/search?q=a")
    text = served.get("/metrics", headers=AS_ADMIN).text
    assert text.endswith("\n")
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert all(each.documentation for each in families.values())
    assert families["vitrine_snapshots_total"].type == "unknown"
    assert families["vitrine_queue_depth"].type == "gauge"
    assert families["vitrine_search_duration_seconds"].type == "histogram"
    assert families["vitrine_search_requests"].samples[0].value == 1
    assert "_created" not in text
    assert len(samples(served)) == sum(len(each.samples) for each in families.values())


def samples(served: Served) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All of them, by name and labels."""
    text = served.get("/metrics", headers=AS_ADMIN).text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
