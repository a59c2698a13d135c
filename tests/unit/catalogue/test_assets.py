"""What changed between two versions of an asset."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.catalogue.assets import Change, changes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=4)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {}, []),
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [Change("a", "changed", 1, 2)]),
        ({"a": None}, {}, [Change("a", "removed")]),
        ({}, {"a": None}, [Change("a", "added")]),
        ({"a": 1}, {"a": True}, [Change("a", "changed", before=1, after=True)]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3, 4]}}, [
            Change("a.b.1", "changed", 2, 3), Change("a.b.2", "added", None, 4),
        ]),
        ({"a": [1]}, {"a": {"0": 1}}, [Change("a", "changed", [1], {"0": 1})]),
        ({"b": 1, "c": 1}, {"c": 2, "a": 1}, [
            Change("a", "added", None, 1), Change("b", "removed", 1), Change("c", "changed", 1, 2),
        ]),
    ],
)  # fmt: skip
def test_each_difference_is_told_where_it_is(
    before: dict[str, Any], after: dict[str, Any], found: list[Change]
) -> None:
    """By its path, in the order of the paths."""
    assert changes(before, after) == found


@given(OBJECTS, OBJECTS)
def test_nothing_is_overlooked(before: dict[str, Any], after: dict[str, Any]) -> None:
    """There is a change exactly where there is a difference, and the way back has as many."""
    assert changes(before, before) == []
    found = changes(before, after)
    assert bool(found) is (json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True))
    assert [change.path for change in changes(after, before)] == [change.path for change in found]
