"""The engine `vitrine`: a durable run of our own, `scrapy crawl site`, that writes WARCs."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawler.clock import utc_now
from crawler.engines.engine import Stage
from crawler.engines.process import Launch, event_in
from crawler.engines.state import write_atomically
from crawler.engines.statistics import statistics_line
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawler.engines.engine import Attempt
    from crawler.engines.flags import ToolOrder

PLAN_FILE = "source.json"  # the source as the job has it; absent where there is no job
OWN_PLAN_FILE = ".archive_plan.json"
SECONDS_BETWEEN_LINES = 10.0
FEWEST_SECONDS_BETWEEN_LINES = 0.2
DOWNLOAD_DELAY = 1.0  # as `crawler.settings` has it; a reduction doubles it
GRACE_SECONDS = 90.0
MAX_PLAN_BYTES = 4 * 1024 * 1024
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
_OVER = "error[run_over]"


class ScrapyEngine:
    """Speaks to the crawl's process through the same pipe as `vitrine crawl` does."""

    def __init__(self, order: ToolOrder, folder: Path) -> None:
        self.order = order
        self.folder = folder
        stall = order.option("stall_timeout_minutes")
        lines = SECONDS_BETWEEN_LINES if stall is None else min(SECONDS_BETWEEN_LINES, stall * 60 / 8)
        self._seconds = max(lines, FEWEST_SECONDS_BETWEEN_LINES)
        self._pipe = -1
        self._theirs = -1
        self._run: int | None = None

    def require(self) -> None:
        """It needs nothing that the crawl does not ask for itself."""

    def launch(self, attempt: Attempt) -> Launch:
        """Begin a run of the plan, or go on with the one that was begun."""
        self._pipe, self._theirs = os.pipe()
        plan = self._plan()
        begun = attempt.state.run
        write_atomically(self.folder / OWN_PLAN_FILE, json.dumps(plan).encode())
        argument = f"run_id={begun}" if begun else f"plan={self.folder / OWN_PLAN_FILE}"
        settings = {
            "PROGRESS_FD": self._theirs,
            "LOG_LEVEL": self.order.option("log_level"),
            "WARC_DIR": self.folder / "warcs",
            "PAGE_STORE": "warc",
            "JUDGE_PAGES": int(plan.get("judge") is not False),
            "SESSIONS_AT_ONCE": attempt.workers,
            "DOWNLOAD_DELAY": f"{DOWNLOAD_DELAY * 2**attempt.reductions:g}",
        }
        said = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        command = [
            sys.executable, "-P", "-m", "crawler.commands", "crawl", "site", "-a", argument,
            *self._without_delay(said), *self.order.passthrough,
        ]  # fmt: skip
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
        return Launch(command, environment, keep=(self._theirs,), grace=GRACE_SECONDS)

    def progress(self) -> Iterator[str]:
        """A line of statistics each time that enough has passed, and at the end."""
        os.close(self._theirs)
        next_at = 0.0
        with os.fdopen(self._pipe, "rb") as events:
            for line in events:
                event = event_in(line)
                if event.get("event") == "run":
                    self._run = event.get("run")
                    yield self._line({"finished": 0, "error": 0, "waiting": 0, "held": 1})
                elif event.get("event") == "tasks":
                    if time.monotonic() >= next_at:
                        next_at = time.monotonic() + self._seconds
                        yield self._line(event)
                elif event.get("event") == "run_ended" and event.get("tasks"):
                    yield self._line({**_at_the_end(event["tasks"]), "reason": event.get("reason")})

    def came_to(self, code: int, tail: Sequence[str]) -> Stage:
        """The crawl's own exit codes say most of it."""
        said = "\n".join(tail)
        if _OVER in said:
            return Stage.OVER
        if code == 1 and any(word in said for word in _MACHINES):
            return Stage.INFRASTRUCTURE
        return _STAGES.get(code, Stage.FAILED)

    def final_zim(self) -> Launch | None:
        """This engine builds none."""
        return None

    def _plan(self) -> dict[str, Any]:
        """What the job knows of its source; of a mere list of seeds the domains are its scope."""
        seeds, name = list(self.order.seeds), self.order.name
        plain = {"code": name, "name": name, "allowed_domains": list(dict.fromkeys(map(domain_of, seeds)))}
        said: Any = None
        with suppress(OSError, ValueError, RecursionError):
            path = self.folder / PLAN_FILE
            if not path.is_symlink() and path.stat().st_size <= MAX_PLAN_BYTES:
                said = json.loads(path.read_bytes())
        return {**(said if isinstance(said, dict) else plain), "start_urls": seeds}

    def _without_delay(self, said: list[str]) -> list[str]:
        """An argument of the operator's wins; ours stands only where it slows down."""
        return said if float(said[-1].partition("=")[2]) > DOWNLOAD_DELAY else said[:-2]

    def _line(self, event: dict[str, Any]) -> str:
        refused = event.get(
            "refused", 0
        )  # by robots.txt or the source's rules: no page of the archive failed
        done, failed, left = event["finished"], event["error"] - refused, event["waiting"]
        details = {
            "crawled": done, "total": done + failed + left, "pending": left, "failed": failed,
            "refused": refused, "waiting": not event.get("held", 1), "run": self._run,
        }  # fmt: skip
        if reason := event.get("reason"):
            details["reason"] = reason
        return statistics_line(details, at=utc_now().isoformat())


def _at_the_end(tasks: dict[str, int]) -> dict[str, Any]:
    """How a run stands that this process has let go of."""
    left = tasks["pending"] + tasks["in_progress"]
    refused = tasks.get("refused", 0)
    return {"finished": tasks["finished"], "error": tasks["error"], "refused": refused, "waiting": left}
