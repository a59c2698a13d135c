"""What changed from one version of an asset to the next. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ABSENT = object()


@frozen
class Change:
    """A value that came, went, or became another; None is told apart from nothing by `kind`."""

    path: str  # names and positions, as `offers.0.price`
    kind: str  # added, removed or changed
    before: Any = None
    after: Any = None


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Each difference at the deepest place that shows it, in the order of the paths."""
    return sorted(_between("", before, after), key=lambda change: change.path)


def _between(path: str, before: Any, after: Any) -> Iterator[Change]:
    if before is ABSENT:
        yield Change(path, "added", after=after)
    elif after is ABSENT:
        yield Change(path, "removed", before=before)
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _inside(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _inside(path, dict(enumerate(before)), dict(enumerate(after)))
    elif before != after or type(before) is not type(after):
        yield Change(path, "changed", before, after)


def _inside(path: str, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[Change]:
    for name in {**before, **after}:
        inner = f"{path}.{name}" if path else str(name)
        yield from _between(inner, before.get(name, ABSENT), after.get(name, ABSENT))
