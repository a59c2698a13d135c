"""What an attempt comes to, by the engine's code, its words and the disk; the engine itself is left out."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from crawler.config import load_settings
from crawler.engines.scrapy_engine import PLAN_FILE
from crawler.engines.statistics import end_line, statistics_of
from crawler.jobs import crawling
from crawler.jobs.crawling import MAX_COMMAND_BYTES, SEEDS_FILE, Crawl
from crawler.jobs.engine_output import TAIL_LINES
from crawler.jobs.steps import Archive, Came

Usage = namedtuple("Usage", "total used free")  # ruff: ignore[collections-named-tuple] - as shutil has it
SEED = "https://shop.example/"


class Tool:
    """Stands in for the guarded tool: says its lines, and ends."""

    pid = 1

    def __init__(self, *lines: str, code: int = 0) -> None:
        self.said, self.code, self.stopped, self.launched = lines, code, 0, None

    def __call__(self, launch: Any) -> Tool:
        """It is started."""
        self.launched = launch
        return self

    def lines(self) -> list[bytes]:
        """What it says."""
        return [line.encode() for line in self.said]

    def stop(self) -> None:
        """It was told to end."""
        self.stopped += 1

    def wait(self) -> int:
        """Its exit code."""
        return self.code

    def close(self) -> None:
        """Nobody listens any more."""


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    """One whose disk has room."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(100, 10, 90))
    settings = load_settings(
        {"ARCHIVE_ROOT": str(tmp_path / "root"), "TOOL_CMD": "archive-tool", "JOB_DISK_LIMIT_PERCENT": 85}
    )
    archive = Archive("shop", tmp_path / "root" / "shop" / "1", {"seeds": [SEED]}, job_id=7, epoch=3)
    return Crawl(settings, archive)


def came(monkeypatch: pytest.MonkeyPatch, crawl: Crawl, tool: Tool) -> Any:
    """What an attempt with this tool comes to."""
    monkeypatch.setattr(crawling, "Guarded", tool)
    return crawl.run()


