"""Refusals and failures: a page for people, a document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


def test_errors_are_pages_for_browsers(served: Served) -> None:
    """And documents for programs."""
    page = served.get("/snapshots/999", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "<h1>Not Found</h1>" in page.text
    assert served.get("/snapshots/999").json()["code"] == "not_found"
