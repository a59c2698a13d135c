"""The index has a line for each answer, by the key under which others look for it."""

from __future__ import annotations

import json
from io import BytesIO
from typing import IO

import pytest

from crawler.warc.cdxj import line_of, sorted_lines, url_key
from crawler.warc.methods import lookup_url
from tests.unit.warc.made import entries, exchange, made, pages


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.Shop.example/", "example,shop)/"),
        ("http://www2.shop.example:80/A/B/", "example,shop)/a/b"),
        ("https://shop.example:8443/a?b=2&A=1", "example,shop:8443)/a?a=1&b=2"),
        ("https://me:pw@shop.example/a/./b/../c//d#x", "example,shop)/a/c/d"),
        ("https://shop.example/a%2520b?q=%41", "example,shop)/a%20b?q=a"),
        ("https://shop.example/?jsessionid=0123456789abcdef0123456789abcdef", "example,shop)/"),
        ("https://shop.example/p?", "example,shop)/p"),
        ("https://bücher.example/", "example,xn--bcher-kva)/"),
        ("http://127.0.0.1:8000/x", "1,0,0,127:8000)/x"),
        ("https://shop.example/(s(0123456789abcdefghijklmn))/p.aspx", "example,shop)/p.aspx"),
        ("urn:text", "urn:text"), ("http://[bad", "http://[bad"),
    ],
)  # fmt: skip
def test_keys(url: str, key: str) -> None:
    """What says nothing about the page is left out; what does not parse stays as it is."""
    assert url_key(url) == key


def test_a_line_says_where_an_answer_is() -> None:
    """As cdxj-indexer writes it; requests and what describes the file have none."""
    data, [(offset, pair)] = made(exchange("https://shop.example/p?a=1", status=404))
    [line] = filter(None, (line_of(each, "a.warc.gz") for each in entries(data)))
    key, at, said = line.decode().split(" ", 2)
    assert (key, at) == ("example,shop)/p?a=1", "20260504120000")
    assert json.loads(said) == {
        "url": "https://shop.example/p?a=1", "mime": "text/html", "status": "404",
        "digest": pair.payload_digest, "length": str(pair.length), "offset": str(offset),
        "filename": "a.warc.gz",
    }  # fmt: skip


def test_a_revisit_is_marked() -> None:
    """So that replay looks for the bytes elsewhere."""
    data, _ = made(exchange(), exchange(), revisits="url")
    lines = [line for each in entries(data) if (line := line_of(each, "a"))]
    assert [json.loads(line.split(b" ", 2)[2])["mime"] for line in lines] == ["text/html", "warc/revisit"]


def test_sorting_in_little_memory() -> None:
    """Through files, with the same result as in memory; each line once."""
    spooled: list[BytesIO] = []

    def spool() -> IO[bytes]:
        spooled.append(BytesIO())
        return spooled[-1]

    lines = [f"example,shop)/{number * 7919 % 1000} 2026 {{}}\n".encode() for number in range(1500)]
    assert list(sorted_lines(lines, spool, most=2000)) == sorted(set(lines))
    assert len(spooled) > 10
    assert list(sorted_lines(pages(1)[:0], spool)) == []


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
