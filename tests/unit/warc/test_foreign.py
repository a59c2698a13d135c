"""Valid records of other programs are read as valid, packed or not."""

from __future__ import annotations

import gzip

import pytest

from tests.unit.warc import foreign
from tests.unit.warc.made import entries, stretches


@pytest.mark.parametrize("is_packed", [True, False], ids=["packed", "plain"])
def test_each_form_is_valid(*, is_packed: bool) -> None:
    """No stretch is damaged, and no digest is wrong."""
    records = foreign.records()
    data = foreign.packed(records) if is_packed else b"".join(records.values())
    found = {(each.head.url or "").rpartition("/")[2]: each for each in entries(data)}
    assert stretches(data) == []
    assert list(found) == list(records)
    assert sum(each.digests_wrong for each in found.values()) == 0
    checked = {path: each.digests_checked for path, each in found.items() if each.digests_checked}
    assert checked == {"folded-digest": 1, "minus": 1, "underline": 1}
    assert found["folded"].head.get("x-note") == "one two: 2 WARC-Type: forged"
    assert found["nul"].head.get("x-note") == "a\0b"


@pytest.mark.parametrize("path", ["folded-digest", "minus", "underline"])
def test_their_digests_are_compared(path: str) -> None:
    """Another body is not what they say."""
    record = foreign.records()[path].replace(b"clay", b"gold")
    [found] = entries(gzip.compress(record))
    assert (found.digests_checked, found.digests_wrong) == (1, 1)


def test_damage_between_them_costs_one_record() -> None:
    """Reading goes on at a record in small letters, too."""
    records = foreign.records()
    for data in (foreign.packed(records), b"".join(records.values())):
        before, damaged = (
            next(each for each in entries(data) if (each.head.url or "").endswith(f"/{path}"))
            for path in ("folded", "folded-digest")
        )
        end = before.offset + before.length
        broken = data[:end] + bytes(20) + data[end + 20 :]
        lost = [each.offset for each in entries(data) if each not in entries(broken)]
        assert lost == [damaged.offset]
        assert [(bad.offset, bad.length) for bad in stretches(broken)] == [(damaged.offset, damaged.length)]
