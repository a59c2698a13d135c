"""A run whose stores, gate or process fail at any point ends in time, tells the truth, and can be finished.

A crawl of the five pages passes some thirty transactions, six publications and three calls of the gate; every
day a sample of these points is tried, in the soak each of them.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import ROOT
from tests.e2e.farm import farm
from tests.e2e.faulty import DIED, LONGEST_SECONDS, state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PAGES = 5
ONCE = [
    *(f"{point}:{n}" for point in ("commit", "answer") for n in range(1, 41)),
    *(f"{point}:{n}" for point in ("full", "io") for n in range(1, 8)),
    *(f"{point}:{n}" for point in ("gate", "gate-answer") for n in range(1, 5)),
]
SOME = ["commit:6", "answer:7", "io:3", "gate-answer:1", "commit:12+", "full:3+"]
FOR_GOOD = ["commit:3+", "commit:12+", "answer:12+", "full:1+", "full:3+", "io:3+", "gate:1+", "gate:2+"]
DEATHS = ["commit:2", "commit:9", "answer:4", "answer:13", "append-done:3", "sync-done:2", "seal:1"]
WARC_FAULTS = ["append:2", "append:1+", "sync:1", "sync:2+", "seal:1"]
WARC_DEATHS = [
    *(f"{point}:{n}" for point in ("append", "append-done", "sync", "sync-done") for n in range(1, 5)),
    "seal:1", "seal-done:1",
]  # fmt: skip


@pytest.fixture
def homes(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for homes; `driven` makes one with tables for each fault."""
    shutil.copy(sqlite_template, tmp_path / "template.db")
    return tmp_path


def make_homes(homes: Path, faults: Iterable[str]) -> None:
    """A home with tables for each fault."""
    for fault in faults:
        (homes / fault).mkdir()
        shutil.copy(homes / "template.db", homes / fault / "vitrine.db")


