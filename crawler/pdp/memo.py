"""What is true of short texts, remembered: the pages of a shop share most of their words and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAX_KNOWN = 50_000
MAX_CHARS = 80  # longer ones are seldom seen again

Answer = TypeVar("Answer")


class Memo(Generic[Answer]):
    """A question that is asked of many texts at once, and the texts of which the answer is known."""

    def __init__(self, ask: Callable[[list[str]], Mapping[str, Answer]]) -> None:
        self._ask = ask  # gives the answers of those that have one
        self._answers: dict[str, Answer] = {}
        self._without: set[str] = set()

    def among(self, texts: Iterable[str]) -> dict[str, Answer]:
        """Those of the texts that have an answer, with it."""
        open_ones = set(texts) - self._without
        known = open_ones & self._answers.keys()
        found = {text: self._answers[text] for text in known}
        new = open_ones - known
        if new:
            answers = self._ask(list(new))
            found.update(answers)
            self._keep(new, answers)
        return found

    def _keep(self, texts: set[str], answers: Mapping[str, Answer]) -> None:
        if len(self._answers) + len(self._without) > MAX_KNOWN:
            self._answers.clear()
            self._without.clear()
        short = {text for text in texts if len(text) <= MAX_CHARS}
        self._answers.update((text, answers[text]) for text in short & answers.keys())
        self._without |= short - answers.keys()
