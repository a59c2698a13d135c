"""What a plugin sees of a page."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.capture.items import PageCapture
from crawler.catalogue.plugins import normalised
from crawler.catalogue.plugins.api import plugin_page
from crawler.pdp import Facts, Signals, Verdict
from tests.unit.catalogue.plugins.made_up import URL, page

VARIANT = "https://shop.example/p/chair?colour=red&b=1"


@pytest.mark.parametrize(
    ("body", "charset", "html"),
    [
        ("früh".encode(), "utf-8", "früh"),
        ("früh".encode("cp1252"), "windows-1252", "früh"),
        ("früh".encode("cp1252"), "iso-8859-1", "früh"),
        (b"\xff\xfe" + "früh".encode("utf-16-le"), "utf-16-le", "früh"),
        ("朝".encode("cp932"), "shift_jis", "朝"),
        ("朝".encode(), "", "朝"),
        ("朝".encode(), "rot13", "朝"),
        (b"a\xffb", "utf-8", "a\ufffdb"),
        (b"", "utf-8", ""),
    ],
)
def test_html_is_read_in_the_charset_that_was_found(body: bytes, charset: str, html: str) -> None:
    """No bytes and no charset make it fail."""
    assert page(body=body, charset=charset).html == html


@pytest.mark.parametrize(
    ("content_type", "verdict", "is_html"),
    [
        ("text/html; charset=utf-8", {}, True),
        ("APPLICATION/xhtml+xml", {}, True),
        ("image/png", {"reasons": []}, False),
        ("text/plain", {"reasons": []}, False),
        ("", {"reasons": ["no_price"]}, True),
        ("", {"reasons": ["not_html"]}, False),
        ("", {}, False),
    ],
)
def test_html_is_what_says_so(content_type: str, verdict: dict[str, Any], *, is_html: bool) -> None:
    """Where nothing is declared, the reading says it."""
    assert page(content_type=content_type, verdict=verdict).is_html is is_html


def test_nothing_in_it_can_be_changed() -> None:
    """Neither for the next plugin nor for what is kept of the page."""
    facts: dict[str, Any] = {"name": "Chair", "sources": {"name": "json-ld"}, "breadcrumbs": ["a", "b"]}
    seen = page(facts=facts)
    with pytest.raises(TypeError):
        seen.facts["name"] = "Table"  # type: ignore[index]
    with pytest.raises(TypeError):
        seen.facts["sources"]["name"] = "dom"
    assert seen.facts["breadcrumbs"] == ("a", "b")
    with pytest.raises(AttributeError):
        seen.url = "https://other.example/"  # type: ignore[misc]


def test_a_capture_becomes_a_page() -> None:
    """With the title that its features have, and the canonical URL where that is to be believed."""
    capture = PageCapture(
        session_id="1",
        page_type="page",
        url=VARIANT,
        content_type="text/html",
        charset="utf-8",
        body=b"<p>hi</p>",
        visible_text="früh".encode(),
        features=json.dumps({"meta": {"title": "A chair"}}).encode(),
        verdict=Verdict("v1.2", is_pdp=True, signals=Signals()),
        facts=Facts(name="Chair", price=Decimal("9.50")),
        canonical_url="/p/chair",
    )
    seen = plugin_page(capture, depth=2, links=[URL], media=iter(["https://shop.example/a.png"]))
    assert (seen.url, seen.canonical_url, seen.title, seen.visible_text) == (VARIANT, URL, "A chair", "früh")
    assert (seen.html, seen.is_pdp, seen.is_html, seen.depth) == ("<p>hi</p>", True, True, 2)
    assert (seen.links, seen.media) == ((URL,), ("https://shop.example/a.png",))
    assert (seen.facts["name"], seen.facts["price"], seen.verdict["policy"]) == ("Chair", "9.50", "v1.2")


def test_a_capture_without_anything_becomes_an_empty_page() -> None:
    """As one of a picture."""
    capture = PageCapture(
        session_id="1", page_type="page", url=VARIANT, canonical_url="https://other.example/"
    )
    seen = plugin_page(capture)
    assert (seen.title, seen.html, seen.visible_text, seen.is_pdp, seen.is_html) == (
        None,
        "",
        "",
        False,
        False,
    )
    assert seen.canonical_url == "https://shop.example/p/chair?b=1&colour=red"


def test_texts_that_read_alike_are_alike() -> None:
    """Blanks, line ends and the way an accent is composed make no difference; letters do."""
    assert normalised(" a\u00a0 cafe\u0301\r\n b ") == normalised("a caf\u00e9 b") == "a caf\u00e9 b"
    assert normalised("A") != normalised("a")
