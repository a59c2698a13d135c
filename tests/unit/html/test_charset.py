"""The charset that a page is really in."""

from __future__ import annotations

import codecs

import pytest

from crawler.html.parse import parse
from crawler.html.visible import visible_text

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
