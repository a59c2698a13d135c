"""The engine `vitrine`, a durable run of our own that writes WARCs: how it is started, what it reports."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.clock import utc_now
from crawler.config import CRAWL_ORDER
from crawler.engines.engine import Stage
from crawler.engines.process import Launch, event_in
from crawler.engines.state import write_atomically
from crawler.engines.statistics import statistics_line
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from crawler.engines.flags import ToolOrder

PLAN_FILE = "source.json"  # the source as the job has it, from which the run is made
SECONDS_BETWEEN_LINES = 10.0
GRACE_SECONDS = 90.0  # from asking the crawl to end to ending it
_STAGES = {
    0: Stage.COMPLETED,
    2: Stage.USAGE,
    3: Stage.PARTLY,
    5: Stage.INFRASTRUCTURE,
    130: Stage.INTERRUPTED,
}
# Errors of the crawl that are the machine's; it exits with 1 for them.
_MACHINES = (
    "error[disk_full]",
    "error[database_unavailable]",
    "error[redis_unavailable]",
    "error[infrastructure]",
    "ERROR: warc.not_written code=",  # no URL has blanks
)


def write_plan(order: ToolOrder, source: Mapping[str, Any] | None) -> dict[str, Any]:
    """Write the plan of a run into the archive's folder: the source with the seeds of the order.

    Without a source the scope of the run is the domains of its seeds.
    """
    seeds = list(order.seeds)
    if source is None:
        domains = list(dict.fromkeys(map(domain_of, seeds)))
        source = {"code": order.name, "name": order.name, "allowed_domains": domains}
    plan = {**source, "start_urls": seeds}
    write_atomically(Path(order.output_dir) / PLAN_FILE, json.dumps(plan).encode())
    return plan


def launch_of(
    order: ToolOrder, plan: Mapping[str, Any], run: int | None, *, events: int, keep: tuple[int, ...]
) -> Launch:
    """Return how a run of the plan is started, or how `run` goes on; its events go to the pipe `events`."""
    folder = Path(order.output_dir)
    settings = {
        "PROGRESS_FD": events,
        "LOG_LEVEL": order.option("log_level"),
        "WARC_DIR": folder / "warcs",
        "PAGE_STORE": "warc",
        "JUDGE_PAGES": int(plan.get("judge") is not False),
        "SESSIONS_AT_ONCE": order.option("initial_workers"),
    }
    # Those of the operator come last, so that they win; of the words `-s NAME=VALUE` every second one counts.
    given = dict(word.partition("=")[::2] for word in order.passthrough[1::2])
    crawl_order = {
        "arguments": {"run_id": str(run)} if run else {"plan": str(folder / PLAN_FILE)},
        "settings": {**{name: str(value) for name, value in settings.items()}, **given},
    }
    command = [sys.executable, "-P", "-m", "crawler.commands", "crawl", "site"]
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": "crawler.settings",
        CRAWL_ORDER: json.dumps(crawl_order),
    }
    return Launch(command, environment, keep=(*keep, events), grace=GRACE_SECONDS)


def statistics_lines(events: Iterable[bytes]) -> Iterator[str]:
    """Yield a line of statistics for the beginning and the end of a run, and every ten seconds between."""
    run, next_at = None, 0.0
    for event in map(event_in, events):
        kind = event.get("event")
        if kind == "run":
            run = event.get("run")
            yield _line({"finished": 0, "error": 0, "waiting": 0, "held": 1}, run)
        elif kind == "tasks" and time.monotonic() >= next_at:
            next_at = time.monotonic() + SECONDS_BETWEEN_LINES
            yield _line(event, run)
        elif kind == "run_ended" and (tasks := event.get("tasks")):
            left = tasks["pending"] + tasks["in_progress"]
            yield _line({**tasks, "waiting": left, "reason": event.get("reason")}, run)


def stage_of(code: int, tail: Collection[str]) -> Stage:
    """Return what an exit code of the crawl means, beside the last lines of its output."""
    if code == 1 and any(word in line for line in tail for word in _MACHINES):
        return Stage.INFRASTRUCTURE
    return _STAGES.get(code, Stage.FAILED)


def _line(event: Mapping[str, Any], run: int | None) -> str:
    # What robots.txt or the rules of the source keep out is no page of the archive that failed.
    refused = event.get("refused", 0)
    done, failed, left = event["finished"], event["error"] - refused, event["waiting"]
    details = {
        "crawled": done, "total": done + failed + left, "pending": left, "failed": failed,
        "refused": refused, "waiting": not event.get("held", 1), "run": run,
    }  # fmt: skip
    if reason := event.get("reason"):
        details["reason"] = reason
    return statistics_line(details, at=utc_now().isoformat())
