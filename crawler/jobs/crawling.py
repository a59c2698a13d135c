"""One attempt at a job's crawl: folder, lock, engine, log, and its outcome.

Our own engine is started directly. For zimit, and where TOOL_CMD names a program, the archive tool is.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
import time
from contextlib import closing, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve

from crawler import logs
from crawler.clock import utc_now
from crawler.engines.engine import EXIT_OF, Stage, ToolExit, is_infrastructure
from crawler.engines.flags import ToolOrder, arguments_of
from crawler.engines.process import Guarded, Launch
from crawler.engines.scrapy_engine import launch_of, stage_of, write_plan
from crawler.engines.state import relax_permissions, write_atomically
from crawler.evidence.archive_folders import logs_in, sizes_of
from crawler.jobs.engine_output import EngineOutput
from crawler.jobs.orders import require_folder_inside
from crawler.jobs.steps import Came, Result, columns_of
from crawler.jobs.storage import (
    ArchiveBusyError,
    last_statistics,
    locked,
    note_guard,
    state_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawler.config import Settings
    from crawler.engines.statistics import Statistics
    from crawler.jobs.steps import Archive

SEEDS_FILE = ".seeds.txt"
MAX_COMMAND_BYTES = 100 * 1024  # of seeds; more go into a file
GRACE_SECONDS = 120.0  # from asking a tool to end to ending it
LAST_EVENTS_SECONDS = 30.0
DISK_LIMIT, INFRASTRUCTURE, USAGE, CRAWL_FAILED, STALLED, TOO_LONG, BUSY = (
    "disk_limit", "infrastructure", "bad_arguments", "crawl_failed", "stalled", "too_long", "archive_busy",
)  # fmt: skip

log = logs.get_logger(__name__)


class Crawl:
    """Runs the engine once. `stop` may be called from a signal's handler, and twice ends it at once."""

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

    def stop(self) -> None:
        """Ask the engine to end; the second time it is ended."""
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
                if self.archive.is_crawled:
                    return self._crawled_before()
                code, output = self._run_engine(lock)
        except ArchiveBusyError as error:
            return Result(Came.NOT_BEGUN, error=str(error), cause=BUSY)
        except OSError as error:
            return self._broken(error)
        return self._result(code, output, self._facts(output, began))

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

    def _require_root(self) -> None:
        """A root that has archives and is not there is not mounted: what lies below the mount is not ours."""
        root = self.settings.archives
        if self.archive.root_in_use and not root.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "not there, though it has archives; is it mounted?", str(root)
            )

    def _order(self) -> ToolOrder:
        archive, config = self.archive, self.archive.config
        return ToolOrder(
            tuple(map(str, config.get("seeds") or ())), archive.name, str(archive.folder),
            dict(config.get("tool_options") or {}), tuple(config.get("zimit_passthrough_args") or ()),
        )  # fmt: skip

    def _run_engine(self, lock: int) -> tuple[int, EngineOutput]:
        """Return the exit code, and the output, whose log is closed by then."""
        order, folder = self._order(), self.archive.folder
        plan = write_plan(order, self.archive.config.get("source"))
        with closing(EngineOutput(folder, self._on_progress)) as output:
            if self.archive.engine == "vitrine" and not self.settings.tool_cmd:
                code = self._run_own(order, plan, lock, output)
            else:
                code = self._run_tool(order, lock, output)
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "it went away", str(folder))
        return code, output

    def _run_own(self, order: ToolOrder, plan: Mapping[str, Any], lock: int, output: EngineOutput) -> int:
        """Run our own engine; a thread hears its events while this one hears its output."""
        ours, theirs = os.pipe()
        hearing = Thread(target=output.hear_events, args=(ours,), daemon=True)
        hearing.start()
        try:
            launch = launch_of(order, plan, self.archive.run_id, events=theirs, keep=(lock,))
            code = self._run_guarded(launch, lock, output)
        finally:
            os.close(theirs)  # the last end for writing: nothing more comes
            hearing.join(LAST_EVENTS_SECONDS)
        if order.option("relax_perms"):
            relax_permissions(self.archive.folder)
        output.stage = stage = stage_of(code, output.tail)
        return EXIT_OF[stage]

    def _run_tool(self, order: ToolOrder, lock: int, output: EngineOutput) -> int:
        """Run the archive tool, whose last line says what became of the archive."""
        archive = self.archive
        if sum(len(seed) + 1 for seed in order.seeds) > MAX_COMMAND_BYTES:
            path = archive.folder / SEEDS_FILE
            write_atomically(path, "\n".join(order.seeds).encode())
            order = evolve(order, seeds_file=str(path))
        environment = {
            **os.environ, "VITRINE_ENGINE": archive.engine, "VITRINE_EPOCH": str(archive.epoch),
            "VITRINE_JOB": "" if archive.job_id is None else str(archive.job_id),
        }  # fmt: skip
        command = [*tool_command(self.settings), *arguments_of(order)]
        launch = Launch(command, environment, keep=(lock,), grace=GRACE_SECONDS)
        return self._run_guarded(launch, lock, output)

    def _run_guarded(self, launch: Launch, lock: int, output: EngineOutput) -> int:
        guarded = self._guarded = Guarded(launch)
        try:
            note_guard(lock, guarded.pid)
            for _ in range(min(self._asked, 2)):
                guarded.stop()  # it was asked for before there was anything to stop
            for raw in guarded.lines():
                output.hear(raw)
            return guarded.wait() or 0
        finally:
            guarded.close()  # where anything was raised, its guard ends it
            guarded.wait()
            self._guarded = None

    def _crawled_before(self) -> Result:
        """Count the files of a run that was completed by a worker that could not say so any more."""
        folder = self.archive.folder
        newest = next(logs_in(folder), None)
        facts = {**asdict(sizes_of(folder)), "storage_scanned_at": utc_now()}
        facts["combined_log_path"] = str(newest) if newest else None
        return Result(Came.SUCCESS, ToolExit.DONE, Stage.COMPLETED, facts=facts)

    def _facts(self, output: EngineOutput, began: float) -> dict[str, Any]:
        """What the job's row is to know; best effort, it never changes what came of the crawl."""
        folder = self.archive.folder
        facts: dict[str, Any] = {"combined_log_path": str(output.log.path)}
        with suppress(OSError):
            last = output.last
            if last is None and (found := last_statistics(folder, began - 1)):
                last, facts["combined_log_path"] = found[1], str(found[0])
            if last is not None:
                facts |= columns_of(last)
            facts["state_file_path"] = state_path(folder)
            facts |= asdict(sizes_of(folder))
            facts["storage_scanned_at"] = utc_now()
            facts["final_zim_path"] = output.zim
        return facts

    def _result(self, code: int, output: EngineOutput, facts: dict[str, Any]) -> Result:
        stage, last = output.stage, output.last
        if code == ToolExit.DONE and not (last and last.failed and not last.crawled):
            return Result(Came.SUCCESS, code, stage or "completed", facts=facts)
        if self.too_long:
            error = f"it took longer than {self.settings.job_max_seconds} s (JOB_MAX_SECONDS)"
            return Result(Came.FAILED, code, stage, error, TOO_LONG, facts)
        if self._asked:
            return Result(Came.INTERRUPTED, code, stage, "its worker was told to stop", facts=facts)
        nothing = f"not one of {last.total} pages was captured; " if last and not last.crawled else ""
        error = output.reason() or f"{nothing}the engine exited with {code}, and its log says more"
        if code == ToolExit.USAGE:
            return Result(Came.USAGE, code, stage, error, USAGE, facts)
        if code == ToolExit.INFRASTRUCTURE or output.names_broken_disk():
            return Result(Came.INFRASTRUCTURE, code, stage, error, INFRASTRUCTURE, facts)
        cause = STALLED if stage == Stage.STALLED else CRAWL_FAILED
        return Result(Came.FAILED, code, stage, error, cause, facts)

    def _broken(self, error: OSError) -> Result:
        """A folder that cannot be written, a mount that is stale: nothing that the crawl did."""
        told = f"{error.filename or self.archive.folder}: {error.strerror}"
        log.warning("job.broken", job=self.archive.job_id, error=told, known=is_infrastructure(error))
        return Result(Came.INFRASTRUCTURE, error=told, cause=INFRASTRUCTURE)


def tool_command(settings: Settings) -> list[str]:
    """Return how the archive tool is called."""
    return shlex.split(settings.tool_cmd) or [sys.executable, "-P", "-m", "crawler.engines"]