def drive(url: str, homes: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the driver."""
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawler.settings", **variables}
    command = [sys.executable, "-m", "tests.e2e.faulty", url, str(homes), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False,
        stdin=subprocess.DEVNULL, timeout=1800,
    )  # fmt: skip


def suffered(homes: Path, faults: list[str]) -> list[dict[str, Any]]:
    """What came of crawls with these faults."""
    make_homes(homes, faults)
    with farm(hosts=1, pages=PAGES) as sites:
        done = drive(sites.starts[0], homes, *faults)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["fault"] for one in told} == set(faults), done.stderr
    return told


def assert_truthful(told: dict[str, Any]) -> None:
    """It came back in time; it is completed only if nothing is left; no row is without its file.

    Where all is done and the last word could not be written, it counts as running until somebody goes on.
    """
    faulty = told["faulty"]
    assert told["seconds"] is not None, f"no end within {LONGEST_SECONDS} s"
    if faulty["status"] == "completed":
        assert faulty["tasks"] == {"finished": PAGES}, faulty
    assert faulty["status"] in {None, "running", "failed", "completed"}
    assert (faulty["status"] == "failed") == bool(faulty["last_error"])
    assert not faulty["missing"]
    assert faulty["pages"] == faulty["of_tasks"] == faulty["tasks"].get("finished", 0)


def assert_finished(told: dict[str, Any]) -> None:
    """Gone on with, the same run has each page once."""
    after = told["after"]
    assert (after["status"], after["tasks"], after["runs"]) == ("completed", {"finished": PAGES}, 1), told
    assert after["pages"] == after["of_tasks"] == PAGES
    assert not after["missing"]


@pytest.mark.soak(minutes=10)
def test_some_faults(homes: Path) -> None:
    """One that passes costs nothing; one that stays ends the run, which can be finished."""
    for told in suffered(homes, SOME):
        assert_truthful(told)
        assert_finished(told)
        assert (told["faulty"]["status"] == "completed") == (not told["fault"].endswith("+")), told


@pytest.mark.soak
def test_a_fault_that_stays_ends_the_run(homes: Path) -> None:
    """In bounded time, as failed with its reason where that can still be written, and nothing is lost."""
    by_fault = {told["fault"]: told for told in suffered(homes, FOR_GOOD)}
    for told in by_fault.values():
        assert_truthful(told)
        assert_finished(told)
    assert by_fault["full:1+"]["faulty"]["tasks"] == {"pending": 1}
    assert "No space left on device" in by_fault["full:1+"]["faulty"]["last_error"]
    assert "Input/output error" in by_fault["io:3+"]["faulty"]["last_error"]
    assert "the gate is away" in by_fault["gate:1+"]["faulty"]["last_error"]


@pytest.mark.soak
def test_faults_of_warc_files(homes: Path) -> None:
    """Whatever fails, each page that is stored can be read, and the run can be finished."""
    for told in suffered(homes, WARC_FAULTS):
        assert_truthful(told)
        assert_finished(told)


@pytest.mark.soak
def test_a_run_whose_redis_is_away_fails(homes: Path) -> None:
    """It neither waits for ever nor goes on without locks; nothing is asked of the site, nothing is lost."""
    make_homes(homes, ["none:0"])
    with socket.socket() as closed, farm(hosts=1, pages=PAGES) as sites:
        closed.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{closed.getsockname()[1]}/0"
        done = drive(sites.starts[0], homes, "--die", "none:0", REDIS_URL=url)
        assert not sites.asked
    assert done.returncode == 0
    stored = state(homes / "none:0")
    assert (stored["status"], stored["tasks"]) == ("failed", {"pending": 1})
    assert "Redis" in stored["last_error"]


@pytest.mark.soak
def test_a_process_that_dies_at_a_commit_leaves_a_run_that_can_be_finished(homes: Path) -> None:
    """Just before it, or just after; somebody else goes on at once."""
    make_homes(homes, DEATHS)
    look_at_deaths(homes, DEATHS)


@pytest.mark.soak
def test_death_at_every_step_of_a_warc_file(homes: Path) -> None:
    """Before and after each append, flush and seal."""
    make_homes(homes, WARC_DEATHS)
    look_at_deaths(homes, WARC_DEATHS, least=len(WARC_DEATHS) - 6)


@pytest.mark.soak(minutes=40)
def test_every_fault(homes: Path) -> None:
    """Each point, once and for good."""
    for told in suffered(homes, [*ONCE, *(f"{fault}+" for fault in ONCE if not fault.startswith("io:"))]):
        assert_truthful(told)
        assert_finished(told)


@pytest.mark.soak(minutes=50)
def test_death_at_every_commit(homes: Path) -> None:
    """Each transaction of the crawl, before and after its commit.

    How many there are depends on what came at the same time: writes share commits. A crawl that passes fewer
    than the number of its death has come to its end.
    """
    deaths = [f"{point}:{n}" for point in ("commit", "answer") for n in range(1, 41)]
    make_homes(homes, deaths)
    look_at_deaths(homes, deaths, least=40)


def look_at_deaths(homes: Path, deaths: list[str], least: int | None = None) -> None:
    """Die at each point that is reached, which are all or at least so many, and go on with what is left."""
    with farm(hosts=1, pages=PAGES) as sites:
        url = sites.starts[0]
        with ThreadPoolExecutor(2) as threads:
            codes = list(threads.map(lambda death: drive(url, homes, "--die", death).returncode, deaths))
        reached = [death for death, code in zip(deaths, codes, strict=True) if code == DIED]
        assert set(codes) <= {DIED, 0}
        assert len(reached) >= (len(deaths) if least is None else least)
        # Whoever died after the run's last commit left nothing to go on with.
        found = {death: state(homes / death) for death in deaths}
        ended = {death for death, crawl in found.items() if crawl["status"] == "completed"}
        for death in ended:
            assert (found[death]["tasks"], found[death]["pages"]) == ({"finished": PAGES}, PAGES)
        assert ended >= set(deaths) - set(reached)
        open_ones = [death for death in reached if death not in ended]
        done = drive(url, homes, "--finish", *open_ones)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["fault"] for one in told} == set(open_ones), done.stderr
    for one in told:
        assert_truthful(one)
        assert_finished(one)
