"""What is true of short texts, remembered: the pages of a shop share most of their words and names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_KNOWN = 50_000
MAX_CHARS = 40  # longer ones are seldom seen again


class Memo:
    """A question about a text, and the texts of which the answer is known."""

    def __init__(self, asks: Callable[[str], bool]) -> None:
        self._asks = asks
        self._true: set[str] = set()
        self._false: set[str] = set()

    def among(self, texts: Iterable[str]) -> set[str]:
        """Those of the texts of which it is true."""
        given = set(texts)
        new = given - self._false
        found = new & self._true
        new -= self._true
        if len(self._true) + len(self._false) > MAX_KNOWN:
            self._true.clear()
            self._false.clear()
        for text in new:
            is_true = self._asks(text)
            if is_true:
                found.add(text)
            if len(text) <= MAX_CHARS:
                (self._true if is_true else self._false).add(text)
        return found
