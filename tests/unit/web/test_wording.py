"""How values, charts, feeds and reports read: whatever a site wrote, it is text."""

from __future__ import annotations

import json
import re
import struct
import zlib
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from uuid import UUID
from xml.etree import ElementTree as ET  # ruff: ignore[suspicious-xml-etree-import] - to read our own

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.views import sessions
from crawler.views.changes import ChangeDocument
from crawler.web import feeds, wording
from crawler.web.answers import JsonAnswer
from crawler.web.charts import HEIGHT, WIDTH, bars, steps
from crawler.web.session_report import as_html
from crawler.web.wording import NOTHING
from tests.unit.views.rows import FACTS, NOW, a_line, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database

MOMENT = datetime(2026, 5, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.mark.parametrize(("count", "text"), [
    (0, "0 bytes"), (999, "999 bytes"), (1_500_000, "1.5 MB"), (999_950, "1.0 MB"), (999.6, "1.0 KB"),
    (5e15, "5000.0 TB"), (None, NOTHING),
])  # fmt: skip
def test_sizes(count: float | None, text: str) -> None:
    """In the largest unit of which there is one, also where only rounding makes it one."""
    assert wording.size(count) == text


@pytest.mark.parametrize(("seconds", "text"), [
    (0.9, "0 s"), (60, "1 min"), (3_661, "1 h 1 min"), (86_400, "1 d"), (90_061, "1 d 1 h"), (-5, "0 s"),
    (None, NOTHING),
])  # fmt: skip
def test_lengths_of_time(seconds: float | None, text: str) -> None:
    """The two largest units; where two clocks differ, nothing lasts less than nothing."""
    assert wording.lasting(seconds) == text


def test_what_a_site_wrote_is_never_markup() -> None:
    """Neither as a time, nor between backticks, nor as the label of a chart."""
    assert wording.when(MOMENT) == '<time datetime="2026-04-30T23:30:00+00:00">2026-04-30 23:30 UTC</time>'
    assert wording.coded("run `vitrine` now") == "run <code>vitrine</code> now"
    for made in (
        wording.when(HOSTILE), wording.coded(f"{HOSTILE}`<b>"), bars([1], f'">{HOSTILE}'), steps([1], HOSTILE)
    ):  # fmt: skip
        assert "<script>" not in made
        assert "<b>" not in made


def test_the_address_of_a_capture_is_one_path() -> None:
    """What would end it early, or leave it, is escaped."""
    url = 'https://shop.example/a b?q="1"&r=ü#end'
    assert wording.replay_url(MOMENT, url) == (
        "/web/20260430233000/https://shop.example/a%20b?q=%221%22&r=%C3%BC%23end"
    )
    assert wording.calendar_url("https://x/\n<>") == "/web/*/https://x/%0A%3C%3E"


@pytest.mark.parametrize("values", [[], [0, 0], [-5.0, 0], [0, 1, 1_000_000], [1] * 1000])
def test_a_chart_of_any_values_stays_within_its_frame(values: list[float]) -> None:
    """What is little can be seen, and nothing is a faint line."""
    svg = bars(values, "visits")
    heights = [float(each) for each in re.findall(r'height="([\d.]+)" rx', svg)]
    assert len(heights) == len(values)
    assert all(0 < height <= HEIGHT for height in heights)
    assert all(float(x) < WIDTH for x in re.findall(r'x="([\d.]+)" y', svg))


def test_a_json_answer_has_no_password_and_any_text() -> None:
    """Half a pair of surrogates is no reason to fail."""
    answer = JsonAnswer({"url": "https://me:canary-pw@shop.example/", "text": "\ud800 ü"})
    assert b"canary-pw" not in bytes(answer.body)
    assert json.loads(bytes(answer.body))["text"] == "? ü"


AT = datetime(2026, 5, 2, 12, tzinfo=UTC)
ORIGIN = "http://127.0.0.1:8000"
ATOM = "{http://www.w3.org/2005/Atom}"
ODD = "]]></title><script>&\x00\x0b\ufffe\ud800 \"'"


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


def test_any_words_make_a_feed() -> None:
    """With one entry each, under the same id and address in all three."""
    change = a_change(summary=ODD, normalized_url_group=ODD, source_code=ODD)
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


def test_no_feed_has_a_password_and_none_is_empty() -> None:
    """A page that is new leads to itself: there is nothing to compare it with."""
    change = a_change(from_snapshot_id=None, normalized_url_group="https://me:canary-pw@shop.example/")
    made = feeds.rss([change], ORIGIN) + feeds.atom([change], ORIGIN, AT)
    assert f"{ORIGIN}/snapshots/2" in made
    assert "canary-pw" not in made + json.dumps(feeds.json_feed([change], ORIGIN))
    assert parsed(feeds.atom([], ORIGIN, AT)).findtext(f"{ATOM}updated") == AT.isoformat()


KEY = UUID("abcdef00-0000-4000-8000-000000000001")
VERDICT = {
    "policy": "v1.2", "is_pdp": True, "reasons": [HOSTILE],
    "signals": {"has_price": True, "has_title_and_image": True, "has_add_to_cart": False},
    "evidence": {"has_price": {"where": "p.price", "text": HOSTILE}},
}  # fmt: skip


def a_png(width: int, height: int) -> bytes:
    """A white picture."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\xff" * 3 * width) * height)
    parts = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def test_the_report_of_a_session_is_one_file_without_a_sites_markup(database: Database) -> None:
    """Pictures, verdicts, facts, digests and dates, the log; no script, no secret, and no way out."""
    pages = [
        a_page(KEY, verdict=VERDICT, facts={**FACTS, "name": HOSTILE}, low_confidence_reasons=["missing_h1"]),
        a_page(KEY, viewport="mobile", verdict=VERDICT, url="https://shop.example/p/chair?token=canary"),
        a_page(KEY, page_type="homepage", status="failed", http_status=403, url="javascript:alert(1)"),
    ]
    with database.write() as db:
        db.add(a_session(id=KEY, low_confidence=True, render="1"))
        db.flush()
        db.add_all(pages)
        db.flush()
        db.add(an_artifact(KEY, storage_uri=f"shop__{KEY}/pdp/desktop/html.gz"))
        db.add(a_line(KEY, "popup.dismissed", details={"label": HOSTILE, "session_id": str(KEY)}))
        db.flush()
        found = sessions.shown(db, NOW, str(KEY))
    html = as_html(found, {pages[0].id: a_png(8, 12), pages[1].id: a_png(4, 12)}, NOW)
    tree = LexborHTMLParser(html)
    assert tree.css("script") == []
    assert [(image.attributes["alt"], image.attributes["width"]) for image in tree.css("img")] == [
        ("The product page as seen through the desktop window", "8"),
        ("The product page as seen through the mobile window", "4"),
    ]
    assert all(str(image.attributes["src"]).startswith("data:image/png;base64,") for image in tree.css("img"))
    assert not [link for link in tree.css("a") if not str(link.attributes["href"]).startswith(("http", "#"))]
    assert "canary" not in html
    text = tree.body.text(separator=" ") if tree.body else ""
    for said in (
        "missing_h1", "19.90", "EUR", "2026-03-15", "c" * 64, "popup.dismissed", HOSTILE, "low confidence",
        "No screenshot: the page failed",
    ):  # fmt: skip
        assert said in text
