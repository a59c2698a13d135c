"""The archive tool: runs zimit in one folder, and starts it otherwise when it stands still.

`python -m crawler.engines` or `vitrine-archive-tool`. Its exit codes: 0 done, 1 failed, 2 wrong arguments,
75 something that it stands on is broken, 130 interrupted.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.clock import utc_now
from crawler.engines.engine import (
    EXIT_OF,
    InfrastructureError,
    Stage,
    ToolExit,
    is_infrastructure,
    newest_zim,
)
from crawler.engines.flags import OptionError, help_text, order_of
from crawler.engines.leftovers import Leftovers
from crawler.engines.monitor import Monitor
from crawler.engines.process import Guarded, Launch
from crawler.engines.state import STATE_FILE, ArchiveState, relax_permissions, temp_folders, warc_files
from crawler.engines.statistics import end_line, statistics_of
from crawler.engines.strategy import Adaptation, answer_to
from crawler.engines.zimit_engine import RESUME_FILE, ZimitEngine
from crawler.errors import CrawlerError, UsageError
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawler.engines.flags import ToolOrder
    from crawler.engines.strategy import Answer, Trouble

ENGINE_VARIABLE = "VITRINE_ENGINE"
LOOK_SECONDS = 0.2
STOP_SECONDS = 30.0  # from asking an engine that stands still to ending it
VPN_SECONDS = 120.0
TAIL_LINES = 200
MAX_STARTS = 100  # of the engine, however much each start brings
MAX_SEEDS_BYTES = 128 * 1024 * 1024
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    """Run the command line, and exit as it came to."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """The exit code of a command line."""
    if {"-h", "--help"} & set(arguments[: list(arguments).index("--")] if "--" in arguments else arguments):
        sys.stdout.write(help_text())
        return ToolExit.DONE
    try:
        order = order_of(arguments, _seeds_of)
        require_zimit()
        tool = Tool(order)
    except CrawlerError as error:
        _tell_error(error)
        return error.exit_code
    except OSError as error:
        return _os_error(error)
    return tool.run()


def require_zimit() -> None:
    """Refuse any other engine that the environment asks for."""
    name = os.environ.get(ENGINE_VARIABLE) or "zimit"
    if name != "zimit":
        hint = "workers start the engine vitrine themselves, where TOOL_CMD is empty"
        raise OptionError(f"{ENGINE_VARIABLE} is {name!r}; this tool runs zimit", hint=hint)


@frozen
class _Ended:
    """What one start of the engine came to."""

    code: int
    trouble: Trouble | None
    monitor: Monitor
    tail: tuple[str, ...]


class Output:
    """Standard output, where several threads write whole lines; `unheard` is told when nobody listens."""

    def __init__(self, unheard: Callable[[], object]) -> None:
        self._unheard = unheard
        self._writing = Lock()

    def note(self, text: str) -> None:
        """A line of our own."""
        self.say(f"{utc_now().isoformat()} {text}")

    def say(self, line: str) -> None:
        """A line as it is."""
        with self._writing:
            try:
                sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
                sys.stdout.buffer.flush()
            except (OSError, ValueError):
                self._unheard()


class Tool:
    """Starts the engine, and starts it otherwise when it stands still."""

    def __init__(self, order: ToolOrder) -> None:
        self.folder = Path(order.output_dir).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.order = order
        self.engine = ZimitEngine(order, self.folder)
        self.state = ArchiveState.load(self.folder)
        self.stopping = Event()
        self._leftovers = Leftovers(self.folder)
        self._running: Guarded | None = None
        self._parent = os.getppid()
        self._out = Output(self.stopping.set)  # who does not listen is gone
        self._engine_exit: int | None = None

    def run(self) -> int:
        """Archive; the last line says what came of it."""
        for number in ENDING:
            signal.signal(number, self._interrupted)
        try:
            stage = self._archive()
        except InfrastructureError as error:
            _tell_error(error)
            stage = Stage.INFRASTRUCTURE
        except OSError as error:
            stage = Stage.INFRASTRUCTURE if _os_error(error) == ToolExit.INFRASTRUCTURE else Stage.FAILED
        zim = newest_zim(self.folder) if stage in {Stage.COMPLETED, Stage.PARTLY, Stage.LIMIT_HIT} else None
        details = {"stage": stage, "engine_exit": self._engine_exit, "zim": str(zim) if zim else None}
        self._out.say(end_line(details, at=utc_now().isoformat()))
        return EXIT_OF[stage]

    def _archive(self) -> Stage:
        prepared = begun_or_new(self.order, self.folder, self._out)
        if prepared is None:
            return Stage.EXISTS
        self.state = prepared
        self.engine.require()
        stage = self._crawl()
        if EXIT_OF[stage] is ToolExit.DONE:
            stage = self._finish(stage)
        if self.order.option("relax_perms"):
            relax_permissions(self.folder)
        return stage

    def _crawl(self) -> Stage:
        """Start the engine until it is through, or nothing helps any more."""
        for _ in range(MAX_STARTS):
            before = [path.name for path in temp_folders(self.folder)]
            ended = self._attempt()
            if ended.trouble is not None and not ended.monitor.progressed:
                self._leftovers.remove_repeats(before, self._out.note)
            self.state.note_folders(self.folder)
            self.state.save(self.folder)
            if self.stopping.is_set():
                return Stage.INTERRUPTED
            if ended.trouble is None:
                return self.engine.came_to(ended.code, ended.tail)
            answer = answer_to(self.order, self._adaptation, time.time(), progressed=ended.monitor.progressed)
            self.state.adaptation = answer.after
            self.state.save(self.folder)
            self._out.note(f"{ended.trouble}: {answer.what}")
            if answer.gives_up:
                return Stage.STALLED
            if not self._rest(answer):
                return Stage.INTERRUPTED
        self._out.note(f"gives up: the engine was started {MAX_STARTS} times")
        return Stage.STALLED

    def _finish(self, stage: Stage) -> Stage:
        """Build what is built of the whole, and tidy up where that is wanted."""
        last = self.engine.final_zim()
        if last is not None:
            code, _ = self._run_to_end(last)
            if code:
                return Stage.INTERRUPTED if self.stopping.is_set() else Stage.FAILED
        if self.order.option("cleanup"):
            for folder in temp_folders(self.folder):
                shutil.rmtree(folder)
            (self.folder / STATE_FILE).unlink(missing_ok=True)
        return stage

    @property
    def _adaptation(self) -> Adaptation:
        return self.state.adaptation or Adaptation(self.order.option("initial_workers"))

    def _attempt(self) -> _Ended:
        self.state.stages += 1
        self.state.save(self.folder)
        launch = self.engine.launch(self.state.stages, self._adaptation.workers)
        monitor = Monitor(self.order, time.monotonic, self.state.crawled)
        tail = deque[str](maxlen=TAIL_LINES)
        guarded = self._running = Guarded(launch)
        if self.stopping.is_set():
            guarded.stop()
        hearing = self._listen(guarded.lines(), monitor, tail)
        trouble = self._watch(guarded, monitor)
        code = guarded.wait() or 0
        hearing.join(STOP_SECONDS)
        guarded.close()
        self._running, self._engine_exit = None, code
        return _Ended(code, trouble, monitor, tuple(tail))

    def _watch(self, guarded: Guarded, monitor: Monitor) -> Trouble | None:
        """Look after it until its end; what is wrong with it ends it."""
        look = min(LOOK_SECONDS, monitor.interval_seconds)
        next_look = time.monotonic() + monitor.interval_seconds
        while guarded.wait(look) is None:
            self._leave_with_parent()
            if time.monotonic() < next_look or self.stopping.is_set():
                continue
            next_look = time.monotonic() + monitor.interval_seconds
            if (trouble := monitor.trouble()) is not None:
                self._out.note(f"{trouble}: the engine is stopped")
                guarded.stop()
                if guarded.wait(STOP_SECONDS) is None:
                    guarded.stop()
                guarded.wait()
                return trouble
        return None

    def _listen(self, lines: Iterable[bytes], monitor: Monitor, tail: deque[str]) -> Thread:
        def listen() -> None:
            for raw in lines:
                line = raw.decode("utf-8", "replace")
                monitor.hear(line)
                tail.append(line[:2000])
                self._out.say(line)
                self._note_progress(line)

        thread = Thread(target=listen, daemon=True)
        thread.start()
        return thread

    def _note_progress(self, line: str) -> None:
        """Remember how far the crawl is, for whoever goes on after a crash."""
        said = statistics_of(line)
        if said is not None and said.crawled > self.state.crawled:
            self.state.crawled = said.crawled
            # Whoever listens has to go on, or the engine would wait for ever to be heard.
            with suppress(OSError):
                self.state.save(self.folder)

    def _rest(self, answer: Answer) -> bool:
        """Do what the answer says; False where somebody wants us to end meanwhile."""
        if answer.rotate:
            command = shlex.split(self.order.option("vpn_connect_command"))
            code, said = self._run_to_end(Launch(command, grace=5.0), VPN_SECONDS)
            self._out.note(f"the way out was changed, exit {code}: {redacted(' '.join(said))[:2000]}")
        until = time.monotonic() + answer.rest_seconds
        while time.monotonic() < until and not self.stopping.wait(
            min(LOOK_SECONDS, until - time.monotonic())
        ):
            self._leave_with_parent()
        return not self.stopping.is_set()

    def _run_to_end(self, launch: Launch, seconds: float | None = None) -> tuple[int, list[str]]:
        said: list[str] = []
        guarded = self._running = Guarded(launch)

        def listen() -> None:
            for raw in guarded.lines():
                if len(said) < TAIL_LINES:
                    said.append(raw.decode("utf-8", "replace"))

        thread = Thread(target=listen, daemon=True)
        thread.start()
        code = guarded.wait(seconds)
        while code is None:
            guarded.stop()
            code = guarded.wait(launch.grace)
        thread.join(STOP_SECONDS)
        guarded.close()
        self._running = None
        return code, said

    def _interrupted(self, _number: int, _frame: Any) -> None:
        self.stopping.set()
        if self._running is not None:
            self._running.stop()

    def _leave_with_parent(self) -> None:
        """Whoever asked for the archive is gone: so is what they asked for."""
        if os.getppid() != self._parent and not self.stopping.is_set():
            self._interrupted(0, None)


def begun_or_new(order: ToolOrder, folder: Path, out: Output) -> ArchiveState | None:
    """Whether an archive begins anew or goes on; None where it is done already."""
    zim, state = folder / f"{order.name}.zim", ArchiveState.load(folder)
    if zim.exists() and not order.option("overwrite"):
        out.note(f"{zim} is there already; --overwrite makes it anew")
        return None
    if zim.exists():
        zim.unlink()
        (folder / RESUME_FILE).unlink(missing_ok=True)
        state = ArchiveState()
    begun = state.stages or any(warc_files(folder))
    if not begun or state.adaptation is None:
        state.adaptation = Adaptation(order.option("initial_workers"))
    how = "goes on with" if begun else "begins"
    out.note(f"{how} {order.name} with {state.adaptation.workers} workers")
    return state


def _seeds_of(path: str) -> list[str]:
    with Path(path).open("rb") as file:
        data = file.read(MAX_SEEDS_BYTES)
    return [line for line in data.decode("utf-8", "replace").split("\n") if line.strip()]


def _os_error(error: OSError) -> int:
    kind = (
        InfrastructureError if is_infrastructure(error) or isinstance(error, PermissionError) else UsageError
    )
    _tell_error(kind(f"{error.filename or ''} {error.strerror}".strip()))
    return kind.exit_code


def _tell_error(error: CrawlerError) -> None:
    sys.stdout.write(
        redacted(f"error[{error.code}]: {error}\n") + (f"hint: {error.hint}\n" if error.hint else "")
    )
    sys.stdout.flush()
