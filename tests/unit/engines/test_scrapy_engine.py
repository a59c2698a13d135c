"""The engine `vitrine`: how it is started, what it reports, and what its exit codes mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from crawler.config import CRAWL_ORDER
from crawler.engines.engine import Stage
from crawler.engines.flags import ToolOrder
from crawler.engines.scrapy_engine import launch_of, stage_of, statistics_lines, write_plan
from crawler.engines.statistics import statistics_of

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.engines.statistics import Statistics

SEED = "https://www.shop.example/"


def reported(*events: dict[str, Any]) -> list[Statistics]:
    """The statistics that a crawl's events make."""
    lines = statistics_lines(json.dumps(event).encode() + b"\n" for event in events)
    return [statistics for line in lines if (statistics := statistics_of(line))]


def test_settings_are_passed_where_no_other_user_reads_them(tmp_path: Path) -> None:
    """By the environment, the operator's last, so that they win; the command line has none of them."""
    options = {"initial_workers": 3, "log_level": "DEBUG"}
    passthrough = ("-s", "PROXY_URL=http://me:secret@proxy.example/", "-s", "LOG_LEVEL=ERROR")
    order = ToolOrder((SEED,), "shop", str(tmp_path), options, passthrough)
    written = write_plan(order, {"judge": False, "start_urls": ["x"]})
    launch = launch_of(order, written, None, events=9, keep=(8,))
    assert launch.environment is not None
    plan = tmp_path / "source.json"
    crawl_order = json.loads(launch.environment[CRAWL_ORDER])
    assert crawl_order["arguments"] == {"plan": str(plan)}
    assert crawl_order["settings"] == {
        "PROGRESS_FD": "9", "LOG_LEVEL": "DEBUG", "WARC_DIR": str(tmp_path / "warcs"), "PAGE_STORE": "warc",
        "JUDGE_PAGES": "0", "SESSIONS_AT_ONCE": "3", **dict(word.split("=") for word in passthrough[1::2]),
    }  # fmt: skip
    assert json.loads(plan.read_bytes()) == {"judge": False, "start_urls": [SEED]}
    assert launch.keep == (8, 9)


def test_a_run_goes_on_by_its_number(tmp_path: Path) -> None:
    """And a mere list of seeds has their domains as its scope."""
    order = ToolOrder((SEED,), "shop", str(tmp_path))
    launch = launch_of(order, write_plan(order, None), 7, events=9, keep=())
    assert launch.environment is not None
    assert json.loads(launch.environment[CRAWL_ORDER])["arguments"] == {"run_id": "7"}
    assert json.loads((tmp_path / "source.json").read_bytes())["allowed_domains"] == ["shop.example"]


def test_what_must_not_be_fetched_is_no_failed_page() -> None:
    """Neither while the run goes on nor at its end; all others are through then."""
    going = {"event": "tasks", "finished": 3, "error": 5, "refused": 4, "waiting": 2, "held": 1}
    tasks = {"pending": 0, "in_progress": 0, "finished": 5, "error": 5, "refused": 4}
    ended = {"event": "run_ended", "run": 7, "tasks": tasks, "reason": "why"}
    begun, first, last = reported({"event": "run", "run": 7}, going, going, ended)
    assert (begun.crawled, begun.run) == (0, 7)
    assert (first.crawled, first.failed, first.total, first.pending) == (3, 1, 6, 2)
    assert (last.crawled, last.failed, last.total, last.is_finishing) == (5, 1, 6, True)
    assert (last.raw["refused"], last.raw["reason"]) == (4, "why")


@pytest.mark.parametrize(
    ("code", "tail", "stage"),
    [
        (0, (), Stage.COMPLETED), (2, (), Stage.USAGE), (3, (), Stage.PARTLY), (5, (), Stage.INFRASTRUCTURE),
        (130, (), Stage.INTERRUPTED), (137, (), Stage.FAILED), (1, (), Stage.FAILED),
        (1, ("x", "error[disk_full]: no room"), Stage.INFRASTRUCTURE),
    ],
)  # fmt: skip
def test_what_a_code_means(code: int, tail: tuple[str, ...], stage: Stage) -> None:
    """Where the crawl failed, its last lines say whether it was the machine."""
    assert stage_of(code, tail) is stage
