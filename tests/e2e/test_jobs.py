"""A source archived on order by real processes: the real engine, killed workers, the command line."""

from __future__ import annotations

import html
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawler.db.models import Job
from tests.e2e.conftest import ROOT, Home
from tests.e2e.disks import mounted
from tests.e2e.test_recorded_runs import records
from tests.processes import below
from tests.unit.engines.test_process import alive
from tests.unit.web.conftest import serving_on
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess

    from crawler.demo import DemoServer

SEEDS = ("https://shop.example/", "https://shop.example/2")
STUB = ROOT / "tests" / "stubs" / "archive_tool.py"


@pytest.fixture
def home(tmp_path: Path, shops: DemoServer) -> Home:
    """A home that knows one of the shops as a source."""
    file = tmp_path / "sources.toml"
    source = f'[sources.shop]\nstart_urls = ["{shops.url("plain")}"]\nmax_pages = 6\njudge = false\n'
    file.write_text(source, encoding="utf-8")
    extra = {
        "SOURCES_FILE": str(file), "TASK_JITTER_SECONDS": "0", "JOB_DISK_LIMIT_PERCENT": "100",
        "STUB_LOG": str(tmp_path / "stub.log"),
    }  # fmt: skip
    home = Home(tmp_path / "home", extra)
    assert home.vitrine("sources", "seed").returncode == 0
    return home


def ordered(home: Home, *more: str) -> dict[str, Any]:
    """A new job of the shop."""
    done = home.vitrine("jobs", "create", "--source", "shop", "--json", *more)
    assert done.returncode == 0, done.stderr
    job: dict[str, Any] = json.loads(done.stdout)
    return job


def shown(home: Home, job: int = 1) -> dict[str, Any]:
    """What `jobs show` says."""
    document: dict[str, Any] = json.loads(home.vitrine("jobs", "show", str(job), "--json").stdout)
    return document


def stub(home: Home, *plan: str) -> Home:
    """The same home with the stub as its tool."""
    tool = {"TOOL_CMD": f"'{sys.executable}' '{STUB}'", "STUB_PLAN": json.dumps(plan)}
    return Home(home.path, {**home.extra, **tool})


def test_a_source_is_archived(home: Home, shops: DemoServer) -> None:
    """SPEC 138 whole, by our own engine: a run, its pages, its log; found, read, cleaned."""
    shops.forget()
    ordered(home, "--", "-s", "DOWNLOAD_DELAY=0")
    worker = home.vitrine("worker", "--once")
    job = shown(home)
    assert (worker.returncode, job["status"], job["crawler_stage"]) == (0, "indexed", "completed"), (
        worker.stderr
    )
    assert (job["pages_crawled"], job["pages_total"], job["pages_failed"], job["run"]) == (6, 6, 0, 1)
    assert '"Crawl statistics"' in worker.stderr  # the engine's output is the worker's too
    run = json.loads(home.vitrine("runs", "show", "1", "--json").stdout)
    assert (run["status"], run["tasks"]["finished"]) == ("completed", 6)
    log = Path(job["combined_log_path"]).read_text("utf-8")
    assert ('"Crawl statistics"' in log, "Spider closed" in log) == (True, True)
    assert job["last_stats"] == {
        "crawled": 6, "total": 6, "pending": 0, "failed": 0, "refused": 0, "waiting": False, "run": 1,
    }  # fmt: skip
    found = json.loads(home.vitrine("warcs", "list", "--json").stdout)["files"]
    assert job["warc_file_count"] == len(found) >= 1
    assert {(each["job"], each["state"], each["records_bad"]) for each in found} == {(1, "sealed", 0)}
    assert job["warc_bytes_total"] == sum(each["size_bytes"] for each in found)
    sent = [url for path in found for kind, url in records(Path(path["path"])) if kind == "response"]
    assert sorted(sent) == sorted(shops.url("plain", entry.path) for entry in shops.log.entries())
    assert home.vitrine("warcs", "verify", job["output_dir"]).returncode == 0
    assert home.vitrine("worker", "--once").returncode == 0  # there is nothing to do
    assert job["indexed_page_count"] >= 6
    found = json.loads(home.vitrine("search", "--source", "shop", "--json").stdout)["results"]
    assert len(found) >= 6
    snapshot = json.loads(home.vitrine("snapshots", "show", str(found[0]["id"]), "--json").stdout)
    assert (snapshot["job"], snapshot["container"], snapshot["body"]) == (1, "warc", "there")
    body = html.unescape(home.vitrine("snapshots", "cat", str(found[0]["id"])).stdout)
    assert f"<title>{found[0]['title']}</title>" in body
    again = json.loads(home.vitrine("jobs", "index", "1", "--json").stdout)
    assert (again["status"], again["unchanged"], again["bad"]) == ("indexed", job["indexed_page_count"], 0)
    (Path(job["output_dir"]) / ".tmpleft").mkdir()
    assert home.vitrine("jobs", "cleanup", "1").returncode == 0
    with serving_on(f"sqlite:///{home.path / 'vitrine.db'}", home.path) as serve:
        server = serve()
        [hit] = server.get("/api/search", params={"q": found[0]["original_url"], "pageSize": 1}).json()[
            "results"
        ]
        raw = server.get(hit["rawSnapshotUrl"])
        assert (raw.status_code, f"<title>{hit['title']}</title>" in html.unescape(raw.text)) == (200, True)
        assert (
            'vitrine_jobs_cleanup_status_total{cleanup_status="temp_cleaned"} 1'
            in server.get("/metrics").text
        )