def test_what_a_crawl_is_told(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its job, its epoch, and the lock that it inherits."""
    tool = Tool(end_line({"stage": "completed", "engine_exit": 0, "zim": "/x/shop.zim"}, at=""), code=0)
    result = came(monkeypatch, crawl, tool)
    assert (result.came, result.stage, result.facts["final_zim_path"]) == (
        Came.SUCCESS,
        "completed",
        "/x/shop.zim",
    )
    launch: Any = tool.launched
    assert {name: launch.environment[f"VITRINE_{name}"] for name in ("JOB", "EPOCH", "ENGINE")} == {
        "JOB": "7", "EPOCH": "3", "ENGINE": "vitrine",
    }  # fmt: skip
    assert len(launch.keep) == 1
    assert SEED in " ".join(launch.command)


def test_seeds_that_are_too_many_come_in_a_file(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line has an end."""
    seeds = [f"{SEED}{n:09}" for n in range(MAX_COMMAND_BYTES // 30 + 1)]
    crawl.archive = Archive("shop", crawl.archive.folder, {"seeds": seeds})
    tool = Tool()
    came(monkeypatch, crawl, tool)
    folder = crawl.archive.folder
    assert (folder / SEEDS_FILE).read_text("utf-8").splitlines() == seeds
    launch: Any = tool.launched
    assert seeds[5] not in " ".join(launch.command)


@pytest.mark.parametrize(
    ("code", "lines", "expected"),
    [
        (0, (), Came.SUCCESS),
        (1, ("it broke at https://me:geheim@shop.example/",), Came.FAILED),
        (2, ("unknown flag",), Came.USAGE),
        (75, (), Came.INFRASTRUCTURE),
        (1, ("write failed: No space left on device",), Came.INFRASTRUCTURE),
        (1, ('{"message": "the page says: no space left on device"}',), Came.FAILED),
        (1, ("no space left on device", *["later"] * TAIL_LINES), Came.FAILED),
        (127, ("error[tool_missing]: /x: No such file",), Came.INFRASTRUCTURE),
    ],
)
def test_what_a_code_comes_to(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, code: int, lines: tuple[str, ...], expected: Came
) -> None:
    """Beside the last words, of which a page's own are none."""
    result = came(monkeypatch, crawl, Tool(*lines, code=code))
    assert (result.came, result.exit_code) == (expected, code)
    assert "geheim" not in result.error
    assert result.facts["combined_log_path"].endswith(".combined.log")


def test_why_it_was_stopped_says_more_than_its_code(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its worker was told to; or it had its time, which counts as a failure."""
    crawl.stop()
    tool = Tool("error", code=1)
    assert came(monkeypatch, crawl, tool).came is Came.INTERRUPTED
    assert tool.stopped == 1  # it was asked for before there was anything to stop
    crawl.too_long = True
    assert came(monkeypatch, crawl, Tool(code=1)).cause == crawling.TOO_LONG
    assert came(monkeypatch, crawl, Tool(code=0)).came is Came.SUCCESS


def test_a_full_disk_lets_nothing_begin(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the folder is not there yet, its disk is looked at, and nothing is made."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(100, 85, 15))
    result = came(monkeypatch, crawl, Tool())
    assert (result.came, result.cause) == (Came.NOT_BEGUN, crawling.DISK_LIMIT)
    assert "85 % full" in result.error
    assert not crawl.archive.folder.exists()


def test_a_folder_outside_the_archive_is_refused(
    crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whichever link."""
    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root" / "shop").symlink_to(tmp_path / "elsewhere")
    tool = Tool()
    with pytest.raises(Exception, match="root"):
        came(monkeypatch, crawl, tool)
    assert tool.launched is None
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EACCES])
def test_a_mount_that_breaks_is_told_and_not_raised(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whatever is wrong with it: the job is tried again after a rest."""

    def broken(_order: object) -> None:
        raise OSError(number, "broken", "/archive")

    monkeypatch.setattr(crawling, "Guarded", broken)
    result = crawl.run()
    assert (result.came, result.error) == (Came.INFRASTRUCTURE, "/archive: broken")


def test_a_folder_that_goes_away_is_no_failure_of_the_crawl(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the tool says of it: what it wrote is not there."""
    for code in (0, 1):
        tool = Tool(code=code)
        monkeypatch.setattr(tool, "close", lambda: shutil.rmtree(crawl.archive.folder))
        result = came(monkeypatch, crawl, tool)
        assert (result.came, result.cause) == (Came.INFRASTRUCTURE, crawling.INFRASTRUCTURE)
        assert "went away" in result.error


def test_a_standstill_is_a_cause_of_its_own(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job says why its engine was given up."""
    said = "stall: gives up: 5 restarts brought no page that was not captured before"
    tool = Tool(said, end_line({"stage": "stalled", "engine_exit": 143, "zim": None}, at=""), code=1)
    result = came(monkeypatch, crawl, tool)
    assert (result.came, result.cause, result.stage) == (Came.FAILED, "stalled", "stalled")
    assert said in result.error


class OwnEngine(Tool):
    """Stands in for our own engine: reports a run and its end through its pipe."""

    def __init__(self, *lines: str, code: int = 0, finished: int = 5) -> None:
        super().__init__(*lines, code=code)
        tasks = {"pending": 0, "in_progress": 0, "finished": finished, "error": 2, "refused": 1}
        self.events = [{"event": "run", "run": 7}, {"event": "run_ended", "tasks": tasks}]

    def __call__(self, launch: Any) -> Tool:
        """It is started, and says all at once."""
        os.write(launch.keep[-1], "".join(json.dumps(event) + "\n" for event in self.events).encode())
        return super().__call__(launch)


@pytest.fixture
def own(crawl: Crawl) -> Crawl:
    """The same where no TOOL_CMD is set."""
    crawl.settings = load_settings({**crawl.settings.model_dump(), "TOOL_CMD": ""})
    return crawl


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        (OwnEngine(), (Came.SUCCESS, 0, "completed")),
        (OwnEngine(code=3), (Came.SUCCESS, 0, "partly")),
        (OwnEngine(code=3, finished=0), (Came.FAILED, 0, "partly")),
        (OwnEngine("it broke", code=1), (Came.FAILED, 1, "failed")),
        (OwnEngine("it broke", code=137), (Came.FAILED, 1, "failed")),
        (OwnEngine(code=2), (Came.USAGE, 2, "usage")),
        (OwnEngine("error[disk_full]: no room", "bye", code=1), (Came.INFRASTRUCTURE, 75, "infrastructure")),
    ],
)
def test_our_own_engine_is_started_without_the_tool(
    own: Crawl, monkeypatch: pytest.MonkeyPatch, engine: OwnEngine, expected: tuple[object, ...]
) -> None:
    """Its codes become those that jobs know; its events are statistics, in the log and in the row."""
    result = came(monkeypatch, own, engine)
    assert (result.came, result.exit_code, result.stage) == expected
    finished = engine.events[1]["tasks"]["finished"]  # type: ignore[index]
    facts = {name: result.facts[name] for name in ("pages_crawled", "pages_failed", "run_id")}
    assert facts == {"pages_crawled": finished, "pages_failed": 1, "run_id": 7}
    lines = Path(result.facts["combined_log_path"]).read_text("utf-8").splitlines()
    assert [said.crawled for line in lines if (said := statistics_of(line))] == [0, finished]
    launch: Any = engine.launched
    assert "crawler.commands" in launch.command
    assert json.loads((own.archive.folder / PLAN_FILE).read_bytes())["start_urls"] == [SEED]


def test_our_own_engine_relaxes_permissions_where_that_is_asked_for(
    own: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody may read what it left; without the option nothing is changed."""
    for relaxed, mode in ((False, 0o640), (True, 0o644)):
        config = {"seeds": [SEED], "tool_options": {"relax_perms": relaxed}}
        own.archive = Archive("shop", own.archive.folder, config)
        result = came(monkeypatch, own, OwnEngine())
        assert Path(result.facts["combined_log_path"]).stat().st_mode & 0o777 == mode


def test_what_is_crawled_already_is_only_counted(own: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine is started for a run that was completed when its worker died."""
    (own.archive.folder / "warcs").mkdir(parents=True)
    (own.archive.folder / "warcs" / "a.warc.gz").write_bytes(b"a" * 9)
    own.archive = Archive("shop", own.archive.folder, own.archive.config, run_id=7, is_crawled=True)
    engine = OwnEngine()
    result = came(monkeypatch, own, engine)
    assert (engine.launched, result.came, result.stage) == (None, Came.SUCCESS, "completed")
    assert result.facts["warc_bytes_total"] == 9
