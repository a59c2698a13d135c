"""An erased record leaves its length, and nothing else; its neighbours do not notice."""

from __future__ import annotations

from io import BytesIO

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from crawler.warc.eraser import TooShortError, erasure
from tests.unit.warc.made import AT, entries, pages, stretches

BLOCK = 65_540  # of the packed format: so much at a time


@pytest.mark.parametrize(
    "length",
    [*range(240, 300), 5000, *range(BLOCK + 8, BLOCK + 30), *range(2 * BLOCK, 2 * BLOCK + 30), 3_000_000],
)
def test_any_length(length: int) -> None:
    """To the byte, in a member that everybody reads."""
    data = b"".join(erasure(length, AT))
    assert len(data) == length
    [found] = entries(data)
    assert (found.head.kind, found.length) == ("metadata", length)
    assert [each.rec_type for each in ArchiveIterator(BytesIO(data))] == ["metadata"]


def test_a_record_in_the_midst_of_others() -> None:
    """It is gone, its place is as large as before, and everybody reads what is around it."""
    data, pairs = pages(5)
    offset, pair = pairs[2]
    erased = data[:offset] + b"".join(erasure(pair.length, AT)) + data[offset + pair.length :]
    before, after = entries(data), entries(erased)
    assert [each.offset for each in before] == [each.offset for each in after]
    assert [each.head.kind for each in after].count("metadata") == 1
    assert stretches(erased) == []
    assert len(list(ArchiveIterator(BytesIO(erased)))) == len(list(FastIterator(BytesIO(erased)))) == 11


def test_a_record_that_is_not_packed() -> None:
    """The same in a plain file."""
    [found] = entries(b"".join(erasure(1000, AT, is_packed=False)))
    assert (found.head.kind, found.length) == ("metadata", 1000)


def test_a_record_that_is_too_short() -> None:
    """Is refused before anything is written."""
    with pytest.raises(TooShortError, match="too short"):
        list(erasure(200, AT))
