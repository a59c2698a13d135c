"""All that a page leads to, and that no page makes that hard to say."""

from __future__ import annotations

import pytest

from crawler.pdp import read_page
from crawler.pdp.candidates import discover
from crawler.pdp.links import MAX_LINKS, MAX_MEDIA, page_links, page_media, robots_directives

HERE = "https://shop.example/c/cups?page=2"
PAGE = """
<nav><a href="/">Home</a><a href="/c/pots">Pots</a><a href="/p/1">Teaser</a><a href="/red.html">Red</a></nav>
<map><area href="/map"></map>
<ul class="product-grid">
  <li><a href="/red.html#reviews"><img src="/r.jpg"></a></li>
  <li><a href="/cart?add=1">Add</a></li>
</ul>
<a href="green.html?b=2&amp;a=1" rel="nofollow">Green</a><a href="?page=3">3</a><a href="#top">Top</a>
<a href="">Self</a><a>None</a><a href=" /padded ">Padded</a><a href="/manual.PDF?v=2">Manual</a>
<a href="https://other.example">Other</a><a href="//cdn.example/x">X</a><a href="../up/./x/">Up</a>
<a href="HTTPS://Shop.Example/Upper">Upper</a><a href="mailto:a@b.example">M</a><a href="/user@home">At</a>
<a href="/ü">Ü</a>
"""


def links(body: str, url: str = HERE) -> dict[str, bool]:
    """The links of a page."""
    return page_links(read_page(body.encode(), url=url, content_type="text/html; charset=utf-8"))


def media(body: str) -> list[str]:
    """The media of a page, without scheme and host of their own site."""
    found = page_media(read_page(body.encode(), url=HERE))
    return [url.removeprefix("https://shop.example") for url in found]


def test_every_link_once_and_in_order() -> None:
    """Absolute, without fragments; what looks like a product is known by its path or by where it stands."""
    assert links(PAGE) == {
        "https://shop.example/": False,
        "https://shop.example/c/pots": False,
        "https://shop.example/p/1": True,
        "https://shop.example/red.html": True,
        "https://shop.example/map": False,
        "https://shop.example/cart?add=1": False,
        "https://shop.example/c/green.html?b=2&a=1": False,
        "https://shop.example/c/cups?page=3": False,
        "https://shop.example/padded": False,
        "https://other.example/": False,
        "https://cdn.example/x": False,
        "https://shop.example/up/x/": False,
        "https://Shop.Example/Upper": False,
        "https://shop.example/user@home": False,
        "https://shop.example/ü": False,
    }
    assert list(links(PAGE))[:4] == [
        f"https://shop.example{path}" for path in ("/", "/c/pots", "/p/1", "/red.html")
    ]


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://m.shop.example/de/", "https://m.shop.example/de/x"),
        ("/sub/", "https://shop.example/sub/x"),
        ("javascript:alert(1)", "https://shop.example/c/x"),
        ("https://u:p@shop.example/", "https://shop.example/c/x"),
        ("https://sh op.example/", "https://shop.example/c/x"),
        ("https://[::1/", "https://shop.example/c/x"),
    ],
)
def test_links_are_read_against_the_base_of_the_page(base: str, address: str) -> None:
    """If that is one."""
    assert list(links(f'<base target="_blank"><base href="{base}"><a href="x">x</a>')) == [address]


HOSTILE = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,<p>",
    "ftp://shop.example/x",
    "https://user@shop.example/x",
    "https://user:pass@shop.example/x",
    "//user@shop.example/x",
    "/a b",
    "/a\\b",
    "https:\\\\shop.example\\x",
    "/a\nb",
    "/a\x01b",
    "http://ev℀.example/x",
    "http://u@ev℀.example/",
    "//ev℀.example/x",
    "http://[::1/x",
    "http://a]b/x",
    "//[",
    "http://",
    "https:///x",
    "http://?x",
    "http:/x",
    "/" + "a" * 9000,
    "x" * 1_000_000,
    "https://shop.example/" + "?" * 9000,
]


@pytest.mark.parametrize("href", HOSTILE, ids=range(len(HOSTILE)))
def test_an_odd_address_is_passed_over(href: str) -> None:
    """It is no link, no picture and no error; the next one is there."""
    body = f'<a href="{href}">x</a><img src="{href}"><img srcset="{href} 2x"><a href="/y">y</a><img src=/z>'
    page = read_page(body.encode(), url=HERE, content_type="text/html; charset=utf-8")
    assert set(page_links(page)) == {"https://shop.example/y"}
    assert [candidate.url for candidate in discover(page)][-1:] == ["https://shop.example/y"]
    assert "https://shop.example/z" in page_media(page)
    assert not any(url.startswith(("javascript", "data", "ftp")) or "@" in url for url in page_media(page))


def test_the_media_of_a_page() -> None:
    """The largest of each picture, what plays, and PDF files; each once and in order."""
    body = """
    <img src="/s.jpg" srcset="/m.jpg 400w, /l.jpg 800w, /s.jpg 200w">
    <img src="/one.jpg" srcset="/one.jpg 1x,/two.jpg 2x"><img src="/s.jpg"><img src="/s.jpg#a">
    <img src="data:image/gif;base64,R0lGOD" data-src="/lazy.jpg">
    <img srcset="/t/w_300,h_200/a.jpg, /t/w_600,h_400/a.jpg 1.5x,">
    <picture><source srcset="/w.webp 1x, /w2.webp 2x"><img src="/w.jpg"></picture>
    <video src="/v.mp4"><source src="/v.webm"></video><audio src="/a.mp3"></audio>
    <a href="/manual.PDF?v=2">Manual</a><a href="/x.html">X</a><img><img src=""><img srcset=" , ,, ">
    """
    assert media(body) == [
        "/l.jpg", "/two.jpg", "/s.jpg", "/lazy.jpg", "/t/w_600,h_400/a.jpg", "/w2.webp", "/w.jpg", "/v.mp4",
        "/v.webm", "/a.mp3", "/manual.PDF?v=2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "directives"),
    [
        ("noindex, NoFollow", ("noindex", "nofollow")),
        ("none", ("none", "noindex", "nofollow")),
        ("max-image-preview:large;<script>,index", ("index",)),
        ("", ()),
    ],
)
def test_what_robots_are_told(content: str, directives: tuple[str, ...]) -> None:
    """Each word once, in small letters."""
    body = f'<meta name="Robots" content="{content}"><meta name="description" content="nofollow">'
    assert robots_directives(read_page(body.encode(), url=HERE)) == directives


def test_links_and_media_of_a_page_are_bounded() -> None:
    """Whatever a page shows; repetitions do not count."""
    links_of = read_page("".join(f"<a href=/{n}>x</a>" for n in range(MAX_LINKS + 9)).encode(), url=HERE)
    assert len(page_links(links_of)) == MAX_LINKS
    repeated = read_page(b"<a href=/x>x</a>" * 100_000 + b"<a href=/y>y</a>", url=HERE)
    assert list(page_links(repeated)) == ["https://shop.example/x"]
    assert len(media("".join(f"<img src=/{n}.jpg>" for n in range(2000)))) == MAX_MEDIA
    assert media("<img srcset='" + "a," * 500_000 + "'>" + "<img src=/y.jpg>")[-1] == "/y.jpg"
