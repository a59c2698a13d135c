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
from tests.e2e.farm import farm
from tests.e2e.test_runs import QUICK, page
from tests.example_plugins import python_path
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.db.engine import Database

SLOWLY = ("-s", "DOWNLOAD_DELAY=0.3")
AT_ONCE = ("-s", "DOWNLOAD_DELAY=0")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home, and no waits."""
    return Home(tmp_path / "home", dict(QUICK))


@pytest.fixture
def stored(home: Home) -> Iterator[Database]:
    """The home's database."""
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
    if database.path is None or not database.path.exists():
        return False
    try:
        with database.read() as db:
            return (db.scalar(select(func.count()).select_from(Page)) or 0) >= count
    except Exception:  # ruff: ignore[blind-except] - there are no tables yet
        return False


# ── begun and ended ──


def test_limits_are_kept_exactly(home: Home) -> None:
    """`max_pages` counts tasks, `depth` links in a row; the exit code says that all was well."""
    with farm(hosts=1, pages=40) as sites:
        code, limited, told = crawl(home, sites.starts[0], "--max-pages", "7")
        assert (code, limited["status"]) == (0, "completed")
        assert limited["tasks"] == {"pending": 0, "in_progress": 0, "finished": 7, "error": 0}
        assert limited["assets"]["page"] == {"new": 7, "updated": 0, "unchanged": 0, "missing": 0}
        assert f"begins run {limited['id']} of {limited['source']}" in told
        assert "waiting, 0 failed" in told
        code, shallow, _ = crawl(home, sites.starts[0], "--depth", "1")
        assert (code, shallow["tasks"]["finished"]) == (0, 3)  # the root, and its two links


def test_exit_codes_tell_how_many_were_had(home: Home) -> None:
    """3 where some pages failed, 1 where none was had."""

    def special(path: str) -> tuple[int, str, str] | None:
        if path == "/broken":
            return 404, "", ""
        return (200, "", page(["/broken"])) if path == "/some" else None

    with farm(hosts=1, pages=1, special=special) as sites:
        code, some, _ = crawl(home, f"{sites.starts[0]}some")
        assert (code, some["tasks"]["finished"], some["tasks"]["error"]) == (3, 1, 1)
        code, none, _ = crawl(home, f"{sites.starts[0]}broken")
        assert (code, none["tasks"]["finished"], none["tasks"]["error"]) == (1, 0, 1)
        assert (none["status"], none["last_error"]) == ("failed", "1 of 1 pages answered 404")


def test_a_run_that_is_over_is_refused(home: Home) -> None:
    """Exit 5 and a line, however it is asked for; asked to resume a source, a new run begins instead."""
    with farm(hosts=1, pages=2) as sites:
        assert crawl(home, sites.starts[0])[0] == 0
        for refused in (
            home.vitrine("runs", "resume", "1"),
            home.scrapy("crawl", "site", "-a", "run_id=1", "-s", "LOG_LEVEL=ERROR"),
        ):
            assert refused.returncode == 5
            assert "run 1 is completed: nothing is left of it" in refused.stderr
            assert "Traceback" not in refused.stderr
        code, again, _ = crawl(home, sites.starts[0], "--resume")
        assert (code, again["id"]) == (0, 2)
        assert again["assets"]["page"]["unchanged"] == 2


def test_mistakes_cost_a_line(home: Home) -> None:
    """A line and a hint, exit 2 (1 where there is no such run), and no run is made."""
    for code, arguments, error in (
        (2, [], "error[usage]: there is nothing to crawl"),
        (
            2,
            ["-a", "start_url=https://shop.example/", "-a", "depht=3"],
            "error[usage]: -a depht=… is unknown",
        ),
        (1, ["-a", "run_id=77"], "error[not_found]: there is no run '77'"),
    ):
        done = home.scrapy("crawl", "site", *arguments, "-s", "LOG_LEVEL=ERROR")
        assert done.returncode == code
        said, hint = done.stderr.splitlines()
        assert said == error
        assert hint.startswith("hint: ")
    assert json.loads(home.vitrine("runs", "list", "--json").stdout)["runs"] == []


# ── stopped, and gone on with ──


