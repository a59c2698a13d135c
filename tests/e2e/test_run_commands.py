"""Durable runs as people start, stop, watch and go on with them."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select, update

from crawler.db.models import CrawlSession, Page, Run, RunWorker, ScrapeRecord, Task
from crawler.runs.store import request_stop
from tests.e2e.conftest import Home
from tests.e2e.farm import farm, sources_file
from tests.e2e.test_run_kills import look_at_what_is_stored
from tests.e2e.test_runs import QUICK, page
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.db.engine import Database

SLOWLY = ("-s", "DOWNLOAD_DELAY=1")
AT_ONCE = ("-s", "DOWNLOAD_DELAY=0")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home, and no waits."""
    return Home(tmp_path / "home", dict(QUICK))


@pytest.fixture
def stored(home: Home) -> Iterator[Database]:
    """The home's database, with its tables: who waits for a crawl disturbs nobody who makes them."""
    assert home.vitrine("db", "upgrade").returncode == 0
    database = home.database()
    yield database
    database.close()


def crawl(home: Home, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run `vitrine crawl site --json`: its exit code, its document, and what it told on the way."""
    done = home.vitrine("crawl", "site", *arguments, *AT_ONCE, "--json")
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def shown(home: Home, run: int = 1) -> dict[str, Any]:
    """What `runs show` says."""
    done = home.vitrine("runs", "show", str(run), "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def some_stored(database: Database, count: int) -> bool:
    """Whether so many pages are stored."""
    with database.read() as db:
        return (db.scalar(select(func.count()).select_from(Page)) or 0) >= count


class Mending:
    """A site with a page that is gone, for as long as nobody mends it."""

    is_mended = False

    def __call__(self, path: str) -> tuple[int, str, str] | None:
        """The answer to a request for a path."""
        if path == "/broken":
            return (200, "", page([])) if self.is_mended else (404, "", "")
        return (200, "", page(["/broken"])) if path == "/some" else None


@pytest.mark.soak(minutes=10)
def test_exit_codes_and_lists_tell_how_runs_ended(home: Home, stored: Database) -> None:
    """0 for all pages that were allowed, 3 where some failed, 1 where none came, 5 where nothing is left."""
    site = Mending()
    with farm(hosts=1, pages=40, special=site) as sites:
        [start] = sites.starts
        code, limited, told = crawl(home, start, "--max-pages", "7")
        assert (code, limited["status"]) == (0, "completed")
        assert limited["tasks"] == {"pending": 0, "in_progress": 0, "finished": 7, "error": 0}
        assert limited["assets"]["page"] == {"new": 7, "updated": 0, "unchanged": 0, "missing": 0}
        assert f"begins run {limited['id']} of {limited['source']}" in told
        assert home.scrapy("crawl", "site", "-a", f"start_url={start}broken", *AT_ONCE).returncode == 1
        none = shown(home, 2)
        assert (none["status"], none["last_error"]) == ("failed", "1 of 1 pages answered 404")
        assert home.scrapy("crawl", "site", "-a", f"start_url={start}some", *AT_ONCE).returncode == 3
        assert (shown(home, 3)["tasks"]["finished"], shown(home, 3)["tasks"]["error"]) == (1, 1)
        site.is_mended = True
        assert home.vitrine("runs", "resume", "3", "--retry-errors", *AT_ONCE).returncode == 0
        assert shown(home, 3)["tasks"]["finished"] == 2
        over = home.scrapy("crawl", "site", "-a", "run_id=3", "-s", "LOG_LEVEL=ERROR")
        assert over.returncode == 5
        assert "run 3 is completed: nothing is left of it" in over.stderr
        assert "Traceback" not in over.stderr
    lines = home.vitrine("runs", "list", "--jsonl").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [3, 2, 1]
    assert "failed: 1 of 1 pages answered 404" in home.vitrine("runs", "show", "2").stdout
    with stored.write() as db:
        db.execute(update(Run).where(Run.id == 1).values(status="running", completed_at=None))
    assert "running, but no process is at it" in home.vitrine("runs", "show", "1").stdout


def test_a_run_that_is_interrupted_and_killed_is_gone_on_with(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """Ctrl-C ends it as stopped, with 130 and its document; what was not begun costs no attempt.

    A process that dies in the middle of the rest leaves it to the next one: each page is stored once.
    """
    home.extra.update(TASK_LEASE_SECONDS="1", DOMAIN_LOCK_TTL_SECONDS="1")
    with farm(hosts=1, pages=8) as sites:
        endings.append(home.start_vitrine("crawl", "site", sites.starts[0], *SLOWLY, "--json"))
        wait_for(lambda: some_stored(stored, 2))
        endings[0].send_signal(signal.SIGINT)
        out, err = endings[0].communicate(timeout=120)
        assert (endings[0].returncode, "stopping" in err) == (130, True)
        stopped = json.loads(out)
        assert stopped["status"] == "stopped"
        assert stopped["completed_at"]
        assert stopped["tasks"]["in_progress"] == stopped["tasks"]["error"] == 0
        assert stopped["tasks"]["pending"] > 0
        with stored.read() as db:
            pending = db.execute(select(Task.attempts, Task.last_error).where(Task.status == "pending"))
            assert {(attempts, error) for attempts, error in pending} <= {(0, "interrupted"), (0, None)}
        before = stopped["pages"]["stored"]
        endings.append(home.start_scrapy("crawl", "site", "-a", "run_id=1", *SLOWLY))
        wait_for(lambda: some_stored(stored, before + 1))
        endings[1].kill()
        endings[1].communicate(timeout=120)
        code, resumed, told = crawl(home, sites.starts[0], "--resume")
        assert "goes on with run 1" in told
        assert (code, resumed["id"], resumed["status"]) == (0, 1, "completed")
    look_at_what_is_stored(home, stored, 8)


@pytest.mark.soak
def test_two_signals_leave_nothing_that_lies(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """The second ends the process at once; when its leases are over the run is finished by somebody else."""
    home.extra.update(TASK_LEASE_SECONDS="1", DOMAIN_LOCK_TTL_SECONDS="1")
    with farm(hosts=1, pages=8) as sites:
        endings.append(home.start_scrapy("crawl", "site", "-a", f"start_url={sites.starts[0]}", *SLOWLY))
        wait_for(lambda: some_stored(stored, 2))
        endings[0].send_signal(signal.SIGTERM)
        time.sleep(0.05)
        endings[0].send_signal(signal.SIGTERM)
        endings[0].communicate(timeout=120)
        assert endings[0].returncode == 130
        time.sleep(1.2)
        done = home.vitrine("runs", "resume", "1", "--json", *AT_ONCE)
        resumed = json.loads(done.stdout)
        assert (done.returncode, resumed["status"]) == (0, "completed")
        assert resumed["tasks"]["finished"] == resumed["pages"]["stored"] == 8


@pytest.mark.soak
def test_a_run_is_stopped_from_outside(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """`vitrine runs stop` reaches every process that works on it; they end by themselves."""
    with farm(hosts=1, pages=30) as sites:
        endings.append(home.start_vitrine("crawl", "site", sites.starts[0], *SLOWLY))
        wait_for(lambda: some_stored(stored, 1))
        assert home.vitrine("runs", "stop", "1").returncode == 0
        out, err = endings[0].communicate(timeout=120)
        assert endings[0].returncode == 3
        assert "stopped" in out
        assert "vitrine runs resume 1" in err
        assert shown(home)["status"] == "stopped"


@pytest.mark.soak
def test_no_request_goes_out_after_a_stop(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """What lay in Scrapy's queue already, to wait its seconds there, goes back with its attempts."""
    with farm(hosts=3, pages=30) as sites:
        home.extra["SOURCES_FILE"] = sources_file(sites, home.path.parent)
        endings.append(
            home.start_scrapy(
                "crawl", "site", "-a", "source=farm",
                "-s", "DOWNLOAD_DELAY=5", "-s", "RANDOMIZE_DOWNLOAD_DELAY=False",
            )
        )  # fmt: skip
        # The robots.txt files and the starts are answered, and what comes next waits its five seconds.
        wait_for(lambda: len(sites.asked) == 6 and some_stored(stored, 3) and leased(stored) >= 6)
        with stored.write() as db:
            assert request_stop(db, 1, db.now)
        endings[0].communicate(timeout=120)
        assert len(sites.asked) == 6
        assert shown(home)["status"] == "stopped"
        with stored.read() as db:
            waiting = select(Task.attempts, Task.last_error).where(Task.status == "pending")
            assert {attempts for attempts, _ in db.execute(waiting)} == {0}


def leased(database: Database) -> int:
    """How many tasks somebody has."""
    with database.read() as db:
        return db.scalar(select(func.count()).where(Task.lease_owner.is_not(None))) or 0


@pytest.mark.soak
def test_a_stop_gives_back_at_once_what_a_killed_process_held(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """SPEC D96: nobody waits for its leases; the run has its end, and a record of it."""
    with farm(hosts=1, pages=30) as sites:
        endings.append(home.start_scrapy("crawl", "site", "-a", f"start_url={sites.starts[0]}", *SLOWLY))
        wait_for(lambda: some_stored(stored, 2))
        endings[0].kill()
        endings[0].communicate(timeout=120)
        assert shown(home)["tasks"]["in_progress"] > 0
        assert home.vitrine("runs", "stop", "1").returncode == 0
        left = shown(home)
        assert (left["status"], left["tasks"]["in_progress"], left["workers"]) == ("stopped", 0, [])
        with stored.read() as db:
            kinds = Counter(db.scalars(select(ScrapeRecord.kind).where(ScrapeRecord.status == "stopped")))
            assert kinds == {"run": 1}
            assert set(db.scalars(select(Task.attempts).where(Task.status == "pending"))) == {0}


@pytest.mark.soak
def test_processes_share_a_runs_domains(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    """SPEC D84 on SQLite: each domain is one process's at a time, and nothing is fetched twice."""
    home.extra["SESSIONS_AT_ONCE"] = "1"
    with farm(hosts=4, pages=4) as sites:
        home.extra["SOURCES_FILE"] = sources_file(sites, tmp_path)
        # slow enough for the other one to find something to do
        endings.append(home.start_scrapy("crawl", "site", "-a", "source=farm", "-s", "DOWNLOAD_DELAY=2"))
        wait_for(lambda: some_stored(stored, 1))
        endings.append(home.start_scrapy("crawl", "site", "-a", "run_id=1", *AT_ONCE))
        for process in endings:
            process.communicate(timeout=120)
            assert process.returncode == 0
        with stored.read() as db:
            assert len(set(db.scalars(select(CrawlSession.owner)))) == 2
            assert db.scalar(select(func.count()).select_from(RunWorker)) == 0
        assert shown(home)["tasks"] == {"pending": 0, "in_progress": 0, "finished": 16, "error": 0}
        pages = {url: times for url, times in sites.asked.items() if not url.endswith("robots.txt")}
        assert set(pages.values()) == {1}
