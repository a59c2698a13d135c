"""Runs a source's plugins for a page: Vitrine's own here, those of other packages in a process of their own.

A plugin of somebody else's may loop or hang in a library, where no thread can be stopped. Its process can be
killed: then its page goes without its assets, and the next page gets a new process.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import pickle  # ruff: ignore[suspicious-pickle-import] - only written here, and read by our own child
from typing import TYPE_CHECKING, Any

from crawler import logs
from crawler.catalogue.plugins.api import AssetRecord, PluginFailure
from crawler.catalogue.plugins.built_in import BUILT_IN
from crawler.catalogue.plugins.registry import installed, run_plugins
from crawler.reading.process import NonsenseError, ReadingProcess

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.catalogue.plugins.api import AssetPlugin, PluginPage

    Outcome = tuple[list[tuple[str, AssetRecord]], list[PluginFailure]]

WORKER = "crawler.catalogue.plugins.worker"
LOAD_SECONDS = 60.0  # for the process to start and to load its plugins
_OURS = {plugin.name for plugin in BUILT_IN}

log = logs.get_logger(__name__)


class PluginRunner:
    """The plugins of a run's source, and the process in which those of other packages run."""

    def __init__(self, names: Iterable[str], limit_seconds: float) -> None:
        """Raise ConfigError where there is no plugin of such a name."""
        self._plugins = installed(names)
        self._limit = limit_seconds
        self._turn = asyncio.Lock()  # so that the time of a page begins when its plugin does
        self._process: ReadingProcess | None = None
        atexit.register(self._kill)

    async def run(self, page: PluginPage) -> Outcome:
        """Return what each plugin found, by its name, and what went wrong."""
        found: list[tuple[str, AssetRecord]] = []
        failures: list[PluginFailure] = []
        for plugin in self._plugins:
            is_ours = plugin.name in _OURS
            records, wrong = run_plugins([plugin], page) if is_ours else await self._run_beside(plugin, page)
            found += records
            failures += wrong
        return found, failures

    async def close(self) -> None:
        """End the process."""
        atexit.unregister(self._kill)
        if self._process is not None:
            await self._process.close()

    def _kill(self) -> None:
        """Kill the process of a crawl that was ended before it could close."""
        if self._process is not None:
            self._process.kill()

    async def _run_beside(self, plugin: AssetPlugin, page: PluginPage) -> Outcome:
        try:
            async with self._turn:
                answer = await self._ask((plugin.name, page, self._limit))
            found, failures = _outcome_in(plugin.name, answer)
        except TimeoutError:
            found, failures = [], [PluginFailure(plugin.name, _slow(plugin.name, self._limit))]
        except (EOFError, OSError, NonsenseError):
            found, failures = [], [PluginFailure(plugin.name, f"the plugin {plugin.name} ended its process")]
        for each in failures:
            event = "plugin.bad_record" if "records" in each.context else "plugin.failed"
            log.warning(event, plugin=each.plugin, url=page.url, error=each.message, **each.context)
            if each.trace:
                log.debug("plugin.traceback", plugin=each.plugin, lines=each.trace)
        return found, failures

    async def _ask(self, question: tuple[str, PluginPage, float]) -> bytes:
        process = self._process
        if process is None or not process.lives:
            process = self._process = ReadingProcess(LOAD_SECONDS, module=WORKER)
            names = [each.name for each in self._plugins if each.name not in _OURS]
            await self._answer(process, names)
            process.limit_seconds = self._limit
        return await self._answer(process, question)

    @staticmethod
    async def _answer(process: ReadingProcess, question: object) -> bytes:
        try:
            return await process.ask(pickle.dumps(question, pickle.HIGHEST_PROTOCOL))
        except (TimeoutError, EOFError, OSError, NonsenseError) as error:
            process.end(error)
            raise


def _slow(name: str, limit: float) -> str:
    return f"the plugin {name} took longer than {limit:g} second{'' if limit == 1 else 's'}, and was ended"


def _outcome_in(name: str, answer: bytes) -> Outcome:
    """Read what a plugin's process answered; it may be anybody's by now."""
    try:
        said: dict[str, Any] = json.loads(answer)
        found = [(name, AssetRecord(**each)) for each in said["found"]]
        return found, [PluginFailure(name, **each) for each in said["failures"]]
    except (ValueError, TypeError, KeyError) as error:
        raise NonsenseError(str(error)) from error
