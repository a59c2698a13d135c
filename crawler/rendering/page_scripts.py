"""The scripts that run in pages, as texts."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def script(name: str) -> str:
    """The function in a file of `crawler/rendering/scripts`, without the lines that explain it."""
    text = resources.files("crawler.rendering.scripts").joinpath(f"{name}.js").read_text(encoding="utf-8")
    lines = text.splitlines()
    while lines and lines[0].startswith("//"):
        del lines[0]
    return "\n".join(lines)
