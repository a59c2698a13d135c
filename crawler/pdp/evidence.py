"""Where a signal or a fact was found."""

from __future__ import annotations

from attrs import frozen

MAX_SNIPPET = 120


@frozen
class Evidence:
    """A selector or a JSON path, and the text that stands there."""

    where: str
    text: str


def evidence(where: str, text: str) -> Evidence:
    """Evidence with its text cut to a snippet on one line."""
    return Evidence(where, " ".join(text[: MAX_SNIPPET * 4].split())[:MAX_SNIPPET])
