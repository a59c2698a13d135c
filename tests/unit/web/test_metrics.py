"""The metrics say what lists and counts say, in words that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


AS_ADMIN = {"X-Admin-Token": TOKEN}


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
