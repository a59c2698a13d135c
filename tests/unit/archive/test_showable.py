"""What goes out goes by a list of what a browser may be given."""

from __future__ import annotations

import pytest

from crawler.archive.showable import Form, headers_of, showable, status_of

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


@pytest.mark.parametrize(
    ("kind", "body", "content_type", "saved"),
    [
        ("text/html", PNG, "image/png", False),
        ("", PNG, "image/png", False),
        ("", b"<!doctype html><p>x", "text/html; charset=utf-8", False),
        ("image/png", b"<script>", "image/png", False),
        ("image/svg+xml", b"<svg><script>", "image/svg+xml", True),
        ("application/javascript", b"evil()", "text/plain; charset=utf-8", False),
        (
            "text/xml",
            b"<?xml-stylesheet href='http://canary.example'?><a/>",
            "text/plain; charset=utf-8",
            False,
        ),
        ("multipart/x-mixed-replace", b"<script>", "application/octet-stream", True),
        ("application/pdf", b"%PDF-1.4", "application/pdf", True),
        ("application/x-shockwave-flash", b"FWS", "application/octet-stream", True),
        ("text/html Set-Cookie: a=b", b"x", "application/octet-stream", True),
        ("font/woff2", b"wOF2", "font/woff2", False),
        ("application/octet-stream", b"\x00\x01\x00\x00\x00\x0c", "font/ttf", False),
        ("binary/octet-stream", b"OTTO\x00\x0c", "font/otf", False),
        ("application/octet-stream", b"wOFF\x00", "font/woff", False),
        ("application/octet-stream", b"\x00\x00\x01\x00\x01\x00", "image/x-icon", False),
        ("text/css", b"a{background:url(/p.png)}", "text/css; charset=utf-8", False),
    ],
)
def test_content_types_go_by_a_list(kind: str, body: bytes, content_type: str, *, saved: bool) -> None:
    """Whatever the site said of its answers, and whatever is in them."""
    how = showable(kind, body)
    headers = dict(headers_of(how))
    assert how.content_type == headers["Content-Type"] == content_type
    assert ("Content-Disposition" in headers) is saved
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "allow-scripts" not in headers["Content-Security-Policy"]


def test_only_a_font_is_asked_for_in_the_name_of_an_origin() -> None:
    """A sandboxed page has none; nobody else may read what is shown."""
    allowed = {kind: dict(headers_of(showable(kind, b""))).get("Access-Control-Allow-Origin") for kind in (
        "font/woff2", "image/png", "text/html", "text/css",
    )}  # fmt: skip
    assert allowed == {"font/woff2": "null", "image/png": None, "text/html": None, "text/css": None}
    assert dict(headers_of(showable("image/png", b"")))["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert dict(headers_of(showable("text/html", b"")))["Cross-Origin-Resource-Policy"] == "same-origin"


def test_what_is_stored_is_saved_and_never_shown() -> None:
    """It may have a script in it."""
    page = showable("text/html", b"<html>")
    assert page.form is Form.PAGE
    assert ("Content-Disposition", "attachment") in headers_of(page, as_stored=True)


def test_a_status_goes_out_if_it_has_a_body() -> None:
    """What a browser would act on does not."""
    stored = (None, 200, 204, 206, 301, 304, 404, 500, 103, 999)
    assert [status_of(each) for each in stored] == [200, 200, 200, 200, 200, 200, 404, 500, 200, 200]
