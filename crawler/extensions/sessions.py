"""Tells how a crawl's sessions go to whoever started it, and ends what the crawl leaves open."""

from __future__ import annotations

import atexit
import json
import os
from collections import Counter
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawler import logs
from crawler.capture.failures import Summary
from crawler.crawl.answers import REFUSED
from crawler.crawl.closing import ends_its_visits
from crawler.crawl.context import Component, refusals
from crawler.errors import ExitCode
from crawler.sessions.outcome import Status, exit_code_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

TOLD = {"queued", "started", "ended", "refused"}
INTERRUPTED, START_ERROR = "shutdown", "start_error"  # Scrapy's reasons for an end
EXIT_CODE = "vitrine/exit_code"  # of Scrapy's statistics
FINISHED = "finished"
# Any other is one that the spider, or a limit that its user has set, closes it for.
OTHERS_REASONS = {FINISHED, INTERRUPTED, START_ERROR, "memusage_exceeded"}
LAST_WORDS_SECONDS = 30.0  # how long a crawl that is over waits for being heard

log = logs.get_logger(__name__)


class ProgressPipe:
    """Lines for whoever started the crawl; who is stopped, and reads none, holds nothing up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer = Thread(target=self._write, name="progress", daemon=True)
        self._writer.start()
        atexit.register(self.close)

    def tell(self, line: bytes) -> None:
        """Have it written in its turn; never blocks."""
        if self._writer.is_alive():  # else nobody listens any more
            self._lines.put(line)

    def close(self) -> None:
        """Wait until what was told is written, or for a while."""
        atexit.unregister(self.close)
        self._lines.put(None)
        self._writer.join(LAST_WORDS_SECONDS)

    def _write(self) -> None:
        with suppress(OSError):  # nobody listens any more; the crawl goes on
            while (line := self._lines.get()) is not None:
                os.write(self._descriptor, line)


def exit_code_of_crawl(crawler: Crawler) -> int:
    """Return what a command exits with that has run the crawl, or has tried to."""
    if crawler in refusals:
        return refusals[crawler]
    try:
        sessions = crawler.get_extension(Sessions)
    except RuntimeError:  # it broke before its extensions were made
        sessions = None
    return ExitCode.FAILED if sessions is None else sessions.exit_code()


class Sessions(Component):
    """PROGRESS_FD names an open pipe; each event goes into it as one line of JSON."""

    def set_up(self) -> None:
        """Listen to the visits, and to how the crawl goes."""
        descriptor = self.crawler.settings.getint("PROGRESS_FD", -1)
        self.pipe = ProgressPipe(descriptor) if descriptor >= 0 else None
        self.refusal: dict[str, str] = {}  # why nothing was run
        self._ends: Counter[Status] = Counter()
        self._is_locked = False  # one of them did not get its domain
        self._known: int | None = None  # the exit code, where sessions have no part in it
        self._reason = INTERRUPTED  # why the crawl ended, as Scrapy says it
        self.visits.listeners.append(self.heard)
        self.crawler.signals.connect(self.engine_started, signal=signals.engine_started)
        self.crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    def engine_started(self) -> None:
        """Say which manners are off."""
        if not self.crawler.settings.getbool("ROBOTSTXT_OBEY"):
            note = "ROBOTSTXT_OBEY is off: what sites forbid is fetched"
            log.warning("robots.ignored", note=note)
            self.visits.tell("warned", note=note)  # `vitrine crawl` does not show what is logged
        if self.crawler.settings.getbool("HTTPCACHE_ENABLED"):
            log.warning("cache.used", note="HTTPCACHE_ENABLED: pages out of the cache are not kept")

    def heard(self, event: str, **fields: Any) -> None:
        """Called by the visits, in the event loop."""
        if event in TOLD:
            self.crawler.stats.inc_value(f"vitrine/sessions/{fields.get('status', event)}")
        self._note(event, fields)
        if self.pipe is not None:
            self.pipe.tell(json.dumps({"event": event, **fields}).encode() + b"\n")

    async def spider_closed(self, reason: str) -> None:
        """Called after the last page was stored; Scrapy waits for it."""
        self._reason = reason
        by_spider = self._known is None and reason not in OTHERS_REASONS and not ends_its_visits(self.crawler)
        if by_spider:
            for visit in self.visits.running.values():
                visit.end_with_spider(str(reason))
        try:
            await self.visits.close(completed=by_spider or reason == FINISHED)
        finally:
            await self.context.readers.close()
            self.crawler.stats.set_value(EXIT_CODE, int(self.exit_code()))

    def exit_code(self) -> int:
        """What came of the crawl, as `vitrine crawl` has it; 0 for one that asked for nothing.

        A worker of a fleet is meant to be stopped, and what its sessions come to is the fleet's business.
        """
        if self._known is not None and self._reason != INTERRUPTED:
            return self._known
        if self.context.settings.fleet:
            return ExitCode.DONE
        if self._reason == INTERRUPTED:
            return ExitCode.INTERRUPTED
        if self._ends:
            return exit_code_of(self._ends, is_locked=self._is_locked)
        wanted_more = self._reason == START_ERROR or self.crawler.stats.get_value(REFUSED, 0) > 0
        return ExitCode.FAILED if wanted_more else ExitCode.DONE

    def _note(self, event: str, fields: dict[str, Any]) -> None:
        """Remember what the exit code depends on."""
        if event == "queued":
            self._ends[Status.QUEUED] += len(fields["sessions"])
        elif event == "ended":
            self._ends[Status.QUEUED] -= 1
            self._ends[Status(fields["status"])] += 1
            self._is_locked |= fields["summary"] == Summary.LOCK_TIMEOUT
        elif event in {"run_ended", "cleanup_ended"}:
            self._known = fields["exit_code"]
        elif event == "refused":
            self._known = fields["exit_code"]
            self.refusal = {name: fields[name] for name in ("code", "error", "hint")}
