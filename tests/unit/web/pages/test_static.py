"""Static files: kept for as long as they are the same, and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


def test_static_files_are_kept_for_as_long_as_they_are_the_same(served: Served) -> None:
    """Under their digest; nothing else of the package can be had."""
    [address] = re.findall(r'href="(/static/vitrine.css[^"]*)"', served.get("/").text)
    answer = served.get(address)
    assert "immutable" in answer.headers["cache-control"]
    again = served.get(address, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for other in ("nothing.css", "..%2fapp.py", "base.html", "%2e%2e"):
        assert served.get(f"/static/{other}").status_code == 404
