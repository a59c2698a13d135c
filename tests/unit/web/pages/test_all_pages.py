"""All pages: they answer, load nothing from elsewhere, and take nothing for markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


HOSTILE = "</title><script>alert(1)</script>=cmd() \u202e{{ 7*7 }}"


PUBLIC = ("/", "/search", "/search?q=beech", "/sites", "/sites/shop.example", "/snapshots/1", "/-/",
          "/-/patterns", "/-/keyboard", "/admin/login")  # fmt: skip


def test_pages_answer_with_and_without_anything(served: Served, filled: Served) -> None:
    """An empty installation has pages, too."""
    for path in PUBLIC:
        response = filled.get(path, headers={"Accept": "text/html"})
        assert (path, response.status_code) == (path, 200)
        assert response.text.count("<h1") == 1


def test_nothing_that_was_captured_is_markup(filled: Served) -> None:
    """Titles, URLs and queries are text, and no template."""
    for path in ("/search?q=beech", "/sites/shop.example", f"/search?q={HOSTILE}"):
        assert "<script>alert" not in filled.get(path).text
    shown = filled.get("/snapshots/1").text + filled.get("/snapshots/2").text
    assert "<script>alert" not in shown
    assert "{{ 7*7 }}" in shown


def test_pages_load_nothing_from_elsewhere(filled: Served) -> None:
    """What a browser would fetch is served here, and there is no script or style in the page itself."""
    for path in PUBLIC:
        text = filled.get(path).text
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]*)"', text)
        assert fetched
        assert all(address.startswith("/static/") for address in fetched)
        assert not re.search(r"<style|style=|\son\w+=|javascript:", text)
        assert len(text) < 60_000
