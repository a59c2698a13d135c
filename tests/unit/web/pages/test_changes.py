"""What changed, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.archive.captured import SHOP

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


PEOPLE = {"Accept": "text/html"}


def test_pages(shop: Served) -> None:
    """The feed by days, and a diff that says what it compares; as JSON, too."""
    page = shop.get("/changes", headers=PEOPLE).text
    assert "Saturday, 02 May 2026" in page
    assert 'href="/diff/1/2"' in page
    assert "application/atom+xml" in page
    narrow = shop.get("/changes?from=2027-01-01&source=shop.example", headers=PEOPLE).text
    assert "Nothing changed" in narrow
    assert shop.get("/changes?from=soon&source=nowhere&page=x", headers=PEOPLE).status_code == 200
    diff = shop.get("/diff/1/2", headers=PEOPLE).text
    assert '<del data-change tabindex="-1">' in diff
    assert "Price &amp; more" in diff
    assert "<script>" not in diff.replace('<script type="module"', "")
    assert 'href="/web/20260501120000/https://shop.example/"' in diff
    calendar = shop.get(f"/web/*/{SHOP}", headers=PEOPLE).text
    assert '<a href="/diff/1/2">1 section changed; 0 added; 0 removed</a>' in calendar
    assert 'href="/diff/2/3"' not in calendar
    assert shop.get("/diff/1/2.json").json()["change_type"] == "updated"
    assert "A reader sees the same" in shop.get("/diff/2/3", headers=PEOPLE).text
    assert shop.get("/diff/1/4", headers=PEOPLE).status_code == 400
    assert shop.get("/diff/1/99", headers=PEOPLE).status_code == 404
    assert shop.get("/diff?from=1&to=3").headers["Location"] == "/diff/1/3"
    assert shop.get("/changes.csv").text.startswith("change_id,")
