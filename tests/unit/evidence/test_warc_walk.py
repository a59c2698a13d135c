"""Several threads read a large file, and find in it what one finds that goes through it record by record."""

from __future__ import annotations

import gzip
import threading
from contextlib import closing
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING

import pytest

from crawler.evidence import warc_walk
from crawler.evidence.warc_walk import walk
from crawler.warc.reader import Bad, Entry
from tests.unit.warc.made import entries, exchange, made, page

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 60


def large(seed: int = 0) -> bytes:
    """Records of very different sizes, an archive among them that is stored as it came."""
    dice = Random(seed)
    inner, _ = made(exchange("https://bank.example/forged", b"you owe me"))
    bodies = [page(number, dice.choice((10, 1000, 20_000))) for number in range(COUNT)]
    bodies[20:20] = [dice.randbytes(9000) + inner * 20 + dice.randbytes(3000), dice.randbytes(40_000)]
    data, _ = made(*(exchange(f"https://shop.example/{n}", body) for n, body in enumerate(bodies)))
    return data


def both(data: bytes, monkeypatch: pytest.MonkeyPatch, stretch: int) -> tuple[list[Entry | Bad], ...]:
    """What is found in stretches, and in one go."""
    monkeypatch.setattr(warc_walk, "STRETCH_BYTES", stretch)
    split = list(walk(BytesIO(data)))
    monkeypatch.setattr(warc_walk, "STRETCH_BYTES", len(data) + 1)
    return split, list(walk(BytesIO(data)))


SHAPES: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda data: data,
    "damaged": lambda data: data[:9000] + bytes(50) + data[9050:30_000] + data[30_100:-70],
    "damaged everywhere": lambda data: b"".join(
        data[at : at + 6000] + b"!" for at in range(0, len(data), 6000)
    ),
    "plain": gzip.decompress,
    "one member": lambda data: gzip.compress(gzip.decompress(data), 1),
    "stored": lambda data: b"".join(
        gzip.compress(gzip.decompress(data[each.offset : each.offset + each.length]), 0)
        for each in entries(data)
    ),
    "two files": lambda data: data[: len(data) // 2] + large(1),
    "nothing": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("stretch", [700, 50_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_stretches_change_nothing(shape: str, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records, digests and bad stretches, wherever the file is cut, and however it is damaged."""
    split, whole = both(SHAPES[shape](large()), monkeypatch, stretch)
    assert split == whole


def test_little_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a stretch may not hold is read when it is asked for, and is the same."""
    monkeypatch.setattr(warc_walk, "_MOST_HELD_BYTES", 30_000)
    monkeypatch.setattr(warc_walk, "_MOST_HELD", 7)
    split, whole = both(large(), monkeypatch, 20_000)
    assert split == whole


def test_who_stops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves nobody who still reads the file."""
    monkeypatch.setattr(warc_walk, "STRETCH_BYTES", 2000)
    before = threading.active_count()
    file = BytesIO(large())
    with closing(walk(file)) as records:
        assert isinstance(next(records), Entry)
    file.close()
    assert threading.active_count() == before
