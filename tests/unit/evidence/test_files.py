"""Packed and unpacked, whole and in pieces."""

from __future__ import annotations

import gzip
import zlib

import pytest

from crawler.errors import IntegrityError
from crawler.evidence import files

PAGE = b"<html>" + b"<p>a chair</p>" * 5_000


def pieces(data: bytes, size: int) -> list[bytes]:
    """Data as it comes from a store."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def test_same_bytes_give_the_same_file() -> None:
    """No time and no name gets into a packed file, and any gzip can read it."""
    packed = files.gzipped(PAGE)
    assert packed == files.gzipped(PAGE)
    assert gzip.decompress(packed.data) == PAGE
    assert packed.checksum == files.sha256(packed.data)
    assert packed.content_sha256 == files.sha256(PAGE)


@pytest.mark.parametrize("size", [1, 7, 1000, 1_000_000])
@pytest.mark.parametrize("content", [b"", b"x", PAGE], ids=["empty", "one", "page"])
def test_pieces_unpack_to_the_whole(content: bytes, size: int) -> None:
    """However the bytes are cut, the content is the same."""
    data = files.gzipped(content).data
    assert b"".join(files.gunzipped_chunks(pieces(data, size))) == content
    assert files.gunzipped(data) == content


def test_joined_files_are_one() -> None:
    """Gzip files that were put behind each other unpack to all of their content."""
    data = files.gzipped(b"one").data + files.gzipped(b"two").data
    assert files.gunzipped(data) == b"onetwo"
    assert b"".join(files.gunzipped_chunks(pieces(data, 5))) == b"onetwo"


def test_large_content_comes_in_pieces() -> None:
    """A bomb is never held whole."""
    data = files.gzipped(bytes(50_000_000)).data
    assert max(map(len, files.gunzipped_chunks([data]))) <= 1024 * 1024


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no gzip at all", "no gzip file"),
        (b"", "cut short"),
        (files.gzipped(PAGE).data[:-9], "cut short"),
        (files.gzipped(PAGE).data + b"tail", "no gzip file"),
        (zlib.compress(PAGE), "no gzip file"),
        (files.gzipped(PAGE).data[:-8] + bytes(8), "no gzip file"),  # its own checksum is wrong
    ],
    ids=["text", "nothing", "cut", "tail", "zlib", "checksum"],
)
def test_damaged_file_is_an_integrity_error(data: bytes, why: str) -> None:
    """What does not unpack is said so, and nothing is made up."""
    with pytest.raises(IntegrityError, match=why):
        files.gunzipped(data)


def test_content_over_the_limit_is_refused() -> None:
    """The limit counts unpacked bytes."""
    data = files.gzipped(PAGE).data
    assert files.gunzipped(data, len(PAGE)) == PAGE
    with pytest.raises(IntegrityError, match="more than is allowed"):
        files.gunzipped(data, len(PAGE) - 1)
