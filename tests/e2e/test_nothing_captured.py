"""A run or a job without any captured page failed, and says why, with numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.farm import QUICK_RUNS, farm

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home
    from tests.e2e.farm import Farm

pytestmark = pytest.mark.soak(minutes=5)

QUICKLY = ("-s", "DOWNLOAD_DELAY=0")
REASON = "3 of 4 pages answered 404, 1 of 4 pages answered 503"
ANSWERS = {
    **{f"/{number}": (404, "", "gone") for number in range(3)},
    "/3": (503, "", "no"),
    "/moved": (302, "Location: /0\r\n", ""),
}


@pytest.fixture
def source(home: Home, tmp_path: Path) -> Path:
    """The file of sources."""
    home.extra.update({**QUICK_RUNS, "SOURCES_FILE": str(tmp_path / "sources.toml")})
    return tmp_path / "sources.toml"


def write(source: Path, sites: Farm, *paths: str) -> None:
    """Have the source begin at these paths of the first site."""
    starts = json.dumps([f"{sites.starts[0]}{path}" for path in paths])
    source.write_text(f'[sources.gone]\nstart_urls = {starts}\nplugins = ["page"]\n', encoding="utf-8")


def shown(home: Home, *command: str) -> Any:
    """What a command prints as JSON."""
    return json.loads(home.vitrine(*command, "--json").stdout)


def test_a_run_without_a_page_failed(home: Home, source: Path) -> None:
    """Its exit code, its document and both lists for people say so; its pages can be tried again."""
    with farm(1, 1, ANSWERS.get) as sites:
        write(source, sites, "0", "1", "2", "3")
        done = home.vitrine("crawl", "site", "--source", "gone", *QUICKLY)
    assert done.returncode == 1
    assert f"failed: {REASON}" in done.stdout
    assert "runs resume 1 --retry-errors" in done.stderr
    [run] = shown(home, "runs", "list")["runs"]
    assert (run["status"], run["last_error"]) == ("failed", REASON)
    assert f"failed: {REASON}" in home.vitrine("runs", "list").stdout
    assert {session["status"] for session in home.sessions()} == {"failed"}


def test_a_redirect_to_a_page_that_is_not_there_is_no_page(home: Home, source: Path) -> None:
    """It ended well by itself, and nothing was captured."""
    with farm(1, 1, ANSWERS.get) as sites:
        write(source, sites, "moved", "0")
        done = home.vitrine("crawl", "site", "--source", "gone", *QUICKLY, "--json")
    run = json.loads(done.stdout)
    assert (done.returncode, run["status"]) == (1, "failed")
    assert run["last_error"].endswith("of 2 pages answered 404")


def test_a_run_that_finds_nothing_new_did_well(home: Home, source: Path) -> None:
    """The same pages again are captured again, and a run that is over is not gone on with."""
    with farm(1, 3) as sites:
        write(source, sites, "")
        for run_id in (1, 2):
            done = home.vitrine("crawl", "site", "--source", "gone", *QUICKLY, "--json")
            run = json.loads(done.stdout)
            assert (done.returncode, run["id"], run["status"], run["last_error"]) == (
                0, run_id, "completed", None,
            )  # fmt: skip
        assert home.vitrine("runs", "resume", "2").returncode == 5
    assert shown(home, "runs", "show", "2")["status"] == "completed"


def test_a_job_fails_for_its_engines_reason(home: Home, source: Path) -> None:
    """Not for the last line of its log, which says that the spider was closed."""
    with farm(1, 1, ANSWERS.get) as sites:
        write(source, sites, "0", "1", "2", "3")
        assert home.vitrine("sources", "seed").returncode == 0
        assert home.vitrine("jobs", "create", "--source", "gone", "--", *QUICKLY).returncode == 0
        assert home.vitrine("jobs", "crawl", "1").returncode == 1
    job = shown(home, "jobs", "show", "1")
    assert (job["status"], job["steps"][0]["last_error"]) == ("retryable", REASON)
    assert REASON in home.vitrine("jobs", "show", "1").stdout
