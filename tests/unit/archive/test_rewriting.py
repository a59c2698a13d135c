"""Archived pages can do nothing, lead nowhere but into the archive, and look as they did."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from selectolax.lexbor import LexborHTMLParser

from crawler.archive.rewriting import MAX_STYLE_BYTES, Place, absolute, shown_page, shown_style
from crawler.archive.showable import headers_of, showable, status_of
from tests.unit.archive.hostile import hostile_pages

if TYPE_CHECKING:
    from collections.abc import Collection


HERE = Place("https://shop.example/a/b?x=1", "20260101000000")
# Attributes of one tag, each called otherwise, with something behind each name.
MANY = b" ".join(b"a%d@" % number for number in range(100_000))
HOSTILE = hostile_pages()
INTO = "/web/20260101000000"
ADDRESSES = {
    "href", "src", "xlink:href", "action", "formaction", "data", "poster", "background", "srcdoc", "ping",
}  # fmt: skip


def shown(html: str | bytes, place: Place = HERE) -> str:
    """A page as it comes out."""
    return shown_page(html.encode() if isinstance(html, str) else html, "text/html", place).body.decode()


class Tags(HTMLParser):
    """What the plainest of all parsers takes for tags."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def set_cdata_mode(self, *_: Any, **__: Any) -> None:
        """Nothing is text that looks like a tag."""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Keep it."""
        self.found.append((tag, dict(attrs)))


def every_tag(text: str) -> list[tuple[str, dict[str, Any]]]:
    """As three parsers see them: whatever any of them takes for a tag counts."""
    seen = Tags(text).found
    for node in LexborHTMLParser(text).css("*"):
        seen.append((node.tag or "", dict(node.attributes)))
    soup = BeautifulSoup(text, "html.parser", multi_valued_attributes=None)
    return [*seen, *((tag.name, dict(tag.attrs)) for tag in soup.find_all())]


@pytest.mark.parametrize("name", HOSTILE)
def test_of_a_hostile_page_nothing_is_left_that_acts(name: str) -> None:
    """No script, no handler, no address out of the archive, however it is parsed again."""
    text = shown(HOSTILE[name])
    for tag, attributes in every_tag(text):
        assert tag not in {"script", "base", "embed", "applet", "template", "portal"}
        assert tag != "meta" or "http-equiv" not in attributes
        for key, value in attributes.items():
            assert not key.startswith("on") or key == "on", (key, value)
            assert key != "style" or "canary" not in str(value).replace(f"{INTO}mp_/http://canary", ""), value
            if key in ADDRESSES:
                assert re.match(rf"{INTO}(?:..._?|if_|mp_)?/https?://|#|data:image/", str(value)), value
                assert "/../" not in str(value)
                assert "%2e%2e" not in str(value).lower()


def test_a_style_in_a_drawing_is_text() -> None:
    """A parser undoes what is escaped in it: what is written is escaped as often as what was read."""
    text = shown("<svg><style>@import &amp;quot;http://canary/&amp;quot;; a > b {}</style></svg>")
    assert "@import &amp;quot;http://canary/&amp;quot;; a &gt; b" in text


def test_a_page_has_so_many_styles_of_its_own() -> None:
    """What comes behind them is not looked at, and not shown."""
    before, behind = "<p style='color:red'>", "<p style='background:url(/canary.png)'>"
    page = shown(f"{before}<style>{' ' * MAX_STYLE_BYTES}</style>{behind}")
    assert 'style="color:red"' in page
    assert "canary" not in page


def test_what_a_style_asks_for_lies_in_the_archive() -> None:
    """Whatever it is spelt like; nothing of it looks like a tag."""
    text = shown("<style>@import 'a.css';b{background:u\\72l(/x.png)}i{content:'</style><b>'}</style><p>x")
    assert f'@import "{INTO}mp_/https://shop.example/a/a.css";' in text
    assert f'url("{INTO}mp_/https://shop.example/x.png")' in text


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("x", "https://shop.example/a/x"), ("?q", "https://shop.example/a/b?q"), ("//x", "https://x"),
        ("http:evil", "http://evil"), ("https:x", "https://shop.example/a/x"),
        ("http:/evil", "http://evil"), ("\\\\evil\\x", "https://evil/x"),
        ("http://a/../../b", "http://a/b"), ("/%2e%2e/.%2E/a", "https://shop.example/a"),
        ("ht\ntp://x/é", "http://x/%C3%A9"), ("http://a b/", "http://a%20b/"),
        ("/a%2Fb", "https://shop.example/a%2Fb"), ("/100%", "https://shop.example/100%25"),
        ("https://x:443/", "https://x/"),
        ("/a?u=http://b/../c", "https://shop.example/a?u=http://b/../c"),
        ("/a/../b/./c", "https://shop.example/b/c"), ("/..", "https://shop.example/"),
        ("/p~1/@x?a=-", "https://shop.example/p~1/@x?a=-"), ("javascript:x", None),
        ("\x01 javascript:x", None), ("mailto:a@b", None), ("blob:x", None), ("http://u:p@h/", None),
        ("http://[", None), ("/" + "a" * 9_000, None),
    ],
)  # fmt: skip
def test_addresses_are_made_as_browsers_make_them(given: str, made: str | None) -> None:
    """And never step out of the archive."""
    assert absolute(HERE.url, given) == made


def test_a_page_looks_as_it_did() -> None:
    """Document type, language, text, pictures and styles stay; what others keep for themselves too."""
    page = shown(
        '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">'
        "<html lang=en><link rel=stylesheet href=/a.css integrity=x crossorigin><body class=a>"
        "<pre>\n\nx</pre><p>1 &lt; 2<img src=p.png srcset='p.png 1x, q,r.png 2x' data-src='/p.png'"
        " loading=lazy alt='c:\\url(x)'>"
    )
    assert page.startswith('<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN"')
    for part in (
        '<html lang="en"><head><meta charset="utf-8">',
        f'<link rel="stylesheet" href="{INTO}cs_/https://shop.example/a.css">',
        '<body class="a">', "<pre>\n\nx</pre>", "1 &lt; 2", 'data-src="/p.png"', 'loading="lazy"',
        f'src="{INTO}im_/https://shop.example/p.png"', 'alt="c:\\url(x)"',
        f'srcset="{INTO}im_/https://shop.example/a/p.png 1x, {INTO}im_/https://shop.example/a/q%2Cr.png 2x"',
    ):  # fmt: skip
        assert part in page


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("a.png, b.png 2x", "a.png|b.png 2x"), ("a.png,, ,b.png", "a.png|b.png"),
        (" ,a.png 1x ,, ", "a.png 1x"), ("a.png (x,y) 1x, b.png", "a.png (x,y) 1x|b.png"),
    ],
)  # fmt: skip
def test_the_candidates_of_a_picture_are_those_that_browsers_see(given: str, made: str) -> None:
    """A comma at the end of an address ends its candidate; one in brackets ends nothing."""
    found = re.search(r'srcset="([^"]*)"', shown(f"<img srcset='{given}'>"))
    assert found is not None
    assert found[1].replace(f"{INTO}im_/https://shop.example/a/", "").replace(", ", "|") == made


def test_links_lead_to_the_page_that_says_what_is_shown() -> None:
    """Out of the frame; within a page that is itself a part of another they stay there."""
    link = "<a href=c target=x>x</a><a href='#d'>y</a><a href='b?x=1#e'>z</a><a href=c target=_top>t</a>"
    page = shown(link)
    assert f'<a target="_top" href="{INTO}/https://shop.example/a/c">' in page
    assert '<a href="#d">' in page
    assert '<a href="#e">' in page
    part = shown(link, Place(HERE.url, HERE.timestamp, is_framed=True))
    assert f'<a href="{INTO}if_/https://shop.example/a/c">x</a>' in part
    assert f'<a target="_top" href="{INTO}/https://shop.example/a/c">t</a>' in part


def test_forms_are_disabled_and_counted() -> None:
    """A note says so where one points at them."""
    page = shown_page(b"<form action=/x><input type=submit><button>b</button></form>", "", HERE)
    assert page.forms == 1
    assert page.body.count(b'title="Forms of archived pages lead nowhere"') == 1
    assert b"submit" not in page.body


def test_what_a_page_needs_is_listed() -> None:
    """Each once, without what is in it already."""
    page = shown_page(b"<img src=a.png><img src=a.png#x><link rel=stylesheet href=s.css><img "
                      b"src='data:image/png,x'><a href=l><iframe src=f></iframe>"
                      b"<style>a{background:url(b.png)}</style>", "", HERE)  # fmt: skip
    assert tuple(page.resources) == (
        "https://shop.example/a/a.png", "https://shop.example/a/s.css", "https://shop.example/a/f",
        "https://shop.example/a/b.png",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty_page"), (b"%PDF-1.4", "not_html"), (b"<div>" * 20_000, "too_deep"),
        (b"<p " + MANY.replace(b"@", b"") + b">", "too_large"),
        (b"<p " + MANY.replace(b"@", b"='>'") + b">", "too_large"),
        (b"<p/" + MANY.replace(b"@", b"").replace(b" ", b"/") + b">", "too_large"),
        (b"<p " + MANY.replace(b"@", b"='1'").replace(b" ", b"") + b">", "too_large"),
        (b"<script>i<a b='</script><p " + MANY.replace(b"@", b"") + b">'", "too_large"),
        (b"<!--<a b=\"--><p c='<a d=\"' " + MANY.replace(b"@", b"") + b">", "too_large"),
    ],
    ids=["empty", "pdf", "deep", "attributes", "quoted", "slashes", "joined", "script", "comment"],
)  # fmt: skip
def test_what_no_page_can_be_made_of(body: bytes, problem: str) -> None:
    """It is told, and nothing of it is shown as a page."""
    page = shown_page(body, "text/html", HERE)
    assert (page.body, page.problem) == (b"", problem)


@pytest.mark.parametrize("charset", ["shift_jis", "windows-1252", "utf-16", "utf-8"])
def test_what_comes_out_is_utf_8(charset: str) -> None:
    """Whatever it was, and its declaration too."""
    text = "é" if charset == "windows-1252" else "日本"
    page = f"<meta charset={charset}><p>{text}".encode(charset)
    found = shown_page(page, "text/html", HERE).body.decode()
    assert text in found
    assert re.findall(r"charset=[^>]*", found) == ['charset="utf-8"']
    style = shown_style(
        f"@charset '{charset}'; a{{content:'{text}';b:url(x)}}".encode(charset),
        f"text/css;charset={charset}",
        HERE,
    )
    assert text in style.body.decode()
    assert tuple(style.resources) == ("https://shop.example/a/x",)


def test_nasty_pages_cost_no_more_than_long_ones() -> None:
    """Neither in tags, nor in attributes, nor in styles."""
    began = time.process_time()
    for nasty in (
        "<p " + "a=1 " * 100_000 + ">", "<img srcset='" + "a " * 200_000 + "'>", "<style>" + "url(" * 250_000,
        "<a href='" + "../" * 2_000 + "'>" * 100, "<img src=" + "%" * 8_000 + ">",
        "<img srcset='" + " " * 100_000 + "'>", "<img srcset='" + "a (" * 33_000 + "'>" * 10,
    ):  # fmt: skip
        shown(nasty)
    assert time.process_time() - began < 20


def test_the_pages_are_hostile_as_they_stand() -> None:
    """Forty of them: a test of harmless pages would show nothing."""
    assert len(HOSTILE) >= 40
    assert sum(b"new Image()" in page or b"canary" in page for page in HOSTILE.values()) > 35


SHOP = "https://shop.example/a/"
PICTURE = f"{INTO}im_/{SHOP}"
BLANK = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP"


@pytest.mark.parametrize(
    ("given", "made", "asked"),
    [
        ("<img data-src=a>", f'<img data-src="a" src="{PICTURE}a">', "a"),
        (f"<img src='{BLANK}' data-src=a>", f'<img src="{PICTURE}a" data-src="a">', "a"),
        (f"<img src='{BLANK}' data-src=x>", f'<img src="{PICTURE}x" data-src="x">', "x"),
        ("<img src=a data-src=x>", f'<img src="{PICTURE}a" data-src="x">', "ax"),
        ("<img src=x srcset='y 1x, a 2x'>", f'<img src="{PICTURE}a" srcset="{PICTURE}a 2x">', "a"),
        ("<img src=a srcset='x 1x, y 2x'>", f'<img src="{PICTURE}a">', "a"),
        ("<img srcset='x 1x, y 2x'>", f'<img src="{PICTURE}x">', "x"),
        (f"<img src='{BLANK}'>", f'<img src="{BLANK}">', ""),
        ("<img data-src=a><noscript><img src=a></noscript>", f'<img data-src="a" src="{PICTURE}a">', "a"),
        (
            f"<picture><source srcset=x><img src='{BLANK}'></picture>",
            f'<picture><source><img src="{PICTURE}x"></picture>',
            "x",
        ),
        (
            "<picture><source data-srcset=a><img src=b></picture>",
            f'<picture><source data-srcset="a" srcset="{PICTURE}a"><img src="{PICTURE}b"></picture>',
            "ab",
        ),
    ],
)
def test_a_picture_is_shown_with_what_was_captured(given: str, made: str, asked: str) -> None:
    """Of a and b there is a capture, of x and y there is none: what is asked for and not there is missing."""

    def there(urls: Collection[str]) -> set[str]:
        return {f"{SHOP}a", f"{SHOP}b"} & set(urls)

    found = shown_page(given.encode(), "text/html", HERE, there)
    body = found.body.decode()
    assert body[body.index("<body>") + 6 : body.index("</body>")] == made
    assert sorted(found.resources) == [f"{SHOP}{name}" for name in asked]


def test_frames_and_films_are_filled_too() -> None:
    """Where they are empty."""
    found = shown_page(b"<iframe src=about:blank data-src=f></iframe><video data-src=v></video>", "", HERE)
    assert f'src="{INTO}if_/{SHOP}f"'.encode() in found.body
    assert sorted(found.resources) == [f"{SHOP}f", f"{SHOP}v"]


PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


@pytest.mark.parametrize(
    ("kind", "body", "content_type", "saved"),
    [
        ("text/html", PNG, "image/png", False), ("", PNG, "image/png", False),
        ("", b"<!doctype html><p>x", "text/html; charset=utf-8", False),
        ("image/png", b"<script>", "image/png", False), ("image/svg+xml", b"<svg>", "image/svg+xml", True),
        ("application/javascript", b"evil()", "text/plain; charset=utf-8", False),
        ("text/xml", b"<?xml-stylesheet href='x'?><a/>", "text/plain; charset=utf-8", False),
        ("multipart/x-mixed-replace", b"<script>", "application/octet-stream", True),
        ("application/pdf", b"%PDF-1.4", "application/pdf", True),
        ("text/html Set-Cookie: a=b", b"x", "application/octet-stream", True),
        ("font/woff2", b"wOF2", "font/woff2", False),
        ("application/octet-stream", b"\x00\x01\x00\x00\x00\x0c", "font/ttf", False),
        ("binary/octet-stream", b"OTTO\x00\x0c", "font/otf", False),
        ("application/octet-stream", b"\x00\x00\x01\x00\x01\x00", "image/x-icon", False),
        ("text/css", b"a{background:url(/p.png)}", "text/css; charset=utf-8", False),
    ],
)  # fmt: skip
def test_content_types_go_by_a_list(kind: str, body: bytes, content_type: str, *, saved: bool) -> None:
    """Whatever the site said of its answers, and whatever is in them."""
    how = showable(kind, body)
    headers = dict(headers_of(how))
    assert how.content_type == headers["Content-Type"] == content_type
    assert ("Content-Disposition" in headers) is saved
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "allow-scripts" not in headers["Content-Security-Policy"]


def test_only_a_font_is_asked_for_in_the_name_of_an_origin() -> None:
    """A sandboxed page has none; nobody else may read what is shown, and what is stored is only saved."""
    headers = {
        kind: dict(headers_of(showable(kind, b""))) for kind in ("font/woff2", "image/png", "text/html")
    }
    allowed = [each.get("Access-Control-Allow-Origin") for each in headers.values()]
    readable = [each["Cross-Origin-Resource-Policy"] for each in headers.values()]
    assert (allowed, readable[1:]) == (["null", None, None], ["cross-origin", "same-origin"])
    assert ("Content-Disposition", "attachment") in headers_of(showable("text/html", b""), as_stored=True)


def test_a_status_goes_out_if_it_has_a_body() -> None:
    """What a browser would act on does not."""
    stored = (None, 200, 204, 206, 301, 304, 404, 500, 103, 999)
    assert [status_of(each) for each in stored] == [200, 200, 200, 200, 200, 200, 404, 500, 200, 200]
