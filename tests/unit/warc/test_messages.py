"""Bodies are decoded as far as they are what they say, and never beyond a limit."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import brotli
import pytest

from crawler.warc.messages import MessageHead, TooLargeError, UndecodableError, decoded, fetched_url

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = b"<html>" + b"words and more words " * 5000
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
MB = 1024 * 1024


def head(**headers: str) -> MessageHead:
    """The head of an answer."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    found = MessageHead.of(f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode())
    assert found is not None
    return found


def read(said: MessageHead, body: bytes, piece: int = 1000, limit: int = 10 * MB) -> bytes:
    """A body as it is decoded from pieces of this size."""
    pieces = (body[at : at + piece] for at in range(0, len(body), piece))
    return b"".join(decoded(said, pieces, limit))


@pytest.mark.parametrize("piece", [1, 7, 1000, 10**7])
@pytest.mark.parametrize("coding", PACKED)
def test_packed_bodies(coding: str, piece: int) -> None:
    """Whatever pieces they come in."""
    assert read(head(Content_Encoding=coding), PACKED[coding](PAGE), piece) == PAGE


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "br", "zstd", "identity", ""])
def test_a_body_that_was_unpacked_under_its_old_header(coding: str) -> None:
    """Is taken as it is: archives are full of them."""
    assert read(head(Content_Encoding=coding), PAGE) == PAGE
    assert read(head(Content_Encoding=coding), b"") == b""


def test_packed_in_other_ways() -> None:
    """Deflate without its head, twice, in members that follow each other; too often or unknown is told."""
    machine = zlib.compressobj(wbits=-15)
    assert read(head(Content_Encoding="deflate"), machine.compress(PAGE) + machine.flush()) == PAGE
    twice = brotli.compress(gzip.compress(PAGE[:50_000]) + gzip.compress(PAGE[50_000:]))
    assert read(head(Content_Encoding="gzip, br"), twice) == PAGE
    with pytest.raises(UndecodableError, match="packed 5 times"):
        read(head(Content_Encoding="gzip,gzip,gzip,gzip,gzip"), b"x")
    with pytest.raises(UndecodableError, match="no way to unpack 'rot13'"):
        read(head(Content_Encoding="rot13"), b"x")


@pytest.mark.parametrize("piece", [1, 3, 5000])
def test_chunks(piece: int) -> None:
    """Whether they are still there or not, whatever the head says."""
    said = head(Transfer_Encoding="chunked")
    body = b"5\r\nhello\r\n1;x=y\r\n \r\nA\r\nbig world!\r\n0\r\n\r\n"
    assert read(said, body, piece) == b"hello big world!"
    assert read(head(), body, piece) == body
    if piece > 8:
        assert read(said, b"<html>no chunks", piece) == b"<html>no chunks"


@pytest.mark.parametrize(
    "body", [b"5\r\nhel", b"5\r\nhello\r\nzz\r\n", b"5\r\nhello", b"1\r\na\r\n" + b"z" * 9999]
)
def test_chunks_that_end_nowhere(body: bytes) -> None:
    """Are told."""
    with pytest.raises(UndecodableError):
        read(head(Transfer_Encoding="chunked"), body)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_a_broken_body(coding: str) -> None:
    """Is told, and not taken for a page."""
    packed = bytearray(PACKED[coding](bytes(range(256)) * 100))
    packed[5:25] = b"\xff" * 20
    with pytest.raises(UndecodableError, match=f"no {coding}"):
        read(head(Content_Encoding=coding), bytes(packed))


ZEROS = bytes(80 * MB)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("coding", PACKED)
def test_bombs(coding: str, times: int) -> None:
    """End at the limit of each step, and in a few pieces of memory."""
    packed = brotli.compress(ZEROS, quality=1) if coding == "br" else PACKED[coding](ZEROS)
    said = head(Content_Encoding=coding if times == 1 else f"{coding}, gzip")
    packed = packed if times == 1 else gzip.compress(packed)
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            for _ in decoded(said, [packed], 20 * MB):
                pass
        assert tracemalloc.get_traced_memory()[1] < 64 * MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_streams_of_nothing(coding: str) -> None:
    """They unpack to no size at which anybody would stop, and each costs time."""
    nothing = gzip.compress(b"") if coding == "gzip" else zstd.compress(b"")
    said = head(Content_Encoding=coding)
    assert b"".join(decoded(said, [nothing * 5_000])) == b""
    with pytest.raises(UndecodableError, match="streams"):
        list(decoded(said, [nothing * 20_000]))


def test_heads_are_read_leniently() -> None:
    """Bare line feeds, values that go on, bytes that are no UTF-8, a line that says nothing."""
    found = MessageHead.of(b"HTTP/1.1 200\nContent-Type : Text/HTML;\n  charset=x\nX: \xe9\nnothing\n\nbody")
    assert found is not None
    assert (found.status, found.mime_type, found.get(b"x")) == (200, "text/html", "é")
    assert found.size == len(b"HTTP/1.1 200\nContent-Type : Text/HTML;\n  charset=x\nX: \xe9\nnothing\n\n")
    assert MessageHead.of(b"HTTP/1.1 200 OK\r\nno end") is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://me:secret@shop.example/p?a=1#x", "https://shop.example/p?a=1"),
        ("https://shop.example", "https://shop.example/"),
        ("https://shop.example/a b\r\nX:1", "https://shop.example/a%20b%0D%0AX:1"),
        ("https://shop.example/é", "https://shop.example/%C3%A9"),
        ("https://shop.example/%e9?q=[1]", "https://shop.example/%e9?q=[1]"),
        ("https://[::1]:8000/p", "https://[::1]:8000/p"),
    ],
)
def test_urls_of_records(url: str, expected: str) -> None:
    """As they were fetched: no fragment, no password, nothing that ends a line."""
    assert fetched_url(url) == expected
