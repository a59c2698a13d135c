"""Context of any kind as JSON that a database takes: cut, without passwords. Never raises. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define

from crawler.logs import redacted

MAX_VALUES = 100
MAX_VALUE_CHARS = 500
MAX_DEPTH = 4
MAX_NUMBER = 2**63


def as_context(given: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `given`; what is too much is left out, what is no JSON is written as text."""
    copied: dict[str, Any] = _Copy().of(given, 0)
    return copied


def as_text(value: str, limit: int) -> str:
    """A text as every database takes it, without passwords, of at most `limit` characters."""
    # Twice as much is looked at, so that no password loses its end, and with it its mark, to the cut.
    speakable = value[: limit * 2].replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return redacted(speakable)[:limit]


@define
class _Copy:
    """One copy being made, and how many values still have a place in it."""

    left: int = MAX_VALUES

    def of(self, value: object, depth: int) -> Any:
        self.left -= 1
        if value is None or isinstance(value, bool) or _is_plain_number(value):
            return value
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            return {_shown(name): self.of(inner, depth + 1) for name, inner in value.items() if self.left > 0}
        if isinstance(value, list | tuple | set | frozenset) and depth < MAX_DEPTH:
            return [self.of(inner, depth + 1) for inner in value if self.left > 0]
        return _shown(value)


def _is_plain_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < MAX_NUMBER  # NaN is not


def _shown(value: object) -> str:
    try:
        text = str(value)
    except Exception:  # ruff: ignore[blind-except] - a stranger's object may not know what it is
        text = type(value).__name__
    return as_text(text, MAX_VALUE_CHARS)
