"""Feeds and comparisons: whatever a site wrote, a reader's parser takes them, and no markup is in them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET  # ruff: ignore[suspicious-xml-etree-import] - to read our own

import pytest

from crawler.archive.comparing import ADDED, REMOVED, SAME, Line, SectionChange
from crawler.views.changes import ChangeDocument
from crawler.web import feeds

AT = datetime(2026, 5, 2, 12, tzinfo=UTC)
ORIGIN = "http://127.0.0.1:8000"
ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "]]></title><script>&\x00\x0b\ufffe\ud800 \"'"


def a_change(**fields: Any) -> ChangeDocument:
    """A page that says something else."""
    given: dict[str, Any] = {
        "change_id": 5, "change_type": "updated", "summary": "1 section changed", "high_noise": False,
        "diff_available": True, "source_code": "shop", "source_name": "Shop",
        "normalized_url_group": "https://shop.example/", "from_snapshot_id": 1, "to_snapshot_id": 2,
        "from_capture_timestamp": None, "to_capture_timestamp": AT, "from_date_precision": None,
        "to_date_precision": None, "from_job_id": None, "to_job_id": None,
        "added_sections": 0, "removed_sections": 0, "changed_sections": 1, "added_lines": 1,
        "removed_lines": 0, "change_ratio": 0.1,
    }  # fmt: skip
    return ChangeDocument(**{**given, **fields})


def parsed(text: str) -> ET.Element:
    """A feed, as its readers take it."""
    return ET.fromstring(text.encode())  # ruff: ignore[suspicious-xml-element-tree-usage] - see above


@pytest.mark.parametrize("fields", [
    {}, {"summary": HOSTILE, "normalized_url_group": HOSTILE, "source_code": HOSTILE}
])  # fmt: skip
def test_any_words_make_a_feed(fields: dict[str, Any]) -> None:
    """With one entry each, under the same id and address in all three."""
    change = a_change(**fields)
    link, key = f"{ORIGIN}/diff/1/2", f"{ORIGIN}/changes#5"
    item = parsed(feeds.rss([change], ORIGIN)).find("./channel/item")
    entry = parsed(feeds.atom([change], ORIGIN, AT)).find(f"{ATOM}entry")
    assert item is not None
    assert entry is not None
    assert (item.findtext("link"), item.findtext("guid")) == (link, key)
    assert (entry.find(f"{ATOM}link") or entry[2]).get("href") == link
    assert entry.findtext(f"{ATOM}id") == key
    [found] = json.loads(json.dumps(feeds.json_feed([change], ORIGIN)))["items"]
    assert (found["id"], found["url"]) == (key, link)
    assert item.findtext("pubDate") == "Sat, 02 May 2026 12:00:00 GMT"


def test_no_changes_are_a_feed() -> None:
    """Which says when it was asked for."""
    now = datetime(2027, 1, 1, tzinfo=UTC)
    assert parsed(feeds.rss([], ORIGIN)).findall("./channel/item") == []
    assert parsed(feeds.atom([], ORIGIN, now)).findtext(f"{ATOM}updated") == now.isoformat()
    assert parsed(feeds.atom([a_change()], ORIGIN, now)).findtext(f"{ATOM}updated") == AT.isoformat()


def test_a_new_page_leads_to_itself_and_no_password_is_told() -> None:
    """There is nothing to compare it with."""
    change = a_change(from_snapshot_id=None, normalized_url_group="https://me:canary-pw@shop.example/")
    assert feeds.path_of(change) == "/snapshots/2"
    assert "canary-pw" not in feeds.rss([change], ORIGIN) + feeds.atom([change], ORIGIN, AT)
    assert "canary-pw" not in json.dumps(feeds.json_feed([change], ORIGIN))


def test_a_comparison_marks_what_differs() -> None:
    """Lines by what became of them, words within them; what a site wrote is text."""
    words = ((SAME, "It costs "), (ADDED, "<b>12</b>"))
    lines = (Line(SAME, "<i>Red</i>"), Line(REMOVED, "It costs 10"), Line(ADDED, "It costs 12", words))
    html = feeds.diff_html([SectionChange("<h1>Price", "changed", lines), SectionChange("", "added", ())])
    assert "<span>&lt;i&gt;Red&lt;/i&gt;</span>" in html
    assert '<del data-change tabindex="-1">It costs 10</del>' in html
    assert '<ins data-change tabindex="-1">It costs <mark>&lt;b&gt;12&lt;/b&gt;</mark></ins>' in html
    assert "&lt;h1&gt;Price" in html
    assert "Top of the page" in html
