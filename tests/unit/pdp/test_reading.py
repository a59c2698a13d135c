"""What one pass over a page answers."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from crawler.pdp.reading import UNJUDGED, PageQuestion, reading_of
from tests.unit.pdp.pages import URL

BODY = (
    '<!doctype html><title>Tall jug</title><link rel="canonical" href="/p/jug">'
    '<meta name="robots" content="nofollow">'
    '<h1>Tall jug</h1><img src="/j.png"><p class="price">€48.00</p><button>Add to cart</button>'
    '<ul class="product-grid"><li><a href="/p/cup">Cup</a></li></ul><a href="/about">About us</a>'
).encode()
QUESTION = PageQuestion(BODY, URL, "text/html", "v1.2", with_links=False)


def test_a_page_is_judged_and_read() -> None:
    """Verdict, facts, features and text at once."""
    reading = reading_of(QUESTION)
    assert (reading.verdict.is_pdp, reading.facts.name, reading.canonical_url) == (True, "Tall jug", "/p/jug")
    assert json.loads(reading.features)["meta"]["title"] == "Tall jug"
    assert reading.text.startswith(b"Tall jug")
    assert (reading.charset, reading.is_html, reading.has_h1, reading.has_cta) == ("utf-8", True, True, True)


def test_links_are_looked_for_where_they_are_asked_for() -> None:
    """Candidates for a visit, every link for a run, nothing otherwise."""
    silent = reading_of(QUESTION)
    assert (silent.candidates, silent.others, silent.links, silent.media) == ((), (), {}, ())
    search = reading_of(evolve(QUESTION, with_links=True))
    assert search.candidates == ("https://shop.example/p/cup",)
    assert "https://shop.example/about" in search.others
    whole = reading_of(evolve(QUESTION, all_links=True))
    assert whole.links["https://shop.example/p/cup"] is True
    assert whole.media == ("https://shop.example/j.png",)
    assert whole.robots_directives == ("nofollow",)


def test_who_judges_nothing_still_learns_where_a_page_leads() -> None:
    """Its links, and what it needs to be shown."""
    sheet = BODY.replace(b"<title>", b"<link rel=stylesheet href=/s.css><title>")
    reading = reading_of(evolve(QUESTION, body=sheet, policy=UNJUDGED))
    judged = reading_of(evolve(QUESTION, body=sheet, all_links=True))
    assert not reading.is_judged
    assert (reading.links, reading.media, reading.styles) == (judged.links, judged.media, judged.styles)
    assert reading.styles == ("https://shop.example/s.css",)


@pytest.mark.parametrize(("body", "is_html"), [(b"", False), (b"%PDF-1.4", False), (b"<p>x", True)])
def test_some_answers_are_no_page(body: bytes, *, is_html: bool) -> None:
    """They are judged all the same."""
    reading = reading_of(evolve(QUESTION, body=body))
    assert (reading.is_html, reading.verdict.is_pdp) == (is_html, False)
