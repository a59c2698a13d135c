"""A shop with a chair, and a page whose title is an attack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


HOSTILE = "</title><script>alert(1)</script>=cmd() \u202e{{ 7*7 }}"


@pytest.fixture
def filled(served: Served) -> Served:
    """A shop with a chair, and a page whose title is an attack."""
    about = "<p>A chair of beech, made by hand.</p>" * 5
    keep(served.database, served.blobs, f"<title>A chair</title><main><h1>A chair</h1>{about}</main>")
    hostile = HOSTILE.replace("<", "&lt;")
    keep(
        served.database, served.blobs, f"<title>{hostile}</title><main><h1>x</h1>{about}</main>",
        "https://shop.example/p?a=<b>&x=1",
    )  # fmt: skip
    index_pages(served.database, served.blobs)
    return served
