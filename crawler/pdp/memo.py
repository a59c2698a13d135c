"""What is true of short texts, remembered: the pages of a shop share most of their words and names."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MAX_KNOWN = 20_000
MAX_CHARS = 200  # longer ones are seldom seen again

Answer = TypeVar("Answer")


class Memo(Generic[Answer]):
    """A question that is asked of many texts at once, and the texts of which the answer is known."""

    def __init__(self, ask: Callable[[list[str]], Mapping[str, Answer]]) -> None:
        self._ask = ask  # gives the answers of those that have one
        self._known: _Known[Answer] = _Known()
        self._known[None] = None

    def each(self, texts: Sequence[str | None]) -> list[Answer | None]:
        """The answer of each of the texts, in their order; None of one that has none."""
        known = self._known
        found = list(map(known.__getitem__, texts))
        if not known.missed:
            return found
        new = self._learned()
        return list(starmap(new.get, zip(texts, found, strict=True)))

    def among(self, texts: Iterable[str]) -> dict[str, Answer]:
        """Those of the texts that have an answer, with it."""
        different = list(set(texts))
        answers = zip(different, self.each(different), strict=True)
        return {text: answer for text, answer in answers if answer is not None}

    def _learned(self) -> dict[str | None, Answer]:
        """The answers of what was not known; the short ones are known from now on."""
        known, new = self._known, set(self._known.missed)
        known.missed.clear()
        answers: dict[str | None, Answer] = dict(self._ask(list(new)).items())
        if len(known) > MAX_KNOWN:
            known.clear()
            known[None] = None
        known.update((text, answers.get(text)) for text in new if len(text) <= MAX_CHARS)
        return answers


class _Known(dict[str | None, Answer | None]):  # ruff: ignore[subclass-builtin] - C asks it for what is missing
    """The answers by text; it notes what it was asked for in vain."""

    def __init__(self) -> None:
        super().__init__()
        self.missed: list[str] = []

    def __missing__(self, text: str | None) -> None:
        self.missed.append(text or "")
