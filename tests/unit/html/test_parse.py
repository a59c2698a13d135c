"""Bytes of any kind become a document with a visible text, or the reason why not."""

from __future__ import annotations

import codecs

import pytest

from crawler.html.parse import MAX_DEPTH, MAX_TAGS, is_binary, parse, with_shadow_trees
from crawler.html.visible import visible_text

PAGE = b"<!doctype html><title>T</title><p>text</p>"


@pytest.mark.parametrize(
    ("body", "content_type", "problem"),
    [
        (b"", "", "empty_page"), (b" \n\t\0", "text/html", "empty_page"), (b"%PDF-1.4", "", "not_html"),
        (b"\x1f\x8b\x08 zipped", "", "not_html"), (b"words without a tag", "", "not_html"),
        (PAGE, "image/png", "not_html"), (PAGE, "application/json; charset=utf-8", "not_html"),
        (PAGE + b" " * 2000, "", "too_large"), (b"<p>" * (MAX_TAGS + 1), "", "too_large"),
        (b"<div>" * (2 * MAX_DEPTH + 1), "", "too_deep"),
        (b"<b id=1>" * 1_700 + b"<p>" * 1_800, "", "too_deep"),
    ],
)  # fmt: skip
def test_what_is_not_parsed(body: bytes, content_type: str, problem: str) -> None:
    """It has an empty tree, and a code that says why."""
    most = 1000 if problem == "too_large" and body.startswith(PAGE) else 16_000_000
    document = parse(body, content_type=content_type, max_bytes=most)
    assert document.problem == problem
    assert document.tree.css_first("p, div, title") is None


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        *((PAGE, kind) for kind in ("", "text/html", "application/xhtml+xml", "text/plain", "TEXT/HTML")),
        (b"<div>" * 3_000, ""), (b"<p>" * 300_000, ""), (b"<li><b>x</b>" * 20_000, ""),
        (b"<i>x</i>" * 5_000 + b"<p>y</p>" * 5_000, ""),
    ],
)  # fmt: skip
def test_what_is_read(body: bytes, content_type: str) -> None:
    """Servers call it many things; tags that end by themselves do not nest, closed ones are not reopened."""
    document = parse(body, content_type=content_type)
    assert (document.problem, document.charset) == ("", "utf-8")


META = '<meta charset="{}"><p>{}</p>'


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (META.format("utf-8", "Käse").encode(), "text/html; charset=iso-8859-1", "Käse"),
        (META.format("iso-8859-1", "Käse").encode(), "", "Käse"),
        (META.format("windows-1251", "Термос").encode("cp1251"), "", "Термос"),
        (META.format("utf-8", "Термос").encode("cp1251"), "text/html; charset=windows-1251", "Термос"),
        (META.format("shift_jis", "琺瑯").encode("cp932"), "", "琺瑯"),
        (META.format("iso-2022-jp", "琺瑯").encode("iso2022_jp"), "", "琺瑯"),
        (META.format("gb2312", "购物车").encode("gb18030"), "", "购物车"),
        ("<p>Käse</p>".encode("cp1252"), "", "Käse"),
        (codecs.BOM_UTF16_LE + "<p>Käse</p>".encode("utf-16-le"), "", "Käse"),
        (codecs.BOM_UTF16_BE + "<p>Käse</p>".encode("utf-16-be"), "text/html;charset=utf-8", "Käse"),
        (codecs.BOM_UTF8 + "<p>Käse</p>".encode(), "text/html; charset=latin1", "Käse"),
        (META.format("iso-8859-8-i", "כד חרס").encode("iso8859-8"), "", "כד חרס"),
        (META.format("iso_8859-2:1987", "džbán").encode("iso8859-2"), "", "džbán"),
        ("<p>Кувшин</p>".encode("koi8_r"), "text/html; charset=KOI8", "Кувшин"),
        ("<p>Кувшин</p>".encode("mac_cyrillic"), "text/html; charset=x-mac-cyrillic", "Кувшин"),
        ("<p>도자기</p>".encode("cp949"), "text/html; charset=korean", "도자기"),
        (META.format("unicode_escape", "Käse").encode("cp1252"), "", "Käse"),
        (META.format("zlib_codec", "Käse").encode("cp1252"), "", "Käse"),
        (("<p>" + "Größe Ähre " * 20).encode() + b"\xc3", "", ("Größe Ähre " * 20) + "\ufffd"),
    ],
)
def test_the_charset_is_decided(body: bytes, content_type: str, text: str) -> None:
    """Valid UTF-8 is UTF-8 whatever is declared; else the header counts, then the page, then a default."""
    assert visible_text(parse(body, content_type=content_type).tree) == text


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        (bytes(range(256)) * 8, True), (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", True), (b"", False),
        (b"<p>\x00" + b"text " * 100, False), ("<p>Stuhl</p>".encode("utf-16"), False),
        ("<p>椅子</p>".encode("iso-2022-jp"), False),
    ],
)  # fmt: skip
def test_what_is_no_text_is_binary(body: bytes, *, is_one: bool) -> None:
    """By what no text has, and not by a single mistake."""
    assert is_binary(body) is is_one


