"""One record is read from its place on: in pieces, out of as many members as it lies in, and to its end."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
from io import BytesIO

import pytest

from crawler.evidence.warc_walk import walk
from crawler.warc.members import BadRecordError
from crawler.warc.messages import decoded
from crawler.warc.reader import Bad, body_of, open_record
from crawler.warc.records import record
from tests.unit.warc.made import entries, pages, stretches

MB = 1024 * 1024


def test_a_record_in_several_members() -> None:
    """As archives of 2015 have it: the head in one, the body in another."""
    good, _ = pages(1)
    whole = record("response", "<urn:1>", (("WARC-Target-URI", "https://a.example/"),), b"x" * 5000)
    data = gzip.compress(whole[:150]) + gzip.compress(whole[150:3000]) + gzip.compress(whole[3000:])
    found = entries(data + good)
    assert (found[0].block_length, found[0].length, len(found)) == (5000, len(data), 4)
    assert stretches(data + good) == []
    assert b"".join(open_record(BytesIO(data + good), 0).block()) == b"x" * 5000


def test_a_large_body_is_read_in_pieces() -> None:
    """However large it is: 200 MB of zeros in a few of memory, its digests made on the way."""
    size = 200 * MB
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    digest = hashlib.sha256()
    for _ in range(size // MB):
        digest.update(bytes(MB))
    begin = (
        f"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\n"
        f"WARC-Payload-Digest: sha256:{digest.hexdigest()}\r\nContent-Length: {size + len(head)}\r\n\r\n"
    ).encode() + head
    file = BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
        packed.write(begin)
        for _ in range(size // MB):
            packed.write(bytes(MB))
        packed.write(b"\r\n\r\n")
    tracemalloc.start()
    try:
        [found] = walk(file)
        assert not isinstance(found, Bad)
        assert (found.payload_ok, found.is_whole, found.block_length) == (True, False, size + len(head))
        message, pieces = body_of(open_record(file, 0))
        assert message is not None
        assert sum(map(len, decoded(message, pieces))) == size
        assert tracemalloc.get_traced_memory()[1] < 32 * MB
    finally:
        tracemalloc.stop()


def test_a_record_that_is_not_there() -> None:
    """Is told as damage, by whoever asks for one."""
    data, pairs = pages(2)
    for wrong in (1, len(data), pairs[0][0] + 1):
        with pytest.raises(BadRecordError):
            open_record(BytesIO(data), wrong)
    cut = BytesIO(data[: pairs[1][0] + 500])
    with pytest.raises(BadRecordError, match="cut_short"):
        b"".join(open_record(cut, pairs[1][0]).block())
