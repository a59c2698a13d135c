"""Lists in statements, in few lengths: a driver keeps each statement that differs, with all its places."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection

T = TypeVar("T")


def evened(values: Collection[T]) -> list[T]:
    """The values of an `IN`, the last one repeated until there are a power of two of them."""
    every = list(values)
    if every:
        every += every[-1:] * ((1 << (len(every) - 1).bit_length()) - len(every))
    return every
