"""Bytes of any kind become a document, or the reason why not."""

from __future__ import annotations

import codecs

import pytest

from crawler.html.parse import MAX_DEPTH, MAX_TAGS, is_binary, parse, with_shadow_trees
from crawler.html.visible import visible_text

PAGE = b"<!doctype html><title>T</title><p>text</p>"


def test_a_page_is_parsed() -> None:
    """With its charset, and without a problem."""
    document = parse(PAGE)
    assert (document.charset, document.problem) == ("utf-8", "")
    paragraph = document.tree.css_first("p")
    assert paragraph is not None
    assert paragraph.text() == "text"


@pytest.mark.parametrize(
    ("body", "content_type", "problem"),
    [
        (b"", "", "empty_page"),
        (b" \n\t\0", "text/html", "empty_page"),
        (b"%PDF-1.4", "", "not_html"),
        (b"\x1f\x8b\x08 zipped", "", "not_html"),
        (b"words without a tag", "", "not_html"),
        (PAGE, "image/png", "not_html"),
        (PAGE, "application/json; charset=utf-8", "not_html"),
        (PAGE + b" " * 2000, "", "too_large"),
        (b"<p>" * (MAX_TAGS + 1), "", "too_large"),
        (b"<div>" * (2 * MAX_DEPTH + 1), "", "too_deep"),
        (b"<b id=1>" * 1_700 + b"<p>" * 1_800, "", "too_deep"),
    ],
)
def test_what_is_not_parsed(body: bytes, content_type: str, problem: str) -> None:
    """It has an empty tree, and a code that says why."""
    most = 1000 if problem == "too_large" and body.startswith(PAGE) else 16_000_000
    document = parse(body, content_type=content_type, max_bytes=most)
    assert document.problem == problem
    assert document.tree.css_first("p, div, title") is None


@pytest.mark.parametrize(
    "content_type", ["", "text/html", "application/xhtml+xml", "text/plain", "TEXT/HTML"]
)
def test_what_may_be_html(content_type: str) -> None:
    """Servers call it many things."""
    assert not parse(PAGE, content_type=content_type).problem


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 3_000,
        b"<p>" * 300_000,
        b"<li><b>x</b>" * 20_000,
        b"<i>x</i>" * 5_000 + b"<p>y</p>" * 5_000,
    ],
)
def test_what_is_deep_or_long_and_yet_read(body: bytes) -> None:
    """Tags whose end may be left out do not nest, and what is closed is not reopened."""
    assert not parse(body).problem


# ── the charset ──


META = '<meta charset="{}"><p>{}</p>'


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (META.format("utf-8", "Käse").encode(), "", "Käse"),
        (META.format("iso-8859-1", "Käse").encode(), "text/html; charset=iso-8859-1", "Käse"),
        (META.format("windows-1251", "Термос").encode("cp1251"), "", "Термос"),
        (META.format("utf-8", "Термос").encode("cp1251"), "text/html; charset=windows-1251", "Термос"),
        (META.format("shift_jis", "琺瑯").encode("cp932"), "", "琺瑯"),
        (META.format("iso-2022-jp", "琺瑯").encode("iso2022_jp"), "", "琺瑯"),
        (META.format("gb2312", "购物车").encode("gb18030"), "", "购物车"),
        (META.format("euc-kr", "도자기").encode("cp949"), "", "도자기"),
        ("<p>Käse</p>".encode("cp1252"), "", "Käse"),
        (codecs.BOM_UTF16_LE + "<p>Käse</p>".encode("utf-16-le"), "", "Käse"),
        (codecs.BOM_UTF16_BE + "<p>Käse</p>".encode("utf-16-be"), "text/html;charset=utf-8", "Käse"),
        (codecs.BOM_UTF8 + "<p>Käse</p>".encode(), "text/html; charset=latin1", "Käse"),
        (META.format("iso-8859-8-i", "כד חרס").encode("iso8859-8"), "", "כד חרס"),
        (META.format("greek", "Κανάτα").encode("iso8859-7"), "", "Κανάτα"),
        (META.format("iso_8859-2:1987", "džbán").encode("iso8859-2"), "", "džbán"),
        ("<p>Кувшин</p>".encode("koi8_r"), "text/html; charset=KOI8", "Кувшин"),
        ("<p>Кувшин</p>".encode("cp866"), "text/html; charset=cp866", "Кувшин"),
        ("<p>Кувшин</p>".encode("mac_cyrillic"), "text/html; charset=x-mac-cyrillic", "Кувшин"),
        ("<p>도자기</p>".encode("cp949"), "text/html; charset=korean", "도자기"),
        ("<p>琺瑯</p>".encode("euc_jp"), "text/html; charset=x-euc-jp", "琺瑯"),
        (META.format("unicode_escape", "Käse").encode("cp1252"), "", "Käse"),
        (META.format("zlib_codec", "Käse").encode("cp1252"), "", "Käse"),
    ],
)
def test_decided(body: bytes, content_type: str, text: str) -> None:
    """Valid UTF-8 is UTF-8 whatever is declared; else the header counts, then the page, then a default."""
    assert visible_text(parse(body, content_type=content_type).tree) == text


def test_some_broken_bytes_in_utf8() -> None:
    """A page that was cut in mid-character stays UTF-8."""
    body = ("<p>" + "Größe Ähre " * 20).encode() + b"\xc3"
    assert visible_text(parse(body).tree).startswith("Größe Ähre")


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        (bytes(range(256)) * 8, True),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", True),
        (b"", False),
        (b"<p>\x00" + b"text " * 100, False),
        ("<p>Stuhl</p>".encode("utf-16"), False),
        ("<p>椅子</p>".encode("iso-2022-jp"), False),
    ],
)
def test_what_is_no_text_is_binary(body: bytes, is_one: bool) -> None:  # ruff: ignore[boolean-type-hint-positional-argument] - a parameter of the test
    """By what no text has, and not by a single mistake."""
    assert is_binary(body) is is_one


# ── shadow trees in markup are read as the parts of the page that a visitor sees ──


SHADOW = b'<template shadowrootmode="open">'


def text_of(body: bytes) -> str:
    """What can be read on a page."""
    return visible_text(parse(b"<!doctype html><body>" + body).tree)


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
    assert " ".join(text_of(body).split()) == text


def test_a_page_without_shadow_trees_is_the_same_page() -> None:
    """To the byte, and not copied."""
    body = b"<template><p>hidden</p></template>"
    assert with_shadow_trees(body) is body


def test_a_page_of_beginnings_is_read_once() -> None:
    """However many of them have no end."""
    body = (b"<!-- <script <template shadowrootmode" * 20_000) + SHADOW
    assert len(with_shadow_trees(body)) == len(body)
