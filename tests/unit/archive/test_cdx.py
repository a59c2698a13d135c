"""A CDX server's questions are answered in pywb's forms, a bounded page at a time; TimeMaps are whole."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from crawler.archive import cdx as server
from crawler.archive.asked import AddressError
from crawler.archive.cdx import CdxOrder, cdx
from crawler.archive.listings import (
    MAX_FILTER_CHARS,
    MAX_FILTERS,
    FilterError,
    fields_of,
    filters_of,
    line_of,
    link_timemap,
    wanted_fields,
)
from crawler.archive.lookup import Capture, all_of, span_of
from crawler.errors import UsageError
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.written import NOON

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


HOUR = timedelta(hours=1)
ORIGIN = "http://archive.example"


@pytest.fixture
def filled(database: Database, tmp_path: Path) -> Database:
    """Four URLs, one of them captured on five days."""
    record(
        database, tmp_path / "warcs",
        *(exchange(f"{SHOP}p", f"day {number}", day(number)) for number in range(1, 6)),
        exchange(f"{SHOP}p/q", "not there", day(2), status=404),
        exchange("https://img.shop.example/a.png", "x", day(3), kind="image/png"),
        exchange("https://shop.example.evil.example/p", "x", day(3)),
    )  # fmt: skip
    return database


def asked(database: Database, url: str, **how: Any) -> list[tuple[str, str]]:
    """URLs and days of the lines."""
    how["filters"] = filters_of(how.get("filters", ()))
    return [(line["url"], line["timestamp"][6:8]) for line in cdx(database, CdxOrder(url, **how)).lines]


def test_which_captures(filled: Database) -> None:
    """Of a URL, all that begins so, a host, a domain; of some time; in either order; as filters say."""
    page = [(f"{SHOP}p", f"0{number}") for number in range(1, 6)]
    assert asked(filled, f"{SHOP}p") == asked(filled, "http://www.shop.example/p") == page
    assert asked(filled, f"{SHOP}p", sort="reverse") == page[::-1]
    assert asked(filled, f"{SHOP}p", since="20260502", until="20260504") == page[1:4]
    assert asked(filled, f"{SHOP}p", since="2026", until="202605") == page
    assert asked(filled, f"{SHOP}p", until="2025") == []
    assert asked(filled, f"{SHOP}p", closest="20260504", limit=2) in (
        [page[2], page[3]], [page[3], page[2]],
    )  # fmt: skip
    assert asked(filled, f"{SHOP}p*", match_type="exact")[-1] == (f"{SHOP}p/q", "02")
    assert len(asked(filled, SHOP, match_type="host")) == 6
    assert ("https://img.shop.example/a.png", "03") in asked(filled, SHOP, match_type="domain")
    assert not any("evil" in url for url, _ in asked(filled, SHOP, match_type="domain"))
    assert asked(filled, SHOP, match_type="host", filters=["=status:404"]) == [(f"{SHOP}p/q", "02")]


@pytest.mark.parametrize("sort", ["default", "reverse"])
@pytest.mark.parametrize("rows", [1, 2_000])
def test_pages(filled: Database, monkeypatch: pytest.MonkeyPatch, rows: int, sort: str) -> None:
    """Put together they are the whole, whatever their size."""
    monkeypatch.setattr(server, "PAGE_ROWS", rows)
    order = CdxOrder(SHOP, "domain", sort=sort, limit=3, filters=filters_of(["!status:404"]))
    found: list[dict[str, str]] = []
    for _ in range(3):
        page = cdx(filled, order)
        found += page.lines
        order = evolve(order, after=page.next_key)
        if not page.next_key:
            break
    assert len(found) == len({(line["url"], line["timestamp"]) for line in found}) == 6


def test_a_filter_that_leaves_nothing_is_bounded(filled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many rows are looked at; the answer says where to go on."""
    monkeypatch.setattr(server, "PAGE_ROWS", 2)
    monkeypatch.setattr(server, "MAX_LOOKED_AT", 4)
    page = cdx(filled, CdxOrder(f"{SHOP}p", filters=filters_of(["=status:999"])))
    assert page.lines == []
    assert page.next_key


