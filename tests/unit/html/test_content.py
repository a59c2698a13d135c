"""What counts of a page, of whatever it is made, and its language."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.html.content import (
    MAX_LINKS,
    MAX_TEXT_BYTES,
    Content,
    ContentQuestion,
    Ignored,
    content_of,
    problem_of_selector,
    snippet_of,
)

LONG = "A sentence of some length that says a few things about what is sold here."


def of(html: str | bytes, url: str = "https://shop.example/a/", **more: Any) -> Content:
    """The content of a page."""
    body = html if isinstance(html, bytes) else html.encode()
    return content_of(ContentQuestion(body, url, **more))


def test_the_page_s_furniture_is_no_text() -> None:
    """Navigation, header, footer, controls, comments and what is hidden say nothing of the page."""
    page = of(
        "<!doctype html><html class=no-cookies><title>T</title><body><header>Top</header><nav>Menu</nav>"
        f"<h1>Shoes</h1><p>{LONG}<!-- secret --></p><p hidden>ghost</p><div style='display: none'>ghost</div>"
        "<noscript>ghost</noscript><template>ghost</template><form>size 42 <button>Go</button></form>"
        "<div role=navigation>Menu</div><footer>Bottom</footer></body>"
    )
    assert page.text == f"Shoes\n{LONG}\nsize 42"
    assert [(part.heading, part.lines) for part in page.sections] == [("Shoes", (LONG, "size 42"))]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (f"<div>aside text</div><main><p>{LONG}</p><p>{LONG}</p></main>", f"{LONG}\n{LONG}"),
        (f"<div>before</div><main>short</main><p>{LONG}</p>", f"before\nshort\n{LONG}"),
        (f"<p>{LONG}</p><article>one</article><article>two</article>", f"{LONG}\none\ntwo"),
        (f"<div>x</div><article><header>{LONG}</header>{LONG}</article>", f"{LONG}\n{LONG}"),
        ("<p>a<b>b</b>c <span>d</span>e<br>f", "abc de\nf"),
        ("<h2>Two <span>words</span></h2>text", "Two words\ntext"),
        ("<table><tr><td>a<td>b</table>", "a\nb"), ("<p>e\u0301\u200b\u202ex\x07</p>", "éx"),
    ],
)  # fmt: skip
def test_the_main_part(html: str, text: str) -> None:
    """What calls itself so, if it says enough; else all, in lines as they are seen."""
    assert of(html).text == text


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n <b>B</b> &amp; C </title><h1>No</h1>", "A <b>B</b> & C"),
        ("<title></title><h1>The <i>heading</i></h1>", "The heading"),
        ("<svg><title>icon</title></svg><h1>Yes</h1>", "Yes"), ("<p>nothing", ""),
        ("<title>\u202egnp.exe</title>", "gnp.exe"), ("<title>" + "x" * 10_000 + "</title>", "x" * 500),
    ],
)  # fmt: skip
def test_the_title(html: str, title: str) -> None:
    """The element, as text; else the first heading; nothing that turns words around."""
    assert of(html).title == title


def test_the_snippet_begins_with_a_sentence() -> None:
    """After the crumbs, and ends at a word."""
    page = of("<p>Home</p><p>Shoes</p>" + f"<p>{LONG}</p>" * 9)
    assert page.snippet.startswith(LONG)
    assert len(page.snippet) <= 280
    assert page.snippet.endswith("…")
    assert snippet_of("x" * 999) == "x" * 279 + "…"


def test_links_of_the_main_part() -> None:
    """Absolute, once each, no more than so many; those of the furniture are not its own."""
    page = of(
        "<base href=/b/><nav><a href=/nav>n</a></nav><main>" + LONG + LONG
        + "<a href='x#y'>1</a><a href=x>2</a><a href='javascript:1'>3</a><a href='http://['>4</a>"
        + "".join(f"<a href=/p/{n}>x</a>" for n in range(300)) + "</main>"
    )  # fmt: skip
    assert page.links[:2] == ("https://shop.example/b/x", "https://shop.example/p/0")
    assert len(page.links) == MAX_LINKS


def test_links_of_a_page_without_a_main_part() -> None:
    """A menu leads nowhere, and does not use up what is kept; nor does what is hidden."""
    menu = "".join(f"<a href=/menu/{n}>x</a>" for n in range(MAX_LINKS))
    page = of(f"<nav>{menu}</nav><p>{LONG} <a href=/said>y</a><a hidden href=/ghost>z</a></p><footer>{menu}")
    assert page.links == ("https://shop.example/said",)


@pytest.mark.parametrize("html", ["<head><base href=/b/>", "<body><div><base href=/b/></div>"])
def test_links_begin_where_the_page_says(html: str) -> None:
    """Wherever in it."""
    assert of(f"{html}<p>{LONG}<a href=x>y</a>").links == ("https://shop.example/b/x",)


@pytest.mark.parametrize("space", [" ", "  ", "\t", "\xa0", "\u2003", "\u3000", " \u200b", "\x1f "])
def test_blanks_of_every_kind_are_one(space: str) -> None:
    """Whether a line has to be looked at closely or not."""
    assert of(f"<p>{space}a{space}b{space}</p>").text == "a b"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty_page"), (b"%PDF-1.7 ...", "not_html"), (b"<div>" * 100_000, "too_deep"),
        (b"<p>" + b"x" * (17 * 1024 * 1024), "too_large"), (b"<a href=x>" * 1_000_000, "too_large"),
    ],
    ids=["empty", "pdf", "deep", "large", "links"],
)  # fmt: skip
def test_what_cannot_be_read(body: bytes, problem: str) -> None:
    """It has a reason and no text."""
    page = of(body)
    assert (page.problem, page.text, page.title) == (problem, "", "")


def test_a_text_is_bounded() -> None:
    """What is too much is cut, and that is told."""
    page = of(b"<p>" + "é".encode() * 1_000_000 + b"<p>more")
    assert page.is_cut
    assert len(page.text.encode()) <= MAX_TEXT_BYTES
    assert not of("<p>é").is_cut


def test_every_charset_is_text() -> None:
    """What is declared wrongly is read as what it is."""
    assert of("<p>Größe".encode("cp1252"), content_type="text/html; charset=utf-8").text == "Größe"
    assert of("<p>靴".encode("cp932"), content_type="text/html; charset=shift_jis").text == "靴"
    assert of(b"<title>a\x00b</title><p>x\x00y&#xD800;").text.encode("utf-8")


@pytest.mark.parametrize(
    ("html", "header", "language"),
    [
        ("<html lang=de><p>x", "en-GB, fr", "en"), ("<html lang=en_US><p>x", "", "en"),
        ("<html lang=x-default><p>x", "", "und"), ("<html lang=''><p>x", "", "und"),
        ("<html lang=en><p>" + "赤い靴を買うことができます。" * 5, "", "ja"),
        ("<html lang=en><p>" + "한국어로 쓰인 문장입니다 여기에 있습니다. " * 5, "", "ko"),
        ("<html lang=ru><p>" + LONG * 5, "", "en"),
        ("<html lang=ru><p>" + "Это предложение. " * 5, "en", "ru"),
        ("<p>" + LONG * 9 + " and the of to in is", "", "en"),
        ("<p>" + "Der Schuh ist für die Straße und nicht für den Wald. " * 9, "", "de"),
        ("<html lang='javascript:alert(1)'><p>" + "x" * 300, "a" * 10_000, "und"),
    ],
)  # fmt: skip
def test_the_language(html: str, header: str, language: str) -> None:
    """The first declaration that fits the script; else by the commonest words; what is no code is none."""
    assert of(html, content_language=header).language == language


def test_what_a_source_ignores() -> None:
    """Elements by a selector, lines by what they say; a selector that finds nothing says nothing of it."""
    html = f"<main><h1>Shoe</h1><p class=seen>3 people looked</p><p>Only 2 left</p><p>{LONG}</p></main>"
    rules = Ignored((".seen", ".nothing", "p >"), ("Only ",))
    assert of(html, ignored=rules).text == f"Shoe\n{LONG}"
    assert not of(html, ignored=Ignored(("main",))).text
    assert "3 people looked" in of(html).text


def test_headings_are_known_by_their_lines() -> None:
    """So that a comparison can say under which one something changed."""
    found = of(f"<main><p>{LONG}</p><h2>Price</h2><p>10 EUR</p><h2>Price</h2></main>")
    assert found.text.split("\n") == [LONG, "Price", "10 EUR", "Price"]
    assert found.headings == [1, 3]


@pytest.mark.parametrize(
    ("selector", "is_one"), [(".a > b", True), ("", False), ("p >", False), ("::", False)]
)
def test_what_is_no_selector(selector: str, *, is_one: bool) -> None:
    """Is told with the source's file."""
    assert (problem_of_selector(selector) is None) is is_one
