"""Finds which of many short texts hold one of some words, searching them all as one text."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable


@frozen
class Haystack:
    """Many short texts in lower case as one, in bytes: which is many times faster to search."""

    joined: bytes
    starts: tuple[int, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Haystack:
        """Join texts that hold no line breaks."""
        joined = "\n".join(texts).lower().encode("utf-8", errors="replace")
        return cls(joined, tuple(accumulate((len(line) + 1 for line in joined.split(b"\n")), initial=0)))

    def places(self, words: Iterable[str]) -> list[int]:
        """The numbers of the texts in which one of the words stands, in order."""
        found: set[int] = set()
        for word in words:
            needle = word.encode()
            at = self.joined.find(needle)
            while at >= 0:
                place = bisect_right(self.starts, at) - 1
                found.add(place)
                at = self.joined.find(needle, self.starts[place + 1])
        return sorted(found)
