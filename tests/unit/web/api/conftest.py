"""An archive with three pages that can be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


HTML = "<html lang=en><title>A red chair</title><main><h1>A red chair</h1><p>Made of beech. {}</p></main>"


@pytest.fixture
def filled(served_on_both: Served) -> Served:
    """Three pages that can be found."""
    for number in range(3):
        keep(
            served_on_both.database, served_on_both.blobs, HTML.format(f"Number {number}. " * 20),
            f"https://shop.example/p/{number}",
        )  # fmt: skip
    index_pages(served_on_both.database, served_on_both.blobs)
    return served_on_both
