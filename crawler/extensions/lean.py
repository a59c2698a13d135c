"""Leaves undone what costs every page and is of no use to anybody."""

from __future__ import annotations

import gc
import logging

from scrapy import signals

from crawler.crawl.context import Component

YOUNG = 5_000  # objects, before the garbage collector looks for circles among them
TALKERS = ("scrapy", "crawler")


class Lean(Component):
    """No search for garbage in what was loaded, no lines below the level of every handler.

    Scrapy has its lines made whatever LOG_LEVEL is, and dropped by its handler: two for each page.
    """

    def set_up(self) -> None:
        """Note how the process was, and hear when all is loaded."""
        self._collected_after = gc.get_threshold()
        self._levels = {name: logging.getLogger(name).level for name in TALKERS}
        self.crawler.signals.connect(self.engine_started, signal=signals.engine_started)
        self.crawler.signals.connect(self.engine_stopped, signal=signals.engine_stopped)

    def engine_started(self) -> None:
        """All is loaded by now."""
        gc.freeze()
        gc.set_threshold(YOUNG)
        least = min((handler.level for handler in logging.root.handlers), default=logging.NOTSET)
        for name in TALKERS:
            logging.getLogger(name).setLevel(max(least, logging.DEBUG))

    def engine_stopped(self) -> None:
        """Leave the process as it was: it may crawl again."""
        gc.set_threshold(*self._collected_after)
        gc.unfreeze()
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
