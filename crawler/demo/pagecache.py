"""Finished pages, kept up to a number of bytes; the least recently asked for goes first."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crawler.demo.wire import Reply


class PageCache:
    """Answers by key, together never larger than the budget."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._bytes = 0
        self._kept: OrderedDict[Hashable, Reply] = OrderedDict()

    def get(self, key: Hashable) -> Reply | None:
        """The answer under `key`, if it is still here."""
        reply = self._kept.get(key)
        if reply is not None:
            self._kept.move_to_end(key)
        return reply

    def put(self, key: Hashable, reply: Reply) -> None:
        """Keep `reply`, and let go of what no longer fits."""
        self._kept[key] = reply
        self._bytes += len(reply.body)
        while self._bytes > self._budget:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.body)
