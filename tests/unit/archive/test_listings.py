"""Lines and links of captures are what a program can take apart again; filters take bounded time."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.archive.listings import (
    MAX_FILTER_CHARS,
    MAX_FILTERS,
    FilterError,
    fields_of,
    filters_of,
    line_of,
    lines_timemap,
    link_timemap,
    wanted_fields,
)
from crawler.archive.lookup import Capture
from crawler.errors import UsageError
from tests.unit.archive.written import NOON, SHOP

HOUR = timedelta(hours=1)
ORIGIN = "http://archive.example"


def a_capture(**columns: object) -> Capture:
    """One that lies in a WARC file."""
    given = {
        "record_id": 1, "url": SHOP, "url_key": "example,shop)/", "captured_at": NOON, "kind": "response",
        "status": 200, "mime_type": "text/html; charset=utf-8", "digest": "sha1:A", "offset": 5, "length": 7,
        "file": "a.warc.gz",
    }  # fmt: skip
    return Capture(**{**given, **columns})  # type: ignore[arg-type]


def kept(*filters: str, **fields: str) -> bool:
    """Whether a line stays."""
    return all(each.keeps(fields) for each in filters_of(filters))


@pytest.mark.parametrize(
    ("given", "keeps"),
    [
        ("=status:200", True), ("=status:20", False), ("status:20", True), ("!=status:404", True),
        ("!status:2", False), ("~mime:text/.*", True), ("~mime:text", False),
        ("~mime:image/.*|text/html", True),
        ("~mime:TEXT/.*", False), ("=digest:-", True), ("!~url:.*evil.*", True),
        (r"~url:https://shop\.example/", True),
        ("=url:", False), ("url:", True),
    ],
)  # fmt: skip
def test_filters(given: str, *, keeps: bool) -> None:
    """`=` is that, `~` fits the whole, nothing has it, `!` is not; what a line lacks is a hyphen."""
    assert kept(given, status="200", mime="text/html", url=SHOP) is keeps


@pytest.mark.parametrize(
    "given",
    [
        "", "status", "=:200", "colour:red", "~mime:(a+)+$", "~mime:[a-z]*",
        "~mime:a{1,99}",
        "~url:.*a.*b.*c.*", "~url:" + "|".join("ab" * MAX_FILTERS), "url:" + "x" * MAX_FILTER_CHARS,
        "~url:\\", "~url:(?=x)", "~url:*", r"~url:\1", r"~url:\q", r"~url:\x",
    ],
)  # fmt: skip
def test_what_is_no_filter(given: str) -> None:
    """Nor a pattern that could take for ever."""
    with pytest.raises(FilterError):
        filters_of([given])


def test_so_many_filters_and_no_more() -> None:
    """Each costs something for each line."""
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
    """Of every pattern that is taken."""
    try:
        [found] = filters_of([f"~url:{pattern}"])
    except FilterError:
        return
    assert found.keeps({"url": text}) is (re.fullmatch(pattern, text) is not None)


def test_fields_of_a_capture() -> None:
    """What is not known is a hyphen, or is left out where it would be a place."""
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
    with pytest.raises(UsageError, match="no field 'colour'"):
        wanted_fields("url,colour")


def test_first_and_last_are_named() -> None:
    """A capture that is both, too; each relation once, whatever lies between."""
    three = [a_capture(captured_at=NOON + n * HOUR) for n in range(3)]
    text = "".join(link_timemap(SHOP, ORIGIN, (NOON, NOON + 2 * HOUR), three))
    assert (
        text.count('rel="first memento"')
        == text.count('rel="memento"')
        == text.count('rel="last memento"')
        == 1
    )
    assert text.count(",\n") == 5
    assert text.endswith("\n")
    one = "".join(link_timemap(SHOP, ORIGIN, (NOON, NOON), three[:1]))
    assert 'rel="first last memento"' in one


def test_a_timemap_of_lines_has_each_capture() -> None:
    """In the form that is asked for."""
    lines = list(lines_timemap([a_capture(), a_capture(status=404)], "json"))
    assert [json.loads(each)["status"] for each in lines] == ["200", "404"]