@pytest.mark.soak
def test_a_disk_that_fills_up(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Promise 3, on a real disk: no retry is counted, it rests, and with room the same run goes on."""
    Path(home.extra["SOURCES_FILE"]).write_text(
        f'[sources.shop]\nstart_urls = ["{shops.url("plain")}"]\nmax_pages = 30\n', encoding="utf-8"
    )
    root = tmp_path / "archives"
    with mounted(root, "size=96k") as remount:
        home = Home(home.path, {**home.extra, "ARCHIVE_ROOT": str(root)})
        ordered(home, "--", "-s", "DOWNLOAD_DELAY=0")
        assert home.vitrine("worker", "--once").returncode == 0
        job = shown(home)
        assert (job["status"], job["retry_count"], job["crawler_status"]) == ("retryable", 0, "infra_error")
        assert job["steps"][0]["next_run_at"] > job["finished_at"]
        assert "No space left" in job["steps"][0]["last_error"]
        remount("size=32m")
        assert home.vitrine("jobs", "crawl", "1").returncode == 0
        job = shown(home)
        assert (job["status"], job["retry_count"], job["pages_crawled"]) == ("completed", 0, 27)
        assert home.vitrine("warcs", "verify", job["output_dir"]).returncode == 0
        assert [one["outcome"] for one in job["steps"][0]["history"]] == ["infra_error", "success"]


@pytest.mark.soak
def test_a_crawl_that_fails_says_so(home: Home, shops: DemoServer) -> None:
    """SPEC 139 with our own engine: nothing of a site can be had, and the job is not `completed`."""
    Path(home.extra["SOURCES_FILE"]).write_text(
        f'[sources.shop]\nstart_urls = ["{shops.url("404")}"]\n', encoding="utf-8"
    )
    ordered(home)
    environment = {**home.extra, "MAX_CRAWL_RETRIES": "1", "TASK_MAX_RETRIES": "1"}
    home = Home(home.path, environment)
    seen = []
    for _ in range(2):
        home.vitrine("worker", "--once")
        job = shown(home)
        seen.append((job["status"], job["retry_count"], job["crawler_status"]))
    assert seen == [("retryable", 1, "failed"), ("failed", 1, "failed")]
    # Not the last line of its log, which says that the spider was closed.
    assert shown(home)["steps"][0]["last_error"] == "1 of 1 pages answered 404"
    assert home.vitrine("jobs", "retry", "1").returncode == 0
    assert shown(home)["status"] == "retryable"
    assert home.vitrine("jobs", "retry", "1").returncode == 5


@pytest.mark.soak
def test_a_killed_worker_takes_its_engine_along_and_another_goes_on(
    home: Home, endings: list[subprocess.Popen[str]]
) -> None:
    """Promises 1 and 2: nothing is left of it, the job does not say `running`, no page comes twice."""
    ordered(home, "--", "-s", "DOWNLOAD_DELAY=2")
    worker = home.start_vitrine("worker", "--once")
    endings.append(worker)
    wait_for(lambda: _run_known(home))
    engines = below(worker.pid)
    assert len(engines) >= 2  # guard, engine
    worker.kill()
    worker.wait()
    wait_for(lambda: not any(map(alive, engines)))
    assert (shown(home)["status"], shown(home)["retry_count"]) == ("retryable", 0)
    assert home.vitrine("worker", "--once").returncode == 0
    job = shown(home)
    assert (job["status"], job["retry_count"], job["pages_crawled"]) == ("indexed", 0, 6)
    assert [one["outcome"] for one in job["steps"][0]["history"]] == ["worker_died", "success"]
    runs = json.loads(home.vitrine("runs", "list", "--json").stdout)["runs"]
    assert len(runs) == 1


@pytest.mark.soak
def test_a_crawl_that_was_killed_goes_on_with_its_run(
    home: Home, endings: list[subprocess.Popen[str]]
) -> None:
    """As by a machine that is short of memory: it counts as a failure, and no page comes twice."""
    ordered(home, "--", "-s", "DOWNLOAD_DELAY=2")
    worker = home.start_vitrine("worker", "--once")
    endings.append(worker)
    wait_for(lambda: _run_known(home))
    os.kill(_crawl_below(worker.pid), signal.SIGKILL)
    worker.communicate(timeout=120)
    assert (shown(home)["status"], shown(home)["retry_count"]) == ("retryable", 1)
    assert home.vitrine("worker", "--once").returncode == 0
    job = shown(home)
    assert (job["status"], job["run"], job["pages_crawled"]) == ("indexed", 1, 6)
    assert [one["outcome"] for one in job["steps"][0]["history"]] == ["failed", "success"]


@pytest.mark.soak
@pytest.mark.parametrize(("order", "signals"), [("silence", 1), ("deaf", 2)])
def test_a_signal_puts_the_job_back(
    home: Home, endings: list[subprocess.Popen[str]], tmp_path: Path, order: str, signals: int
) -> None:
    """SIGTERM once: the engine ends by itself, the step is untouched; twice, and nobody waits for it."""
    at_work = stub(home, order, "ok")
    ordered(at_work)
    worker = at_work.start_vitrine("worker", "--poll-interval", "0.1")
    endings.append(worker)
    wait_for((tmp_path / "stub.log").exists)
    wait_for(lambda: shown(home)["status"] == "running")
    engines = below(worker.pid)
    for _ in range(signals):
        worker.send_signal(signal.SIGTERM)
        time.sleep(1)  # two at once would be one
    worker.communicate(timeout=120)
    assert worker.returncode == 0
    wait_for(lambda: not any(map(alive, engines)))
    job = shown(home)
    assert (job["status"], job["retry_count"], job["steps"][0]["attempts"]) == ("queued", 0, 0)
    assert at_work.vitrine("jobs", "crawl", "1").returncode == 0
    assert at_work.vitrine("jobs", "crawl", "1").returncode == 5


@pytest.mark.soak
def test_an_archive_without_a_job(home: Home, tmp_path: Path) -> None:
    """SPEC 47: a folder of its own, no row; its exit code is the tool's."""
    done = stub(home, "ok").vitrine("jobs", "run", "--name", "my shop", "--seeds", *SEEDS)
    assert done.returncode == 0, done.stderr
    [folder] = (home.path / "archive").iterdir()
    assert folder.name.endswith("Z__my_shop")
    said = json.loads((tmp_path / "stub.log").read_text("utf-8").splitlines()[0])
    assert said["arguments"][:3] == ["--seeds", *SEEDS]
    failed = stub(home, "fail", "fail").vitrine(
        "jobs", "run", "--name", "b", "--seeds", "https://shop.example/"
    )
    assert failed.returncode == 1
    assert json.loads(home.vitrine("jobs", "list", "--json").stdout)["jobs"] == []


def _crawl_below(pid: int) -> int:
    """The process of our own engine; what it started itself is below it."""
    words = {each: Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0") for each in below(pid)}
    return next(each for each, line in words.items() if b"crawler.commands" in line)


def _run_known(home: Home) -> bool:
    """Whether the job's row names its run."""
    database = home.database()
    try:
        with database.read() as db:
            return db.get_one(Job, 1).run_id == 1
    finally:
        database.close()
