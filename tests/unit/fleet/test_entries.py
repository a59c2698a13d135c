"""What may be fed to a fleet, and what is said of the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.errors import CrawlerError, UsageError
from crawler.fleet.entries import ARGUMENTS, MAX_ENTRY_BYTES, arguments_of, shown_entry

URL = "https://shop.example/p/1"


@pytest.mark.parametrize(
    ("entry", "asks_for"),
    [
        (f" {URL}\n", {"url": URL}),
        (json.dumps({"url": URL}), {"url": URL}),
        (json.dumps({"url": URL, "meta": None, "method": "get"}), {"url": URL}),
        (json.dumps({"url": URL, "retention": "long"}), {"url": URL, "retention": "long"}),
        (
            json.dumps({"url": URL, "mode": "standard", "meta": {"mode": "debug"}}),
            {"url": URL, "mode": "debug"},
        ),
        (json.dumps({"url": URL, "meta": {"_job": {"deep": 1}, "render": 0}}), {"url": URL, "render": "0"}),
        (json.dumps({"pdp": URL}), {"url": "https://shop.example/", "pdp": URL}),
    ],
)
def test_an_entry_is_a_url_or_an_object(entry: str, asks_for: dict[str, str]) -> None:
    """Our arguments stand beside the URL or in its meta, which wins; marks with an underscore are free."""
    assert arguments_of(entry.encode()) == asks_for


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("", "names no url"),
        ("shop.example", "http or https"),
        (f"{URL} {URL}", "space"),
        ("[1]", "list"),
        ("[" * 60_000, "no JSON"),
        (json.dumps({"url": URL, "meta": "debug"}), "meta"),
        (json.dumps({"url": URL, "formdata": {"q": "1"}}), "formdata"),
        (json.dumps({"url": URL, "urls": "/etc/passwd"}), "urls"),
        (json.dumps({"url": URL, "method": "POST"}), "method"),
        (json.dumps({"url": URL, "mode": ["debug"]}), "mode is no text"),
        ("x" * (MAX_ENTRY_BYTES + 1), "too long"),
    ],
)
def test_a_bad_entry_is_told_apart(entry: str, says: str) -> None:
    """In a sentence that whoever feeds the fleet can act on."""
    with pytest.raises(UsageError, match=says):
        arguments_of(entry.encode())


def test_an_entry_may_come_in_another_encoding() -> None:
    """REDIS_ENCODING, as with scrapy-redis."""
    assert arguments_of("https://shop.example/é".encode("latin-1"), "latin-1") == {
        "url": "https://shop.example/é"
    }
    with pytest.raises(UsageError, match="utf-8"):
        arguments_of(b"\xff\xfe")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from([*ARGUMENTS, "meta", "method", "x"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.binary() | st.text().map(str.encode) | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_is_fed_is_taken_or_refused(entry: bytes) -> None:
    """There is no third way out, and what is taken names a URL in text."""
    try:
        taken = arguments_of(entry)
    except CrawlerError:
        return
    assert taken["url"].startswith("http")
    assert set(taken) <= set(ARGUMENTS)
    assert {type(value) for value in taken.values()} == {str}


def test_an_entry_is_shown_without_its_password() -> None:
    """And not in full where it is long."""
    assert shown_entry(b"https://me:canary@shop.example/") == "https://me:***@shop.example/"
    assert shown_entry(b"\xff") == "\\xff"
    assert len(shown_entry(b"x" * 1_000_000)) < 2100
