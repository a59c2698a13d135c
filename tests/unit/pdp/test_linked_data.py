"""JSON as pages write it."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.pdp.linked_data import MAX_CHARS, read_json


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('{"a": 19.90}', [{"a": "19.90"}]),
        ('\ufeff {"a": 1};', [{"a": 1}]),
        ('{"a": [1, 2,], }', [{"a": [1, 2]}]),
        ('{"a": "x,}"}', [{"a": "x,}"}]),
        ('<!-- {"a": 1} -->', [{"a": 1}]),
        ('//<![CDATA[\n{"a": 1}\n//]]>', [{"a": 1}]),
        ('/*<![CDATA[*/{"a": 1}/*]]>*/', [{"a": 1}]),
        ('{"a": "line\nbreak\ttab"}', [{"a": "line\nbreak\ttab"}]),
        ("{&quot;a&quot;: &quot;b&quot;}", [{"a": "b"}]),
        ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": 1},\n{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": 1} and more', [{"a": 1}]),
        ('{"url": "https://x.example/a,b", /* why */ "b": 2}', [{"url": "https://x.example/a,b", "b": 2}]),
        ('{"a": NaN}', [{"a": None}]),
        ("", []),
        ("var x = 1", []),
        ('{"a": ', []),
    ],
)
def test_damage(text: str, documents: list[Any]) -> None:
    """What people and templates do to JSON is undone, and what cannot be read is left out."""
    assert read_json(text) == documents


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        '"\\' * 100_000,
        '{"a": "' + "\\" * 100_001,
        "/*" * 100_000,
        "," * 200_000,
        "{" + " ," * 100_000,
        "<!--" * 50_000,
        "1" * 100_000,
        '"' + "x" * MAX_CHARS,
    ],
)
def test_hostile_text_is_read_in_bounded_time(text: str) -> None:
    """Deep, endless and half-open documents give what can be read of them, soon."""
    assert isinstance(read_json(text), list)