def test_what_is_asked_wrongly(filled: Database) -> None:
    """Is said to be; nothing breaks."""
    for order in (
        CdxOrder(SHOP, closest="x"), CdxOrder(SHOP, "host", closest="2026"), CdxOrder(SHOP, after="x"),
        CdxOrder(SHOP, after="WzFd"), CdxOrder(SHOP, after="é"),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            cdx(filled, order)
    with pytest.raises(AddressError):
        cdx(filled, CdxOrder("javascript:x"))
    with pytest.raises(UsageError, match="no field 'nothing'"):
        wanted_fields("url,nothing")


@pytest.mark.parametrize(
    ("given", "keeps"),
    [
        ("=status:200", True), ("=status:20", False), ("status:20", True), ("!=status:404", True),
        ("!status:2", False), ("~mime:text/.*", True), ("~mime:text", False),
        ("~mime:image/.*|text/html", True), ("~mime:TEXT/.*", False), ("=digest:-", True),
        ("!~url:.*evil.*", True), (r"~url:https://shop\.example/", True), ("=url:", False),
        ("url:", True),
    ],
)  # fmt: skip
def test_filters(given: str, *, keeps: bool) -> None:
    """`=` is that, `~` fits the whole, nothing has it, `!` is not; what a line lacks is a hyphen."""
    [wanted] = filters_of([given])
    assert wanted.keeps({"status": "200", "mime": "text/html", "url": SHOP}) is keeps


@pytest.mark.parametrize(
    "given",
    [
        "", "status", "=:200", "colour:red", "~mime:(a+)+$", "~mime:[a-z]*", "~mime:a{1,99}",
        "~url:.*a.*b.*c.*", "~url:" + "|".join("ab" * MAX_FILTERS), "url:" + "x" * MAX_FILTER_CHARS,
        "~url:\\", "~url:(?=x)", "~url:*", r"~url:\1", r"~url:\q", r"~url:\x",
    ],
)  # fmt: skip
def test_what_is_no_filter(given: str) -> None:
    """Nor a pattern that could take for ever, nor more than so many."""
    with pytest.raises(FilterError):
        filters_of([given])
    assert len(filters_of(["=status:200"] * MAX_FILTERS)) == MAX_FILTERS
    with pytest.raises(FilterError, match="11 filters"):
        filters_of(["=status:200"] * (MAX_FILTERS + 1))


@pytest.mark.parametrize("pattern", [".*a.*a.*b", ".+a.+a.+b", ".*aa.*.*b"])
def test_a_pattern_that_fits_nothing_costs_no_more_for_its_wildcards(pattern: str) -> None:
    """Counted in one run: it was the cube of a URL's length, and minutes for the longest."""
    plain, worst = (filters_of([f"~url:{each}"])[0] for each in (".*b", pattern))
    url = {"url": "a" * 2_000}
    assert not worst.keeps(url)
    costs = []
    for each in (plain, worst):
        before = time.thread_time_ns()
        for _ in range(20):
            each.keeps(url)
        costs.append(time.thread_time_ns() - before)
    assert costs[1] < 1_000 * costs[0]


@given(st.text("a.*b|", min_size=1, max_size=8), st.text("ab", max_size=12))
def test_what_fits_is_what_expressions_say(pattern: str, text: str) -> None:
    """Of every pattern that is taken, though wildcards never go back."""
    try:
        [found] = filters_of([f"~url:{pattern}"])
    except FilterError:
        return
    assert found.keeps({"url": text}) is (re.fullmatch(pattern, text) is not None)


def a_capture(**columns: object) -> Capture:
    """One that lies in a WARC file."""
    given = {
        "record_id": 1, "url": SHOP, "url_key": "example,shop)/", "captured_at": NOON, "kind": "response",
        "status": 200, "mime_type": "text/html; charset=utf-8", "digest": "sha1:A", "offset": 5, "length": 7,
        "file": "a.warc.gz",
    }  # fmt: skip
    return Capture(**{**given, **columns})  # type: ignore[arg-type]


def test_fields_of_a_capture() -> None:
    """What is not known is a hyphen, or is left out where it would be a place."""
    assert set(fields_of(a_capture())) == {
        "urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename",
    }  # fmt: skip
    assert fields_of(a_capture())["mime"] == "text/html"
    assert fields_of(a_capture(mime_type=None))["mime"] == "unk"
    assert fields_of(a_capture(kind="revisit"))["mime"] == "warc/revisit"
    bare = fields_of(a_capture(status=None, digest=None, offset=None, length=None, file=None))
    assert (bare["status"], bare["digest"]) == ("-", "-")
    assert not {"offset", "length", "filename"} & bare.keys()
    assert fields_of(a_capture(offset=0))["offset"] == "0"


def test_a_line_stays_one_line() -> None:
    """With a URL and a key of whatever characters: what is read again is what was written."""
    odd = fields_of(
        a_capture(url='https://shop.example/a b"\n\u2028c', url_key="example,shop)/a b", mime_type="x y")
    )
    for output in ("text", "cdxj"):
        key, at, said = line_of(odd, output).split(" ", 2)
        assert (key, at, json.loads(said)["url"]) == ("example,shop)/a%20b", "20260504120000", odd["url"])
    assert json.loads(line_of(odd, "json")) == odd
    assert line_of(odd, "json").count("\n") == 1


def test_chosen_fields_stand_in_their_order() -> None:
    """As words of a text, a space in them spelt out."""
    fields = fields_of(a_capture(url="https://shop.example/a b"))
    assert line_of(fields, "text", wanted_fields(" url, status,url,,offset")) == (
        "https://shop.example/a%20b 200 5\n"
    )
    assert json.loads(line_of(fields, "json", ("status", "filename"))) == {
        "status": "200",
        "filename": "a.warc.gz",
    }
    assert wanted_fields("") == ()


def test_a_timemap(filled: Database) -> None:
    """Says where it begins and ends, and has every capture once."""
    with filled.read() as db:
        span = span_of(db, f"{SHOP}p")
    assert span is not None
    text = "".join(link_timemap(f"{SHOP}p", "http://here", span, all_of(filled, f"{SHOP}p")))
    lines = text.strip().split(",\n")
    assert lines[0].startswith(
        f'<http://here/web/timemap/link/{SHOP}p>; rel="self"; from="Fri, 01 May 2026 12:'
    )
    assert lines[1:3] == [f'<http://here/web/{SHOP}p>; rel="timegate"', f'<{SHOP}p>; rel="original"']
    assert lines[3].startswith(f'<http://here/web/20260501120000/{SHOP}p>; rel="first memento"; datetime=')
    assert lines[-1].startswith(f'<http://here/web/20260505120000/{SHOP}p>; rel="last memento"; datetime=')
    assert len(lines) == 8


def test_a_timemap_of_one_capture() -> None:
    """It is the first and the last; each relation is named once."""
    one = "".join(link_timemap(SHOP, ORIGIN, (NOON, NOON), [a_capture()]))
    assert 'rel="first last memento"' in one
    assert (one.count(" memento"), one[-1:]) == (1, "\n")
