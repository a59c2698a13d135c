"""Addresses below `/web/` are read as pywb's are, whatever proxies and people made of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.archive.asked import AddressError, Kind, accepted_time, asked, http_date, link, time_of

SHOP = "https://shop.example/a?x=1"


@pytest.mark.parametrize(
    ("rest", "kind", "url", "timestamp", "modifier"),
    [
        (f"20260501123000/{SHOP}", Kind.CAPTURE, SHOP, "20260501123000", ""),
        (f"20260501mp_/{SHOP}", Kind.CAPTURE, SHOP, "20260501", "mp_"),
        (f"2026id_/{SHOP}", Kind.CAPTURE, SHOP, "2026", "id_"), (SHOP, Kind.TIMEGATE, SHOP, "", ""),
        (f"*/{SHOP}", Kind.CALENDAR, SHOP, "", ""), (f"2026*/{SHOP}", Kind.CALENDAR, SHOP, "2026", ""),
        (f"timemap/json/{SHOP}", Kind.TIMEMAP, SHOP, "", ""),
        ("2026/http:/evil.example", Kind.CAPTURE, "http://evil.example", "2026", ""),
        ("//evil.example/x", Kind.TIMEGATE, "http://evil.example/x", "", ""),
        ("shop.example/a", Kind.TIMEGATE, "http://shop.example/a", "", ""),
        ("127.0.0.1:8000/a", Kind.TIMEGATE, "http://127.0.0.1:8000/a", "", ""),
        ("localhost:8000/a", Kind.TIMEGATE, "http://localhost:8000/a", "", ""),
        ("https%3A%2F%2Fshop.example%2Fa", Kind.TIMEGATE, "https://shop.example/a", "", ""),
        ("2026/https://shop.example/a%2Fb/c", Kind.CAPTURE, "https://shop.example/a%2Fb/c", "2026", ""),
        ("2026/https://shop.example/a#b", Kind.CAPTURE, "https://shop.example/a", "2026", ""),
        ("2026/HTTPS://Shop.Example:443/a", Kind.CAPTURE, "https://shop.example/a", "2026", ""),
    ],
)  # fmt: skip
def test_what_is_asked_for(rest: str, kind: Kind, url: str, timestamp: str, modifier: str) -> None:
    """Which capture of which URL, or which list."""
    found = asked(rest)
    assert (found.kind, found.url, found.timestamp, found.modifier) == (kind, url, timestamp, modifier)


@pytest.mark.parametrize(
    "rest",
    [
        "", "/", "http://", "javascript:alert(1)", "data:text/html,x", "ftp://shop.example/",
        "123/http://a.example/", "12345678901234567/http://a.example/", "2026xx_/http://a.example/",
        "timemap/xml/http://a.example/", "20261301/http://a.example/", "20260532mp_/http://a.example/",
        "20260230id_/http://a.example/", "2026050124/http://a.example/", "202613*/http://a.example/",
        "202605011260/http://a.example/", "20260501125960/http://a.example/",
        "http://user:secret@shop.example/", "http://" + "a" * 9000, "2026/http://[::1/",
    ],
)  # fmt: skip
def test_what_asks_for_nothing(rest: str) -> None:
    """Is said to, with a reason; nobody is sent anywhere."""
    with pytest.raises(AddressError):
        asked(rest)


@pytest.mark.parametrize(
    ("digits", "parts"),
    [
        ("2026", (2026, 1, 1, 0, 0, 0)), ("202605", (2026, 5, 1, 0, 0, 0)), ("20261", (2026, 10, 1, 0, 0, 0)),
        ("20260000000000", (2026, 1, 1, 0, 0, 0)), ("20260501123", (2026, 5, 1, 12, 30, 0)),
        ("20240229235959", (2024, 2, 29, 23, 59, 59)), ("00000000000000", (1, 1, 1, 0, 0, 0)),
    ],
)  # fmt: skip
def test_the_beginning_of_a_time_is_its_earliest(digits: str, parts: tuple[int, ...]) -> None:
    """As readers of archives type them, zeros and all."""
    assert time_of(digits).timetuple()[:6] == parts


def test_the_time_that_a_client_accepts() -> None:
    """In the form of HTTP; no header is no time, and a bad one is told."""
    at = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
    assert http_date(at) == "Fri, 01 May 2026 12:30:00 GMT"
    assert accepted_time(http_date(at)) == at
    assert accepted_time(None) is accepted_time(" ") is None
    beyond = "Fri, 31 Dec 9999 23:59:59 -2359"
    for bad in ("yesterday", "2026-05-01", "Fri, 99 May 2026 12:30:00 GMT", beyond):
        with pytest.raises(AddressError):
            accepted_time(bad)


def test_an_address_cannot_break_out_of_its_link() -> None:
    """Whatever is in it."""
    assert link("http://a.example/>;x", "original") == '<http://a.example/%3E;x>; rel="original"'
