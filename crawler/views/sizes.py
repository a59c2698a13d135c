"""Numbers of bytes as people read them. Pure."""

from __future__ import annotations

from attrs import frozen


@frozen
class Units:
    """The names of units, from single bytes on, and the step from one to the next."""

    step: int
    names: tuple[str, ...]


DECIMAL = Units(1000, ("bytes", "KB", "MB", "GB", "TB"))  # on pages
BINARY = Units(1024, ("B", "KiB", "MiB", "GiB"))  # on a terminal


def size_text(count: float, units: Units) -> str:
    """Return a number of bytes in the largest unit of which there is one; the last unit has no limit."""
    whole, *larger = units.names
    text = f"{count:.0f}"
    for unit in larger:
        if float(text) < units.step:
            break
        count /= units.step
        text, whole = f"{count:.1f}", unit
    return f"{text} {whole}"