def test_a_stopped_run_is_gone_on_with(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """SPEC D94-97: one SIGTERM ends it as stopped, with an end; what was not begun costs no attempt."""
    with farm(hosts=1, pages=12) as sites:
        endings.append(home.start_scrapy("crawl", "site", "-a", f"start_url={sites.starts[0]}", *SLOWLY))
        wait_for(lambda: some_stored(stored, 3))
        endings[0].send_signal(signal.SIGTERM)
        endings[0].communicate(timeout=120)
        stopped = shown(home)
        assert stopped["status"] == "stopped"
        assert stopped["completed_at"]
        assert stopped["tasks"]["in_progress"] == stopped["tasks"]["error"] == 0
        assert stopped["tasks"]["pending"] > 0
        with stored.read() as db:
            pending = db.execute(select(Task.attempts, Task.last_error).where(Task.status == "pending"))
            assert {(attempts, error) for attempts, error in pending} <= {(0, "interrupted"), (0, None)}
        code, resumed, told = crawl(home, sites.starts[0], "--resume")
        assert "goes on with run 1" in told
        assert (code, resumed["id"], resumed["status"]) == (0, 1, "completed")
        assert resumed["tasks"]["finished"] == resumed["pages"]["stored"] == 12
        assert set(Counter(sites.asked).values()) <= {1, 2}


@pytest.mark.soak(minutes=10)
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
        time.sleep(1.2)
        done = home.vitrine("runs", "resume", "1", "--json", *AT_ONCE)
        resumed = json.loads(done.stdout)
        assert (done.returncode, resumed["status"]) == (0, "completed")
        assert resumed["tasks"]["finished"] == resumed["pages"]["stored"] == 8


@pytest.mark.soak(minutes=10)
def test_an_interrupted_command_says_so(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """Ctrl-C on `vitrine crawl site`: the run is shown as it was left, and the exit code is 130."""
    with farm(hosts=1, pages=12) as sites:
        endings.append(home.start_vitrine("crawl", "site", sites.starts[0], *SLOWLY, "--json"))
        wait_for(lambda: some_stored(stored, 2))
        endings[0].send_signal(signal.SIGINT)
        out, err = endings[0].communicate(timeout=120)
        assert endings[0].returncode == 130
        assert json.loads(out)["status"] == "stopped"
        assert "stopping" in err


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


@pytest.mark.soak(minutes=10)
def test_no_request_goes_out_after_a_stop(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """What lay in Scrapy's queue already, to wait its seconds there, goes back with its attempts."""
    with farm(hosts=3, pages=30) as sites:
        (home.path.parent / "sources.toml").write_text(THREE.format(*sites.starts), encoding="utf-8")
        home.extra["SOURCES_FILE"] = str(home.path.parent / "sources.toml")
        endings.append(
            home.start_scrapy(
                "crawl", "site", "-a", "source=three",
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


THREE = """
[sources.three]
start_urls = ["{}", "{}", "{}"]
jitter_seconds = 0
"""


@pytest.mark.soak(minutes=10)
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


@pytest.mark.soak(minutes=10)
def test_a_stop_does_not_wait_for_a_sites_delay(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]]
) -> None:
    """Retry-After: 200 keeps the domain closed; a stop leaves at once, and the task keeps its tries."""

    def special(path: str) -> tuple[int, str, str] | None:
        return (429, "Retry-After: 200\r\n", "") if path == "/" else None

    with farm(hosts=1, pages=1, special=special) as sites:
        endings.append(home.start_scrapy("crawl", "site", "-a", f"start_url={sites.starts[0]}"))
        wait_for(lambda: "delay_reason" in home.vitrine("domains", "list", "--json").stdout and sites.asked)
        time.sleep(2)
        begun = time.monotonic()
        endings[0].send_signal(signal.SIGTERM)
        endings[0].communicate(timeout=120)
        assert time.monotonic() - begun < PATIENCE_SECONDS
        assert (shown(home)["status"], shown(home)["tasks"]["pending"]) == ("stopped", 1)


@pytest.mark.soak(minutes=10)
def test_processes_share_a_runs_domains(
    home: Home, stored: Database, endings: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    """SPEC D84 on SQLite: each domain is one process's at a time, and nothing is fetched twice."""
    home.extra["SESSIONS_AT_ONCE"] = "1"
    with farm(hosts=4, pages=4) as sites:
        starts = ", ".join(f'"{url}"' for url in sites.starts)
        (tmp_path / "sources.toml").write_text(f"[sources.farm]\nstart_urls = [{starts}]\n", encoding="utf-8")
        home.extra["SOURCES_FILE"] = str(tmp_path / "sources.toml")
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


# ── shown ──


def test_a_run_that_was_left_is_shown_as_such(home: Home, stored: Database) -> None:
    """Its process died: it is running by its status, and nobody is at it."""
    with farm(hosts=1, pages=2) as sites:
        crawl(home, sites.starts[0])
        with stored.write() as db:
            db.execute(update(Run).values(status="running", completed_at=None))
        assert shown(home)["workers"] == []
        assert "running, but no process is at it" in home.vitrine("runs", "show", "1").stdout
        assert "running, but no process is at it" in home.vitrine("runs", "list").stdout.replace("\n", " ")


def test_runs_are_listed(home: Home) -> None:
    """By source, the newest first; an empty list is told by its exit code when asked to."""
    assert home.vitrine("db", "upgrade").returncode == 0
    assert home.vitrine("runs", "list", "--fail-empty", "--json").returncode == 4
    with farm(hosts=2, pages=1) as sites:
        documents = [crawl(home, start)[1] for start in sites.starts]
    lines = home.vitrine("runs", "list", "--jsonl").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [2, 1]
    of_one = home.vitrine("runs", "list", "--json", "--source", documents[0]["source"]).stdout
    assert [run["id"] for run in json.loads(of_one)["runs"]] == [1]
    unknown = home.vitrine("runs", "show", "9")
    assert unknown.returncode != 0
    assert "there is no run '9'" in unknown.stderr


# ── plugins ──


@pytest.mark.soak(minutes=10)
def test_assets_of_two_runs_are_compared(home: Home, example_plugins: Path) -> None:
    """New in the first; in the second one is unchanged, one updated, one missing. The plugin is installed."""
    home.extra["PYTHONPATH"] = python_path(example_plugins)["PYTHONPATH"]
    second = False

    def special(path: str) -> tuple[int, str, str] | None:
        if path == "/":
            return 200, "", page(["/changes"] if second else ["/changes", "/goes"])
        if path == "/changes" and second:
            return 200, "", page([]).replace("<h1>A page", "<h1>Another page")
        return (404, "", "") if path == "/goes" and second else None

    with farm(hosts=1, pages=1, special=special) as sites:
        source = home.path.parent / "sources.toml"
        source.write_text(
            f'[sources.one]\nstart_urls = ["{sites.starts[0]}"]\nplugins = ["headings"]\n', encoding="utf-8"
        )
        home.extra["SOURCES_FILE"] = str(source)
        _, first, _ = crawl(home, "--source", "one")
        assert first["assets"] == {"headings": {"new": 3, "updated": 0, "unchanged": 0, "missing": 0}}
        second = True
        _, then, _ = crawl(home, "--source", "one")
        assert then["assets"] == {"headings": {"new": 0, "updated": 1, "unchanged": 1, "missing": 1}}
        assert [row["stage"] for row in then["exceptions"]] == ["disappeared"]


@pytest.mark.soak(minutes=10)
def test_a_plugin_that_fails_costs_no_page(home: Home, broken_plugins: Path) -> None:
    """The page is stored, and what the plugin said is noted."""
    home.extra["PYTHONPATH"] = python_path(broken_plugins)["PYTHONPATH"]
    with farm(hosts=1, pages=1) as sites:
        source = home.path.parent / "sources.toml"
        source.write_text(
            f'[sources.one]\nstart_urls = ["{sites.starts[0]}"]\nplugins = ["page", "raises"]\n',
            encoding="utf-8",
        )
        home.extra["SOURCES_FILE"] = str(source)
        code, run, _ = crawl(home, "--source", "one")
    assert (code, run["tasks"]["finished"], run["assets"]["page"]["new"]) == (0, 1, 1)
    assert [row["stage"] for row in run["exceptions"]] == ["plugin"]
