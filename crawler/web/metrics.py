"""The metrics (SPEC 107-112): what the views say, asked when they are scraped, and what this process did.

The names that end in `_total` and go up and down are exposed untyped: they are the seed's (decision K6).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.metrics_core import Metric

from crawler.views import archive, job_sums, jobs, operations
from crawler.web.access import operators
from crawler.web.site import SiteHere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawler.db.engine import Database, Transaction
    from crawler.views.job_sums import JobSums
    from crawler.views.operations import Gauges

router = APIRouter(include_in_schema=False)
disable_created_metrics()  # type: ignore[no-untyped-call]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FRESH_SECONDS = 30.0  # how long what is costly to count is not counted again
SEARCH_BUCKETS = (0.05, 0.1, 0.3, 1, 3)
CLEANUP_STATES = ("none", "temp_cleaned")
UP_AND_DOWN = "It goes up and down."
# What jobs came to, by the name of the family; what it is of, in `JobSums`.
SUMS = {
    "jobs_pages_crawled_total": ("pages_crawled", "Pages that crawls of jobs have had."),
    "jobs_pages_failed_total": ("pages_failed", "Pages that crawls of jobs could not have."),
    "jobs_warc_bytes_total": ("warc_bytes_total", "Bytes of WARC files of jobs, as counted last."),
    "jobs_output_bytes_total": ("output_bytes_total", "Bytes of the folders of jobs, as counted last."),
    "jobs_tmp_bytes_total": ("tmp_bytes_total", "Bytes of temporary folders of jobs, as counted last."),
    "jobs_tmp_non_warc_bytes_total": (
        "tmp_non_warc_bytes_total",
        "Bytes in temporary folders of jobs that are no WARC files, as counted last.",
    ),
}


class Figures:
    """What of one site's metrics lives in this process."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.searches = Counter(
            "vitrine_search_requests", "Searches that were asked for.", registry=self.registry
        )
        self.search_errors = Counter("vitrine_search_errors", "Searches that failed.", registry=self.registry)
        self.search_modes = Counter(
            "vitrine_search_mode", "Searches by the way that answered them.", ["mode"], registry=self.registry
        )
        self.search_seconds = Histogram(
            "vitrine_search_duration_seconds", "Time that searches took.", buckets=SEARCH_BUCKETS,
            registry=self.registry,
        )  # fmt: skip
        self.registry.register(_FromDatabase(database, clock))


class _FromDatabase:
    """Collects what the database says; not again within half a minute."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._found: list[Metric] = []
        self._until = 0.0

    def collect(self) -> Iterable[Metric]:
        """The families, with their samples."""
        if not self._found or self._clock() >= self._until:
            with self._database.read() as db:
                self._found = [*_jobs(db), *_archive(db), *_operations(operations.gauges(db))]
            self._until = self._clock() + FRESH_SECONDS
        return self._found


@router.get("/metrics", dependencies=[Depends(operators)])
def metrics(site: SiteHere) -> Response:
    """The metrics in Prometheus's text format."""
    return Response(generate_latest(site.figures.registry), media_type=CONTENT_TYPE)


def _family(name: str, about: str, samples: Iterable[tuple[dict[str, str], float]]) -> Metric:
    """A family that goes up and down; untyped where its name says that it counts."""
    is_total = name.endswith("_total")
    found = Metric(
        f"vitrine_{name}", f"{about} {UP_AND_DOWN}" if is_total else about, "unknown" if is_total else "gauge"
    )
    for labels, value in samples:
        found.add_sample(f"vitrine_{name}", labels, value)
    return found


def _jobs(db: Transaction) -> Iterator[Metric]:
    counts = jobs.counts(db, db.now)
    yield _family("jobs_total", "Jobs by state.", [({"status": each}, n) for each, n in counts.items()])
    cleaned = job_sums.cleaned(db)
    states = [({"cleanup_status": each}, cleaned.get(each, 0)) for each in CLEANUP_STATES]
    yield _family("jobs_cleanup_status_total", "Jobs by what was cleaned up of them.", states)
    counted: list[tuple[dict[str, str], float]] = [({}, job_sums.storage_counted(db))]
    yield _family("jobs_storage_scanned_total", "Jobs whose storage was counted.", counted)
    found = job_sums.sums(db)
    for name, (what, about) in SUMS.items():
        yield _family(name, about, [(_of_source(each), getattr(each, what)) for each in found])


def _of_source(sums: JobSums) -> dict[str, str]:
    return {} if sums.source is None else {"source": sums.source}


def _archive(db: Transaction) -> Iterator[Metric]:
    counts = archive.record_counts(db)
    sources = [({"source": code}, number) for code, number in counts.items()]
    yield _family("snapshots_total", "Snapshots, all and by source.", [({}, sum(counts.values())), *sources])
    yield _family("pages_total", "Pages of which there are snapshots.", [({}, archive.page_count(db))])


def _operations(found: Gauges) -> Iterator[Metric]:
    gauges: dict[str, tuple[str, list[tuple[dict[str, str], Any]]]] = {
        "queue_depth": (
            "Work that waits, by kind.", [({"kind": q.kind}, q.waiting) for q in found.queues]
        ),
        "queue_at_work": (
            "Work that somebody is at, by kind.", [({"kind": q.kind}, q.at_work) for q in found.queues]
        ),
        "queue_expired": (
            "Work whose worker is gone, by kind.", [({"kind": q.kind}, q.expired) for q in found.queues]
        ),
        "queue_oldest_wait_seconds": (
            "How long the oldest of what is due waits, by kind.",
            [({"kind": q.kind}, q.oldest_wait_seconds) for q in found.queues],
        ),
        "queue_oldest_lease_seconds": (
            "How long the oldest work goes on, by kind.",
            [({"kind": q.kind}, q.oldest_lease_seconds) for q in found.queues],
        ),
        "captures_last_hour": ("Snapshots captured within the hour.", [({}, found.captures_last_hour)]),
        "expired_evidence": (
            "Files past their date that no cleanup has taken yet.", [({}, found.expired_evidence)]
        ),
        "evidence_bytes": (
            "Bytes of stored evidence, by type.", [({"type": s.type}, s.bytes) for s in found.storage]
        ),
        "evidence_files": (
            "Files of stored evidence, by type.", [({"type": s.type}, s.files) for s in found.storage]
        ),
        "warc_files": ("WARC files, by state.", [({"state": w.state}, w.files) for w in found.warc_files]),
        "warc_bytes": (
            "Bytes of WARC files, by state.", [({"state": w.state}, w.bytes) for w in found.warc_files]
        ),
        "worker_silence_seconds": (
            "How long ago the least heard worker gave a sign; 0 where nobody works.",
            [({}, found.worker_silence_seconds or 0)],
        ),
        "attention": (
            "Things that a person should look at, by code.",
            [({"code": code}, n) for code, n in _by_code(found).items()],
        ),
    }  # fmt: skip
    for name, (about, samples) in gauges.items():
        yield _family(name, about, samples)


def _by_code(found: Gauges) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in found.attention:
        counts[each.code] = counts.get(each.code, 0) + each.count
    return counts
