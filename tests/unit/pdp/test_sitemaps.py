"""Sitemaps as they stream in."""

from __future__ import annotations

import gzip
import time
import zlib

from crawler.pdp import sitemap_urls

PAGES = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://shop.example/p/1?a=1&amp;b=2 </loc><image:image><image:loc>https://shop.example/1.jpg</image:loc>
</image:image></url><url><loc>https://shop.example/p/2</loc></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>https://shop.example/s1.xml</loc></sitemap></sitemapindex>"


def split(body: bytes, size: int) -> list[bytes]:
    """Cut a body into chunks."""
    return [body[at : at + size] for at in range(0, len(body), size)]


def test_pages_and_children() -> None:
    """Pages and child sitemaps are told apart; addresses of images are neither."""
    assert sitemap_urls([PAGES]).pages == ("https://shop.example/p/1?a=1&b=2", "https://shop.example/p/2")
    assert sitemap_urls([INDEX]).sitemaps == ("https://shop.example/s1.xml",)


def test_chunks_may_be_cut_anywhere() -> None:
    """The same sitemap in pieces of any size says the same, packed or not."""
    whole = sitemap_urls([PAGES])
    for size in (1, 2, 7, 64):
        assert sitemap_urls(split(PAGES, size)) == whole
        assert sitemap_urls(split(gzip.compress(PAGES), size)) == whole


def test_limit() -> None:
    """Reading stops at the limit."""
    body = (
        b"<urlset>"
        + b"".join(b"<url><loc>https://shop.example/%d</loc></url>" % n for n in range(100))
        + b"</urlset>"
    )
    read = sitemap_urls([body], limit=10)
    assert len(read.pages) == 10


def test_gzip_bomb() -> None:
    """A small bomb is unpacked no further than the cap."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * 1_000_000) for _ in range(200)) + packer.flush()
    read = sitemap_urls([bomb], max_bytes=1_000_000)
    assert read.pages == ()


def test_streams_of_nothing() -> None:
    """They are read as one, and as long as there are no more of them than anybody writes."""
    nothing = gzip.compress(b"")
    assert sitemap_urls([nothing * 5_000 + gzip.compress(PAGES)]) == sitemap_urls([PAGES])
    began = time.process_time()
    assert sitemap_urls([nothing * 1_000_000 + gzip.compress(PAGES)]).pages == ()
    assert time.process_time() - began < 10


def test_damaged_gzip() -> None:
    """What came before the damage is kept."""
    packed = gzip.compress(PAGES)
    assert sitemap_urls([packed + b"\xff" * 30]) == sitemap_urls([PAGES])
    assert sitemap_urls([packed[:-30] + b"\xff" * 30]).pages == ()
    assert sitemap_urls([b"\x1f\x8bnothing"]).pages == ()
