"""One attempt at a job's crawl: folder, lock, tool, log, and what came of it (SPEC 38-49)."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from crawler import logs
from crawler.clock import utc_now
from crawler.engines.engine import Stage, ToolExit, is_infrastructure
from crawler.engines.flags import ToolOrder, arguments_of
from crawler.engines.process import Guarded, Launch
from crawler.engines.scrapy_engine import PLAN_FILE
from crawler.engines.state import write_atomically
from crawler.engines.statistics import end_of, statistics_of
from crawler.evidence.archive_folders import sizes_of
from crawler.jobs.orders import require_folder_inside
from crawler.jobs.steps import Came, Result, columns_of
from crawler.jobs.storage import (
    ArchiveBusyError,
    CombinedLog,
    last_statistics,
    locked,
    note_guard,
    state_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from crawler.config import Settings
    from crawler.engines.statistics import Statistics, ToolEnd

SEEDS_FILE = ".seeds.txt"
MAX_COMMAND_BYTES = 100 * 1024  # of seeds; more go into a file
GRACE_SECONDS = 120.0  # from asking a tool to end to ending it
PROGRESS_SECONDS = 5.0
DISK_LIMIT, INFRASTRUCTURE, USAGE, CRAWL_FAILED, STALLED, TOO_LONG, BUSY = (
    "disk_limit", "infrastructure", "bad_arguments", "crawl_failed", "stalled", "too_long", "archive_busy",
)  # fmt: skip
_STORAGE_WORDS = (
    "no space left on device", "disk quota exceeded", "stale file handle",
    "transport endpoint is not connected",
    "input/output error", "read-only file system", "error[tool_missing]", "error[infrastructure]",
)  # fmt: skip
TAIL_LINES = 50
_ERROR = re.compile(r"\b(?:error|critical|fatal|gives up)\b(?!')", re.IGNORECASE)
_CODE = re.compile(r"^error\[\w+\]: ")

log = logs.get_logger(__name__)


@frozen
class Archive:
    """What is to be crawled, and where to."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    engine: str = "vitrine"
    job_id: int | None = None
    epoch: int = 1
    root_in_use: bool = False  # files of archives lie in ARCHIVE_ROOT


