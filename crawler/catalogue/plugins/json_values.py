"""Values that both databases can keep as JSON, copied and bounded; and one spelling for each. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define

MAX_BYTES = 256 * 1024
MAX_VALUES = 20_000
MAX_DEPTH = 20
MAX_NUMBER = 2**63


class BadValueError(ValueError):
    """That cannot be kept."""


def plain(value: object) -> Any:
    """A copy of `value` in dicts, lists, texts and numbers; BadValueError says what cannot be kept."""
    copied = _Copy().of(value, 0)
    if len(canonical_json(copied)) > MAX_BYTES:
        raise BadValueError(f"it has more than {MAX_BYTES} bytes as JSON")
    return copied


def canonical_json(value: object) -> bytes:
    """The one spelling of a plain value: keys in order, no blanks."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def speakable(value: str) -> str:
    """A plain text that every database takes."""
    if "\x00" in value:
        raise BadValueError("a text has a NUL character")
    try:
        return value.encode().decode()  # of an enum's member its value
    except UnicodeEncodeError:
        raise BadValueError("a text has half of a surrogate pair") from None


@define
class _Copy:
    """One copy being made, and how much of it is still allowed."""

    left: int = MAX_VALUES

    def of(self, value: object, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            raise BadValueError(f"it has more than {MAX_VALUES} values, or is nested {MAX_DEPTH} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return speakable(value)
        if isinstance(value, int | float):
            return _number(value)
        if isinstance(value, Mapping):
            return {_name(name): self.of(inner, depth + 1) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(inner, depth + 1) for inner in value]
        raise BadValueError(f"{type(value).__name__} is not JSON")


def _number(value: float) -> float:
    if not abs(value) < MAX_NUMBER:  # NaN is not, either
        raise BadValueError("a number is NaN, infinite or of more than 64 bits; write it as text")
    return int(value) if isinstance(value, int) else float(value)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise BadValueError("a name in an object is no text")
    return speakable(name)
