"""Whether an answer has come whole, told from what went by."""

from __future__ import annotations

import pytest

from crawler.rendering.wire import Body

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n"
CHUNKS = b"5;a=b\r\n<p>\r\n\r\nA\r\n0123\r\n\r\n89\r\n"


def whole(head: bytes, body: bytes, piece: int = 1, method: str = "GET") -> bool:
    """What is thought of a body that came in pieces of that size."""
    seen = Body.of(method, head)
    for at in range(0, len(body), piece):
        seen.add(body[at : at + piece])
    return seen.is_whole


@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_chunks_end_with_the_last_of_them(piece: int) -> None:
    """With its trailers, if it has any; an empty line within a chunk ends nothing."""
    assert whole(CHUNKED, CHUNKS + b"0\r\n\r\n", piece)
    assert whole(CHUNKED, CHUNKS + b"000\r\nServer-Timing: a\r\n\r\n", piece)
    assert not whole(CHUNKED, CHUNKS, piece)
    assert not whole(CHUNKED, CHUNKS + b"0\r\n", piece)
    assert not whole(CHUNKED, CHUNKS + b"0\r\nServer-Timing: a\r\n", piece)
    for end in range(len(CHUNKS)):
        assert not whole(CHUNKED, CHUNKS[:end], piece)


@pytest.mark.parametrize(
    "body", [b"no size\r\n\r\n0\r\n\r\n", b"-1\r\n0\r\n\r\n", b"1" * 9000 + b"\r\n0\r\n\r\n"]
)
def test_chunks_that_cannot_be_read_never_end(body: bytes) -> None:
    """A browser would give up, too."""
    assert not whole(CHUNKED, body, 100)


def test_a_body_with_a_length_has_it() -> None:
    """One without ends with its connection; some answers have none, whatever they say."""
    head = b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-length:  4 \r\n\r\n"
    assert whole(head, b"1234")
    assert not whole(head, b"123")
    assert whole(head, b"", method="HEAD")
    assert whole(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", b"")
    assert whole(b"HTTP/1.1 200 OK\r\n\r\n", b"")


def test_a_length_of_thousands_of_digits_is_none() -> None:
    """No number is made of it, which would be refused in the midst of an answer."""
    head = b"HTTP/1.1 200 OK\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n"
    assert Body.of("GET", head).length is None