class Crawl:
    """Runs the tool once. `stop` may be called from a signal's handler, and twice ends it at once."""

    def __init__(
        self, settings: Settings, archive: Archive, on_progress: Callable[[Statistics], None] = lambda _: None
    ) -> None:
        self.settings = settings
        self.archive = archive
        self.too_long = False  # it was stopped because it took its whole time
        self.lost = False  # it was stopped because it is no longer ours
        self._on_progress = on_progress
        self._asked = 0
        self._guarded: Guarded | None = None
        self._tail: list[str] = []
        self._end: ToolEnd | None = None
        self._last: Statistics | None = None
        self._log_error: OSError | None = None

    def stop(self) -> None:
        """Ask the tool to end; the second time it is ended."""
        self._asked += 1
        if self._guarded is not None:
            self._guarded.stop()

    def run(self) -> Result:
        """Crawl; whatever breaks on the way is told by the result, never raised."""
        began = time.time()
        try:
            if full := self._too_full():
                return Result(Came.NOT_BEGUN, error=full, cause=DISK_LIMIT)
            self._make_folder()
            with locked(self.archive.folder) as lock:
                code, path = self._run_tool(lock)
            facts = self._facts(path, began)
        except ArchiveBusyError as error:
            return Result(Came.NOT_BEGUN, error=str(error), cause=BUSY)
        except OSError as error:
            return self._broken(error)
        return self._result(code, facts)

    # ── before the tool begins ──

    def _too_full(self) -> str | None:
        """Why this file system takes no crawl; that of the job's own folder, wherever it is mounted."""
        there = next(path for path in (self.archive.folder, *self.archive.folder.parents) if path.exists())
        usage = shutil.disk_usage(there)
        percent = 100 * (usage.total - usage.free) / max(usage.total, 1)
        if percent < self.settings.job_disk_limit_percent:
            return None
        return f"the disk of {there} is {percent:.0f} % full (JOB_DISK_LIMIT_PERCENT)"

    def _make_folder(self) -> None:
        folder = self.archive.folder
        if self.archive.job_id is not None and folder.is_relative_to(self.settings.archives):
            self._require_root()
            require_folder_inside(folder, self.settings.archives)
        folder.mkdir(parents=True, exist_ok=True)
        plan = self.archive.config.get("source")
        if isinstance(plan, dict):
            write_atomically(folder / PLAN_FILE, json.dumps(plan).encode())

    def _require_root(self) -> None:
        """A root that has archives and is not there is not mounted: what lies below the mount is not ours."""
        root = self.settings.archives
        if self.archive.root_in_use and not root.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "not there, though it has archives; is it mounted?", str(root)
            )

    def _command(self) -> list[str]:
        archive, config = self.archive, self.archive.config
        seeds = [str(seed) for seed in config.get("seeds") or ()]
        seeds_file = None
        if sum(len(seed) + 1 for seed in seeds) > MAX_COMMAND_BYTES:
            seeds_file = str(archive.folder / SEEDS_FILE)
            write_atomically(archive.folder / SEEDS_FILE, "\n".join(seeds).encode())
        order = ToolOrder(
            tuple(seeds), archive.name, str(archive.folder), dict(config.get("tool_options") or {}),
            tuple(config.get("zimit_passthrough_args") or ()), seeds_file,
        )  # fmt: skip
        return [*tool_command(self.settings), *arguments_of(order)]

    # ── while it runs ──

    def _run_tool(self, lock: int) -> tuple[int, Path]:
        archive = self.archive
        environment = {
            **os.environ, "VITRINE_ENGINE": archive.engine, "VITRINE_EPOCH": str(archive.epoch),
            "VITRINE_JOB": "" if archive.job_id is None else str(archive.job_id),
        }  # fmt: skip
        combined = CombinedLog(archive.folder, "crawl", utc_now())
        launch = Launch(self._command(), environment, keep=(lock,), grace=GRACE_SECONDS)
        guarded = self._guarded = Guarded(launch)
        try:
            note_guard(lock, guarded.pid)
            for _ in range(min(self._asked, 2)):
                guarded.stop()  # it was asked for before there was anything to stop
            self._listen(guarded, combined)
            code = guarded.wait() or 0
        finally:
            guarded.close()  # where anything was raised, its guard ends it
            guarded.wait()
            combined.close()
            self._guarded, self._log_error = None, combined.error
        if not archive.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "it went away", str(archive.folder))
        return code, combined.path

    def _listen(self, guarded: Guarded, combined: CombinedLog) -> None:
        next_at = 0.0
        for raw in guarded.lines():
            line = combined.write(raw)
            _pass_on(line)
            said = statistics_of(line)
            if said is None:
                self._end = end_of(line) or self._end
                self._tail = [*self._tail[1 - TAIL_LINES :], line[:2000]]
                continue
            self._last = said
            if time.monotonic() >= next_at:
                next_at = time.monotonic() + PROGRESS_SECONDS
                self._on_progress(said)

    # ── what came of it ──

    def _facts(self, path: Path, began: float) -> dict[str, Any]:
        """What the job's row is to know; best effort, it never changes what came of the crawl."""
        folder = self.archive.folder
        facts: dict[str, Any] = {"combined_log_path": str(path)}
        with suppress(OSError):
            last = self._last
            if last is None and (found := last_statistics(folder, began - 1)):
                last, facts["combined_log_path"] = found[1], str(found[0])
            if last is not None:
                facts |= columns_of(last)
                facts |= {"run_id": last.run} if last.run else {}
            facts["state_file_path"] = state_path(folder)
            facts |= asdict(sizes_of(folder))
            facts["storage_scanned_at"] = utc_now()
            facts["final_zim_path"] = self._end.zim if self._end else None
        return facts

    def _result(self, code: int, facts: dict[str, Any]) -> Result:
        stage = self._end.stage if self._end else ""
        last = self._last
        if code == ToolExit.DONE and not (last and last.failed and not last.crawled):
            return Result(Came.SUCCESS, code, stage or "completed", facts=facts)
        if self.too_long:
            error = f"it took longer than {self.settings.job_max_seconds} s (JOB_MAX_SECONDS)"
            return Result(Came.FAILED, code, stage, error, TOO_LONG, facts)
        if self._asked:
            return Result(Came.INTERRUPTED, code, stage, "its worker was told to stop", facts=facts)
        nothing = f"not one of {last.total} pages was captured; " if last and not last.crawled else ""
        error = self._reason() or f"{nothing}the tool exited with {code}, and its log says more"
        if code == ToolExit.USAGE:
            return Result(Came.USAGE, code, stage, error, USAGE, facts)
        if code == ToolExit.INFRASTRUCTURE or self._speaks_of_storage():
            return Result(Came.INFRASTRUCTURE, code, stage, error, INFRASTRUCTURE, facts)
        cause = STALLED if stage == Stage.STALLED else CRAWL_FAILED
        return Result(Came.FAILED, code, stage, error, cause, facts)

    def _reason(self) -> str:
        """Return why the engine says that it failed, else its last error; empty if it said neither."""
        reason = self._last.raw.get("reason") if self._last else None
        said = reason if isinstance(reason, str) else ""
        errors = (line for line in reversed(self._tail) if _ERROR.search(line) and not line.startswith("{"))
        return (said or _CODE.sub("", next(errors, "")))[:500]

    def _speaks_of_storage(self) -> bool:
        """Whether the last lines name a broken disk; what engines log of pages is JSON, and is left out."""
        if self._log_error is not None and is_infrastructure(self._log_error):
            return True
        lines = "\n".join(line.lower() for line in self._tail if not line.startswith("{"))
        return any(word in lines for word in _STORAGE_WORDS)

    def _broken(self, error: OSError) -> Result:
        """A folder that cannot be written, a mount that is stale: nothing that the crawl did."""
        told = f"{error.filename or self.archive.folder}: {error.strerror}"
        log.warning("job.broken", job=self.archive.job_id, error=told, known=is_infrastructure(error))
        return Result(Came.INFRASTRUCTURE, error=told, cause=INFRASTRUCTURE)


def tool_command(settings: Settings) -> list[str]:
    """How the tool is called (SPEC 2)."""
    return shlex.split(settings.tool_cmd) or [sys.executable, "-P", "-m", "crawler.engines"]


def _pass_on(line: str) -> None:
    """The tool's output is the worker's too; nobody has to listen (SPEC 157)."""
    with suppress(OSError, ValueError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
