"""Members are unpacked a piece at a time, wherever they end; records are found again behind damage."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from operator import itemgetter
from random import Random

import pytest

from crawler.warc import members
from crawler.warc.members import BadRecordError, FileBytes, Members, Plain, candidates, size_from
from crawler.warc.messages import PIECE_BYTES

RECORD = b"WARC/1.1\r\nWARC-Type: response\r\n\r\n"
NOISE = Random(7).randbytes(300_000)


def all_of(source: Members | Plain) -> bytes:
    """Everything up to the end of the record."""
    data = b""
    while piece := source.more_of_record():
        data += piece
    return data


@pytest.mark.parametrize("size", [0, 1, 30_000, 32_768, 300_000])
@pytest.mark.parametrize(
    "behind", [b"", gzip.compress(RECORD, mtime=0), b"junk"], ids=["end", "another", "junk"]
)
def test_a_member_ends_where_it_ends(size: int, behind: bytes) -> None:
    """However large it is, and whatever follows; what was read ahead is given back."""
    data = RECORD + NOISE[:size]
    packed = gzip.compress(data)
    source = Members(FileBytes(BytesIO(b"before" + packed + behind)), 6)
    assert all_of(source) == data
    assert source.end == 6 + len(packed)


def test_members_that_begin_no_record_belong_to_the_one_before() -> None:
    """Old writers ended one where they liked."""
    parts = [
        gzip.compress(RECORD + b"one"),
        gzip.compress(b"two"),
        gzip.compress(b""),
        gzip.compress(b"three"),
    ]
    data = b"".join(parts) + gzip.compress(RECORD)
    source = Members(FileBytes(BytesIO(data)), 0)
    found = all_of(source)
    assert found.startswith(RECORD + b"onetwo")
    assert source.end <= sum(map(len, parts))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (itemgetter(slice(-9)), "cut_short"), (itemgetter(slice(5)), "cut_short"),
        (lambda data: data[:-8] + b"\0\0\0\0" + data[-4:], "checksum"),
        (lambda data: data[:10] + b"\xff" * 20 + data[30:], "gzip"), (lambda data: b"PK" + data[2:], "gzip"),
    ],
)  # fmt: skip
def test_damage_has_a_name(spoil: object, reason: str) -> None:
    """It is not read past."""
    data = spoil(gzip.compress(RECORD + NOISE[:5_000]))  # type: ignore[operator]
    with pytest.raises(BadRecordError) as bad:
        all_of(Members(FileBytes(BytesIO(data)), 0))
    assert bad.value.reason == reason


def test_a_bomb_comes_in_pieces() -> None:
    """What is held at once is bounded, whatever it unpacks to."""
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = bomb.compress(bytes(20_000_000)) + bomb.flush()
    source = Members(FileBytes(BytesIO(data)), 0)
    assert max(len(source.more()) for _ in range(50)) <= PIECE_BYTES


def test_records_are_found_behind_damage() -> None:
    """Of members that begin one; what only looks like a beginning is none."""
    data = (
        b"\x1f\x8b\x08junk"
        + gzip.compress(b"no record")
        + gzip.compress(RECORD)
        + b"\x1f\x8b"
        + gzip.compress(RECORD)
    )
    found = list(candidates(FileBytes(BytesIO(data)), 0, is_packed=True))
    assert [data[at:].startswith(b"\x1f\x8b\x08") for at, _ in found] == [True, True]
    assert all(head.startswith(RECORD) for _, head in found)


@pytest.mark.parametrize("step", [members.PEEK_BYTES, members.READ_BYTES])
def test_a_beginning_across_two_steps_is_found(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the file is cut while it is read."""
    for shift in range(-12, 3):
        data = b"x" * (members.READ_BYTES + shift - 1) + b"\n" + RECORD
        found = list(candidates(FileBytes(BytesIO(data), step), 0, is_packed=False))
        assert [at for at, _ in found] == [members.READ_BYTES + shift]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (RECORD, [0]), (b"x" + RECORD, []), (b"x\r\n" + RECORD, [3]), (b"\nWARC/9.9\r\n", []),
        (b"\nWARC/1.0\nA: b", [1]), (b"a WARC/1.1 in a text", []),
    ],
)  # fmt: skip
def test_in_a_file_that_is_not_packed_a_line_begins_one(text: bytes, places: list[int]) -> None:
    """Not a word in a text."""
    assert [at for at, _ in candidates(FileBytes(BytesIO(text)), 0, is_packed=False)] == places


def test_bytes_from_anywhere() -> None:
    """Forwards and backwards, and none behind the end."""
    file = FileBytes(BytesIO(NOISE), 8_192)
    for offset, length in ((100_000, 20_000), (5, 10), (299_990, 100), (0, 1), (300_000, 5)):
        assert file.exactly(offset, length) == NOISE[offset : offset + length]
    assert size_from(file, 12_345) == len(NOISE)
    plain = Plain(FileBytes(BytesIO(NOISE)), 299_000)
    assert (all_of(plain), plain.end) == (NOISE[299_000:], 300_000)
