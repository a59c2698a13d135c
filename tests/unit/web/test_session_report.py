"""A session as one HTML file: all of it there, nothing of a site's markup in it."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any
from uuid import UUID

from selectolax.lexbor import LexborHTMLParser

from crawler.views import sessions
from crawler.web.session_report import as_html
from tests.unit.views.rows import FACTS, NOW, a_line, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'
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


def report(database: Database, pages: list[Any], pictures: dict[UUID, bytes], **columns: Any) -> str:
    """The report of a session with these pages."""
    with database.write() as db:
        db.add(a_session(id=KEY, **columns))
        db.flush()
        db.add_all(pages)
        db.flush()
        db.add(an_artifact(KEY, storage_uri=f"shop__{KEY}/pdp/desktop/html.gz"))
        shot = {"type": "screenshot", "storage_uri": f"shop__{KEY}/a.png", "retention_until": None}
        db.add(an_artifact(KEY, page_id=pages[0].id, **shot))
        db.add(a_line(KEY, "popup.dismissed", details={"label": HOSTILE, "session_id": str(KEY)}))
        db.flush()
        found = sessions.shown(db, NOW, str(KEY))
    return as_html(found, pictures, NOW)


def test_everything_is_in_it_and_nothing_of_a_sites_markup(database: Database) -> None:
    """Pictures side by side, verdicts, facts, digests and dates, the log; no script, and no way out."""
    pages = [
        a_page(KEY, verdict=VERDICT, facts={**FACTS, "name": HOSTILE}, low_confidence_reasons=["missing_h1"]),
        a_page(KEY, viewport="mobile", verdict=VERDICT, url="https://shop.example/p/chair?token=canary"),
        a_page(KEY, page_type="homepage", status="failed", http_status=403, url="javascript:alert(1)"),
    ]
    pictures = {pages[0].id: a_png(8, 12), pages[1].id: a_png(4, 12)}
    html = report(database, pages, pictures, low_confidence=True, render="1")
    tree = LexborHTMLParser(html)
    assert tree.css("script") == []
    assert [image.attributes["alt"] for image in tree.css("img")] == [
        "The product page as seen through the desktop window",
        "The product page as seen through the mobile window",
    ]
    assert [image.attributes["width"] for image in tree.css("img")] == ["8", "4"]
    assert not [link for link in tree.css("a") if not str(link.attributes["href"]).startswith(("http", "#"))]
    assert all(str(image.attributes["src"]).startswith("data:image/png;base64,") for image in tree.css("img"))
    assert "canary" not in html
    text = tree.body.text(separator=" ") if tree.body else ""
    for said in (
        "missing_h1",
        "19.90",
        "EUR",
        "2026-03-15",
        "c" * 64,
        "popup.dismissed",
        HOSTILE,
        "low confidence",
    ):
        assert said in text
    assert "No screenshot: the page failed" in text


def test_a_session_that_came_to_nothing_has_a_report_too(database: Database) -> None:
    """With what kept it."""
    pages = [a_page(KEY, page_type="homepage", status="failed", verdict=None, facts=None)]
    html = report(
        database, pages, {}, status="failed", error_summary="Blocked (403/503)", cause="blocked",
        pdp_url=None, finished_at=None,
    )  # fmt: skip
    assert "Blocked (403/503)" in html
    assert "<code>blocked</code>" in html
