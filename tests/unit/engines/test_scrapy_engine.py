"""The engine `vitrine`: what it says of its run's progress."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from crawler.engines.engine import Attempt
from crawler.engines.flags import ToolOrder
from crawler.engines.scrapy_engine import ScrapyEngine
from crawler.engines.state import ArchiveState
from crawler.engines.statistics import statistics_of

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.engines.statistics import Statistics


def said(folder: Path, *events: dict[str, Any]) -> list[Statistics]:
    """What the engine makes of what its crawl tells."""
    engine = ScrapyEngine(ToolOrder(("https://shop.example/",), "shop", str(folder)), folder)
    engine.launch(Attempt(1, 1, 0, ArchiveState()))
    os.write(engine._theirs, "".join(json.dumps(event) + "\n" for event in events).encode())
    return [statistics for line in engine.progress() if (statistics := statistics_of(line))]


def test_what_must_not_be_fetched_is_no_failed_page(tmp_path: Path) -> None:
    """Neither while the run goes on nor at its end; all others are through then."""
    going = {"event": "tasks", "finished": 3, "error": 5, "refused": 4, "waiting": 2, "held": 1}
    tasks = {"pending": 0, "in_progress": 0, "finished": 5, "error": 5, "refused": 4}
    ended = {"event": "run_ended", "run": 7, "tasks": tasks}
    first, last = said(tmp_path, going, ended)
    assert (first.crawled, first.failed, first.total, first.pending) == (3, 1, 6, 2)
    assert (last.crawled, last.failed, last.total, last.is_finishing) == (5, 1, 6, True)
    assert last.raw["refused"] == 4
