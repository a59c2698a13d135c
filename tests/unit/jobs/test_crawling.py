"""What an attempt comes to, by the tool's code, its words and the disk; the tool itself is left out."""

from __future__ import annotations

import errno
import json
import shutil
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import pytest

from crawler.config import load_settings
from crawler.engines.scrapy_engine import PLAN_FILE
from crawler.engines.statistics import end_line
from crawler.jobs import crawling
from crawler.jobs.crawling import MAX_COMMAND_BYTES, SEEDS_FILE, TAIL_LINES, Archive, Crawl
from crawler.jobs.steps import Came

if TYPE_CHECKING:
    from pathlib import Path

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
        {"ARCHIVE_ROOT": str(tmp_path / "root"), "TOOL_CMD": "", "JOB_DISK_LIMIT_PERCENT": 85}
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
    """A command line has an end; so does a source's plan, which always does."""
    seeds = [f"{SEED}{n:09}" for n in range(MAX_COMMAND_BYTES // 30 + 1)]
    crawl.archive = Archive("shop", crawl.archive.folder, {"seeds": seeds, "source": {"depth": 2}})
    tool = Tool()
    came(monkeypatch, crawl, tool)
    folder = crawl.archive.folder
    assert (folder / SEEDS_FILE).read_text("utf-8").splitlines() == seeds
    assert json.loads((folder / PLAN_FILE).read_bytes()) == {"depth": 2}
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
