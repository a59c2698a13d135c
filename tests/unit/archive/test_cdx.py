"""A CDX server's questions are answered in pywb's forms, a bounded page at a time; TimeMaps are whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from crawler.archive import cdx as server
from crawler.archive.asked import AddressError
from crawler.archive.cdx import CdxOrder, cdx
from crawler.archive.listings import FilterError, filters_of, line_of, link_timemap, wanted_fields
from crawler.archive.lookup import all_of, span_of
from crawler.errors import UsageError
from tests.unit.archive.captured import SHOP, day, exchange, record

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


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
    """Of a URL, all that begins so, a host, a domain; of some time; in either order."""
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


def test_filters(filled: Database) -> None:
    """As pywb has them, on any field."""
    assert asked(filled, SHOP, match_type="host", filters=["=status:404"]) == [(f"{SHOP}p/q", "02")]
    assert len(asked(filled, SHOP, match_type="domain", filters=["!mime:html"])) == 1
    assert (
        len(asked(filled, SHOP, match_type="domain", filters=["~status:2..", "~mime:text/.*|image/png"])) == 6
    )


@pytest.mark.parametrize(
    "given", ["status", "~status:(a+)+$", "~url:.*.*.*.*", "nothing:1", "~mime:[a-z]", "=" * 999, "~url:\\"]
)
def test_what_is_no_filter(given: str) -> None:
    """Is refused, with what may take for ever."""
    with pytest.raises(FilterError):
        filters_of([given])


@pytest.mark.parametrize("sort", ["default", "reverse"])
@pytest.mark.parametrize("rows", [1, 2, 2_000])
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
    assert len(found) == 6
    assert len({(line["url"], line["timestamp"]) for line in found}) == 6


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
    with pytest.raises(UsageError):
        wanted_fields("url,nothing")


def test_forms_of_a_line(filled: Database) -> None:
    """Text with all that is known, or with the fields that are named; JSON."""
    [line, *_] = cdx(filled, CdxOrder(f"{SHOP}p")).lines
    assert line_of(line, "text", ("timestamp", "status")) == "20260501120000 200\n"
    assert json.loads(line_of(line, "json")) == line
    head, _, rest = line_of(line, "cdxj").partition(" {")
    assert head == "example,shop)/p 20260501120000"
    assert json.loads("{" + rest)["filename"].endswith(".warc.gz")
    assert set(line) == {
        "urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename",
    }  # fmt: skip


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
