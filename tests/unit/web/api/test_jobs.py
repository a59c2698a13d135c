"""Jobs and metrics for programs: a number is the same wherever it is asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served

AS_ADMIN = {"X-Admin-Token": TOKEN}
DEPLOY = Path(__file__).parents[4] / "deploy"


def test_jobs_are_listed_the_newest_first(with_jobs: Served) -> None:
    """With the state that the next worker finds, and without a source too."""
    found = with_jobs.get("/api/admin/jobs", headers=AS_ADMIN).json()
    assert (found["total"], found["limit"], found["offset"]) == (4, 50, 0)
    assert [
        (each["name"], each["sourceCode"], each["status"], each["cleanupStatus"]) for each in found["items"]
    ] == [
        ("left", "hc", "retryable", "none"), ("alone", "", "queued", "none"),
        ("failed", "hc", "failed", "temp_cleaned"), ("well", "hc", "indexed", "none"),
    ]  # fmt: skip
    of_source = with_jobs.get("/api/admin/jobs?source=HC&limit=1&offset=1", headers=AS_ADMIN).json()
    assert (of_source["total"], [each["name"] for each in of_source["items"]]) == (3, ["failed"])


def test_a_job_has_everything(with_jobs: Served) -> None:
    """That its line in the list has, and more; an unknown one is 404, and has no snapshots."""
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


def samples(served: Served) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All metrics, by name and labels."""
    text = served.get("/metrics", headers=AS_ADMIN).text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_lists_and_counts_and_metrics_agree(with_jobs: Served) -> None:
    """For each state of a job."""
    counts = with_jobs.get("/api/admin/jobs/status-counts", headers=AS_ADMIN).json()["counts"]
    assert counts == with_jobs.get("/api/health").json()["checks"]["jobs"]
    metrics = samples(with_jobs)
    for status, number in counts.items():
        listed = with_jobs.get(f"/api/admin/jobs?status={status}", headers=AS_ADMIN).json()
        assert (status, listed["total"], len(listed["items"])) == (status, number, number)
        assert metrics["vitrine_jobs_total", (("status", status),)] == number
    assert metrics["vitrine_jobs_cleanup_status_total", (("cleanup_status", "temp_cleaned"),)] == 1
    assert metrics["vitrine_jobs_pages_crawled_total", ()] == 7
    assert metrics["vitrine_jobs_pages_failed_total", (("source", "hc"),)] == 2
    assert metrics["vitrine_queue_expired", (("kind", "job_step"),)] == 1
    assert metrics["vitrine_attention", (("code", "job_stuck"),)] == 1


def test_metrics_are_what_prometheus_reads(served: Served) -> None:
    """Each family has HELP and TYPE, nothing is counted twice; alerts and dashboard ask for what is there."""
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
    deployed = (DEPLOY / "alerts.yaml").read_text("utf-8") + (DEPLOY / "dashboard.json").read_text("utf-8")
    asked = set(re.findall(r"\bvitrine_\w+", deployed))
    assert len(asked) > 15
    there = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked} - there == set()
