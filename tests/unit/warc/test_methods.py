"""Answers to other methods than GET have URLs of their own to be looked up by."""

from __future__ import annotations

import pytest

from crawler.warc.methods import lookup_url

URL = "https://shop.example/p"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("method", "kind", "body", "query"),
    [
        ("GET", FORM, b"a=1", ""),
        ("HEAD", "", b"", "?__wb_method=HEAD"),
        ("DELETE", FORM, b"a=1", "?__wb_method=DELETE"),
        ("POST", "", b"", "?__wb_method=POST"),
        ("POST", FORM, b"a=1+2&b=%C3%A9", "?__wb_method=POST&a=1 2&b=é"),
        ("POST", FORM, b"user=ann&password=xyz", "?__wb_method=POST&user=ann&password=***"),
        ("PUT", FORM, b"\xff", "?__wb_method=PUT&__wb_post_data=/w=="),
        (
            "POST",
            "application/json",
            b'{"a": [1, 2.0, 2.5], "b": {"c": true}}',
            "?__wb_method=POST&a=1&a.2_=2&a.3_=2.5&c=true",
        ),
        ("POST", "application/json", b"[" * 5000, "?__wb_method=POST"),
        ("POST", "text/plain", b"[", "?__wb_method=POST&__wb_post_data=Ww=="),
        ("POST", "multipart/form-data", b"--x", "?__wb_method=POST&__wb_post_data=LS14"),
    ],
)
def test_what_was_sent_is_part_of_the_query(method: str, kind: str, body: bytes, query: str) -> None:
    """Of a form its fields, of JSON its values, of anything else its bytes; of GET nothing."""
    assert lookup_url(URL, method, kind, body) == URL + query


def test_a_query_that_is_there_goes_on() -> None:
    """What is long is cut, as in pywb."""
    found = lookup_url(f"{URL}?a=1", "POST", "image/png", b"x" * 10_000)
    assert found.startswith(f"{URL}?a=1&__wb_method=POST&__wb_post_data=eHh4")
    assert len(found) < 4200
