"""Packed answers that break off."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import pytest
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.capture.failures import Cause
from crawler.crawl.answers import cause_of_answer
from crawler.middlewares.decompression import DecompressionMiddleware, is_whole
from tests.unit.components import a_request, crawl_parts

PAGE = b"".join(b"<p>%d</p>" % (number * number) for number in range(3_000))
GZIP, DEFLATE = gzip.compress(PAGE, mtime=0), zlib.compress(PAGE)
RAW = DEFLATE[2:-4]


@pytest.mark.parametrize(
    ("data", "coding"),
    ids=["gzip", "x-gzip", "deflate", "raw", "twice", "more", "plain", "short", "other", "empty", "large"],
    argvalues=[
        (GZIP, b"gzip"), (GZIP, b"x-gzip"), (DEFLATE, b"deflate"), (RAW, b"deflate"), (GZIP + GZIP, b"gzip"),
        (GZIP + b"\0\0trailing", b"gzip"), (PAGE, b"gzip"), (PAGE[:9], b""), (GZIP[:99], b"br"),
        (gzip.compress(b"", mtime=0), b"gzip"), (gzip.compress(b"x" * 262_144, mtime=0), b"gzip"),
    ],
)  # fmt: skip
def test_what_reaches_its_end_is_whole(data: bytes, coding: bytes) -> None:
    """So is what was never packed, whatever it says, and what nobody here can look into."""
    assert is_whole(data, coding)


@pytest.mark.parametrize(
    ("data", "coding"),
    [(GZIP, b"gzip"), (DEFLATE, b"deflate"), (RAW, b"deflate"), (GZIP + GZIP, b"gzip")],
    ids=["gzip", "deflate", "raw", "twice"],
)
def test_what_breaks_off_anywhere_is_not(data: bytes, coding: bytes) -> None:
    """In the header, in the middle, and before the last byte of a checksum."""
    cuts = [5, len(data) // 4, len(data) - (1 if data != RAW else 9)]
    assert not any(is_whole(data[:cut], coding) for cut in cuts)


def test_a_bomb_is_not_unpacked_to_its_end() -> None:
    """It is refused for its size by whoever unpacks it."""
    assert is_whole(gzip.compress(bytes(200_000_000), 1)[:-4], b"gzip")


def unpacked(body: bytes, coding: str = "gzip", **settings: Any) -> Response:
    """What becomes of an answer."""
    middleware = DecompressionMiddleware.from_crawler(crawl_parts(**settings).crawler)
    request = a_request("https://shop.example/")
    answer = Response(request.url, body=body, headers={"Content-Encoding": coding}, request=request)
    passed = middleware.process_response(request, answer)
    assert isinstance(passed, Response)
    return passed


def test_an_answer_that_breaks_off_is_truncated() -> None:
    """And one after it that does not is not."""
    assert cause_of_answer(unpacked(GZIP[:-9])) == Cause.TRUNCATED
    assert cause_of_answer(unpacked(GZIP)) is None
    assert cause_of_answer(unpacked(DEFLATE[:-9], "deflate")) == Cause.TRUNCATED


@pytest.mark.parametrize(
    ("body", "coding"),
    ids=["one", "empty", "two", "trailing", "gzip twice", "deflate"],
    argvalues=[
        (GZIP, "gzip"), (gzip.compress(b"", mtime=0), "gzip"), (GZIP + GZIP, "x-gzip"),
        (GZIP + b"\0\0", "gzip"), (gzip.compress(GZIP), "gzip, gzip"), (DEFLATE, "deflate"),
    ],
)  # fmt: skip
def test_it_is_unpacked_as_scrapy_would(body: bytes, coding: str) -> None:
    """Whichever way it takes."""
    parts = crawl_parts()
    request = a_request("https://shop.example/")
    answer = Response(request.url, body=body, headers={"Content-Encoding": coding}, request=request)
    theirs = HttpCompressionMiddleware.from_crawler(parts.crawler).process_response(request, answer)
    assert isinstance(theirs, Response)
    ours = unpacked(body, coding)
    assert (ours.body, ours.headers, ours.flags) == (theirs.body, theirs.headers, theirs.flags)


def test_what_grows_too_large_is_refused() -> None:
    """By the byte, and before it is all there."""
    assert unpacked(GZIP, DOWNLOAD_MAXSIZE=len(PAGE)).body == PAGE
    with pytest.raises(IgnoreRequest, match="DOWNLOAD_MAXSIZE"):
        unpacked(GZIP, DOWNLOAD_MAXSIZE=len(PAGE) - 1)
