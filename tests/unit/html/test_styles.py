"""What a stylesheet names."""

from __future__ import annotations

import time

import pytest

from crawler.html.styles import MAX_REFERENCES, style_references

BASE = "https://shop.example/css/main.css"


def test_stylesheets_pictures_and_fonts_are_named() -> None:
    """In order, each once, against the sheet's own address."""
    sheet = """
    @import "more.css"; @import url('//cdn.example/x.css') screen;
    body { background: url( /a.png ) } i { background: URL("../b.png#part") } u { background: url(/a.png) }
    @font-face { src: url(fonts/c.woff2?v=1) format("woff2"), local("C") }
    """
    assert style_references(sheet, BASE) == (
        "https://shop.example/css/more.css", "https://cdn.example/x.css", "https://shop.example/a.png",
        "https://shop.example/b.png", "https://shop.example/css/fonts/c.woff2?v=1",
    )  # fmt: skip


@pytest.mark.parametrize(
    "sheet",
    ["", "url()", "url(data:image/png;base64,AA==)", "/* url(a.png) */", "/* url(a.png)", "url(javascript:x)",
     "url(http://[/a.png)", "@import ;", "url('a.png", "\x00\ud800"],
)  # fmt: skip
def test_what_names_nothing(sheet: str) -> None:
    """Nothing comes of it, nothing is raised."""
    assert style_references(sheet, BASE) == ()


def test_nasty_sheets_cost_no_more_than_long_ones() -> None:
    """Neither time nor tasks."""
    began = time.process_time()
    for nasty in ("url(" * 250_000, "/*" * 500_000, "@import " * 100_000, "url( " + " " * 900_000):
        style_references(nasty, BASE)
    many = "".join(f"url({number})" for number in range(10_000))
    assert len(style_references(many, BASE)) == MAX_REFERENCES
    assert time.process_time() - began < 10