SHADOW = b'<template shadowrootmode="open">'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<x-a>" + SHADOW + b"<p>in it</p></template>beside</x-a> after", "in it beside after"),
        (b"<a>" + SHADOW + b"<b>" + SHADOW + b"deeper</template></b></template></a> after", "deeper after"),
        (b"<x-a><TEMPLATE class='>' shadowrootmode=closed>in it</TEMPLATE></x-a>", ""),  # cut short
        (b"<x-a><Template id=a shadowrootmode=closed>in it</Template></x-a>", "in it"),
        (SHADOW + b"<template>hidden " + SHADOW + b"too</template></template>shown</template>", "shown"),
        (b"<template data-shadowrootmode=open>hidden</template>shown", "shown"),
        (b"<template shadowrootmode=none>hidden</template>shown", "shown"),
        (b"<script>let a = '" + SHADOW + b"'</script><template>hidden</template>shown", "shown"),
        (b"<!-- " + SHADOW + b" --><template>hidden</template>shown", "shown"),
        (b"shown</template>" + SHADOW + b"<b>open to its end", "shown open to its end"),
        (b"shown<!-- " + SHADOW, "shown"),
    ],
)  # fmt: skip
def test_what_is_shown_of_a_shadow_tree_is_read(body: bytes, text: str) -> None:
    """And what a template keeps for later is not."""
    assert visible_text(parse(b"<!doctype html><body>" + body).tree) == text


def test_shadow_trees_are_looked_for_once() -> None:
    """However many beginnings have no end; a page without one is not copied."""
    body = b"<template><p>hidden</p></template>"
    assert with_shadow_trees(body) is body
    body = (b"<!-- <script <template shadowrootmode" * 20_000) + SHADOW
    assert len(with_shadow_trees(body)) == len(body)


HIDDEN = (
    "<script>j</script><style>s</style><template><p>t</p></template><noscript>n</noscript>"
    '<div hidden>h<b>h</b></div><div aria-hidden="true">a<!-- c --></div>'
    '<p style="color:red;display : none">d</p><p style="visibility:hidden">v</p>'
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<title>T</title><body><p>one</p>{HIDDEN}<p>two</p>", "one two"),
        ("<p>a<span hidden></span>b</p><div hidden><div hidden>x</div>y</div>", "ab"),
        ("<p>a\n\t b&nbsp; c</p><ul><li>d</li><li><b>e</b>f</li></ul>", "a b c d ef"),
        ("<p>b</p>c<ul><li>d</ul><b>e</b><div><b>f</b></div><em>g</em>", "b c d e f g"),
        ("<b><p>a</p></b>b", "a b"), ("<p>a</p><script>s</script>b", "a b"),
        ("<span>12</span>,90 <span>€</span>!", "12,90 €!"),
        ("a<script>s</script>b<em>c</em><!-- x -->d<wbr>e", "abcde"),
    ],
)  # fmt: skip
def test_visible_text(body: str, text: str) -> None:
    """Without what is hidden; blanks are one space; a closed block parts words, an inline tag does not."""
    assert visible_text(parse(body.encode()).tree) == text
