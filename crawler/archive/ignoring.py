"""What of a source's pages is no part of their texts, as its file says now: neither compared nor found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.html.content import Ignored
from crawler.runs.sources import bundled_sources, load_sources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def ignored_by_source(path: Path) -> Mapping[str, Ignored]:
    """By the source's code, in lower case; the operator's file wins over what comes along."""
    own = load_sources(path) if path.exists() else {}
    return {
        code.lower(): Ignored(source.ignore_selectors, source.ignore_text)
        for code, source in {**bundled_sources(), **own}.items()
        if source.ignore_selectors or source.ignore_text
    }
