"""Packed answers that break off."""

from __future__ import annotations

import gzip
import zlib

import pytest
from scrapy.http import Response

from crawler.capture.failures import Cause
from crawler.crawl.answers import cause_of_answer
from crawler.middlewares.whole_bodies import WholeBodiesMiddleware, is_whole
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


def test_an_answer_that_breaks_off_is_truncated() -> None:
    """And one that does not is passed on as it is."""
    parts = crawl_parts()
    middleware = WholeBodiesMiddleware(parts.crawler, parts.context)
    request = a_request("https://shop.example/")
    for body, cause in ((GZIP, None), (GZIP[:-9], Cause.TRUNCATED)):
        answer = Response(request.url, body=body, headers={"Content-Encoding": "gzip"}, request=request)
        passed = middleware.process_response(request, answer)
        assert cause_of_answer(passed) == cause
        assert (passed is answer) == (cause is None)
