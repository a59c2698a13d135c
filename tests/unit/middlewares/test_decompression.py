"""Packed answers that break off."""

from __future__ import annotations

import gzip
import sys
import time
import zlib
from typing import Any

import brotli
import pytest
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.capture.failures import Cause
from crawler.crawl.answers import OverpackedError, cause_of_answer, cause_of_error
from crawler.middlewares.decompression import DecompressionMiddleware, is_whole
from tests.unit.components import a_request, crawl_parts

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PAGE = b"".join(b"<p>%d</p>" % (number * number) for number in range(3_000))
GZIP, DEFLATE = gzip.compress(PAGE, mtime=0), zlib.compress(PAGE)
RAW = DEFLATE[2:-4]
BROTLI, ZSTD = brotli.compress(PAGE), zstd.compress(PAGE)


@pytest.mark.parametrize(
    ("data", "coding"),
    ids=["raw", "more", "plain", "other", "empty", "padded", "no zstd", "large brotli", "large zstd"],
    argvalues=[
        (RAW, b"deflate"), (GZIP + b"\0\0trailing", b"gzip"), (PAGE, b"gzip"), (GZIP[:99], b"br"),
        (gzip.compress(b"", mtime=0), b"gzip"), (ZSTD + b"\0", b"zstd"), (PAGE, b"zstd"),
        (brotli.compress(b"x" * 1_048_576), b"br"), (zstd.compress(b"x" * 1_048_576), b"zstd"),
    ],
)  # fmt: skip
def test_what_reaches_its_end_is_whole(data: bytes, coding: bytes) -> None:
    """So is what was never packed, whatever it says, and what cannot be unpacked here."""
    assert is_whole(data, coding)


def test_a_bomb_is_not_unpacked_to_its_end() -> None:
    """It is refused for its size by whoever unpacks it."""
    large = bytes(100_000_000)
    assert is_whole(gzip.compress(large, 1)[:-4], b"gzip")
    assert is_whole(brotli.compress(large, quality=1)[:-4], b"br")
    assert is_whole(zstd.compress(large)[:-4], b"zstd")


def unpacked(body: bytes, coding: str = "gzip", **settings: Any) -> Response:
    """What becomes of an answer."""
    middleware = DecompressionMiddleware.from_crawler(crawl_parts(**settings).crawler)
    request = a_request("https://shop.example/")
    answer = Response(request.url, body=body, headers={"Content-Encoding": coding}, request=request)
    passed = middleware.process_response(request, answer)
    assert isinstance(passed, Response)
    return passed


@pytest.mark.parametrize(
    ("body", "coding"),
    ids=["gzip", "gzip twice", "deflate", "brotli", "zstd", "both"],
    argvalues=[
        (GZIP, "gzip"), (gzip.compress(GZIP), "gzip, gzip"), (DEFLATE, "deflate"), (BROTLI, "br"),
        (ZSTD + ZSTD, "zstd"), (brotli.compress(GZIP), "gzip, br"),
    ],
)  # fmt: skip
def test_an_answer_is_unpacked_as_scrapy_would(body: bytes, coding: str) -> None:
    """One that breaks off is a truncated page."""
    request = a_request("https://shop.example/")
    answer = Response(request.url, body=body, headers={"Content-Encoding": coding}, request=request)
    scrapys = HttpCompressionMiddleware.from_crawler(crawl_parts().crawler)
    theirs, ours = scrapys.process_response(request, answer), unpacked(body, coding)
    assert isinstance(theirs, Response)
    assert (ours.body, ours.headers, ours.flags) == (theirs.body, theirs.headers, theirs.flags)
    assert cause_of_answer(ours) is None
    if "," not in coding:
        for end in (5, len(body) // 4, len(body) - 9):
            assert cause_of_answer(unpacked(body[:end], coding)) == Cause.TRUNCATED


@pytest.mark.parametrize(("stream", "coding"), [(gzip.compress(b""), "gzip"), (zstd.compress(b""), "zstd")])
def test_streams_of_nothing_cost_nothing(stream: bytes, coding: str) -> None:
    """A megabyte of them took a second and each further one more; some are as usual as they ever were."""
    assert unpacked(stream * 5_000 + (GZIP if coding == "gzip" else ZSTD), coding).body == PAGE
    began = time.process_time()
    with pytest.raises(OverpackedError, match="streams"):
        unpacked(stream * 500_000, coding)
    assert time.process_time() - began < 10


def test_what_is_packed_again_and_again_is_not_unpacked() -> None:
    """Each time takes a pass over all of it, however little comes of it."""
    body = PAGE
    for _ in range(5):
        body = gzip.compress(body)
    with pytest.raises(OverpackedError) as refused:
        unpacked(body, ", ".join(["gzip"] * 5))
    assert cause_of_error(refused.value) is Cause.TOO_LARGE
    assert unpacked(gzip.decompress(body), ", ".join(["gzip"] * 4)).body == PAGE


def test_what_grows_too_large_is_refused() -> None:
    """By the byte, and before it is all there."""
    assert unpacked(GZIP, DOWNLOAD_MAXSIZE=len(PAGE)).body == PAGE
    with pytest.raises(IgnoreRequest, match="DOWNLOAD_MAXSIZE"):
        unpacked(GZIP, DOWNLOAD_MAXSIZE=len(PAGE) - 1)
