"""In a stylesheet every address is found, or another one, and nothing looks like a tag."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.html.stylesheets import MAX_REFERENCES, NOTHING, restyled, style_references, unescaped

BASE = "https://shop.example/css/main.css"


def named(sheet: str) -> list[str]:
    """The addresses that are asked for, in their order."""
    found: list[str] = []

    def address(given: str) -> str:
        found.append(given)
        return "/new"

    restyled(sheet, address)
    return found


@pytest.mark.parametrize(
    ("sheet", "addresses"),
    [
        ("a{background:url(x.png)}", ["x.png"]), ('a{background:URL( "x.png" )}', ["x.png"]),
        ("@import 'a.css'; @import url(b.css);", ["a.css", "b.css"]), ('@IMPORT "a.css"', ["a.css"]),
        ("a{b:u\\72 l(x.png)}", ["x.png"]), ("a{b:\\55rl('x.png')}", ["x.png"]),
        ("a{b:image-set('x.png' 1x, url(y.png) 2x)}", ["x.png", "y.png"]),
        ("a{src:url(x.png) format('woff')}", ["x.png"]), ("a{content:'url(x.png)'}", []),
        ("/* url(x.png) */", []), ("/* @import 'x.css'", []),
        ("@namespace url(http://www.w3.org/svg);", []), ("@charset 'utf-8';", []),
        ("a{b:url(x.png", ["x.png"]), ("a{b:url('x.png", ["x.png"]),
        ("a{b:url(x y.png)}c{d:url(z.png)}", ["z.png"]), ("a{b:url(x\\29 y.png)}", ["x)y.png"]),
        ("@import 'a.css' layer(url(b.css));", ["a.css", "b.css"]), ("a[href='x.css']{}", []),
        ("@im\\port 'a.css';", ["a.css"]), ("a{b:src('x.png')}", ["x.png"]),
        ("@import\n'a.css'", ["a.css"]),
    ],
)  # fmt: skip
def test_addresses_are_found_as_a_browser_finds_them(sheet: str, addresses: list[str]) -> None:
    """In functions and rules, in any case, escaped, without an end; not in texts and comments."""
    assert named(sheet) == addresses


@pytest.mark.parametrize("sheet", ["a{b:url(x.png)}", "@import 'x.css'", "a{b:url('x.png"])
def test_what_is_not_kept_is_not_asked_for(sheet: str) -> None:
    """Nobody hears of it."""
    made = restyled(sheet, lambda _: None)
    assert NOTHING in made
    assert "x." not in made


@pytest.mark.parametrize("new", ['a"b', "a\\b", "a\nb", "</style><script>", "a)b", "a'b", "a b"])
def test_a_new_address_cannot_break_out(new: str) -> None:
    """Whatever is in it, a browser reads it back as it was given."""
    made = restyled("a{b:url(x)}", lambda _: new)
    found = re.fullmatch(r'a\{b:url\("(.*)"\)\}', made, re.DOTALL)
    assert found is not None
    assert unescaped(found[1]) == new
    assert "<" not in made


@pytest.mark.parametrize(
    "sheet", ["\\<c{}", "a\\</style", "\\<c(", "'\\<c'", "'\\\\<c'", "'<c'", "<c", "\\\\<c", "'\\\n<c'"]
)
def test_what_looks_like_a_tag_is_said_otherwise(sheet: str) -> None:
    """In texts and names by an escape, elsewhere by a space, which is as little a selector as without it."""
    made = restyled(sheet, lambda _: None)
    assert not re.search(r"<[a-zA-Z/!?]", made)
    assert unescaped(made).replace("< ", "<") == unescaped(sheet)


@given(st.text("<>/sc\\\"'(){}[];:@url import\n\x00é-", max_size=60))
def test_nothing_that_comes_out_looks_like_a_tag(sheet: str) -> None:
    """Of any text: it may stand in a page; a second pass finds the same addresses and no others."""
    made = restyled(sheet, lambda _: "/new")
    assert not re.search(r"<[a-zA-Z/!?]", made)
    assert set(named(made)) <= {"/new"} | set(named(sheet))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\\62 c", "abc"), ("\\000062c", "bc"), ("\\110000", "\ufffd"), ("\\d800", "\ufffd"),
        ("a\\\nb", "ab"), ("a\\zb", "azb"), ("plain", "plain"), ("\\", "\\"), ("\\62\r\nc", "bc"),
    ],
)  # fmt: skip
def test_escapes(text: str, said: str) -> None:
    """As CSS has them; what is no character is the one that stands for that."""
    assert unescaped(text) == said


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
