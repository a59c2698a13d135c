"""The pages: what they show, in which forms, and that nothing in them is taken for markup."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import update

from crawler.db.models import Page, Record
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.web.conftest import Served

HOSTILE = "</title><script>alert(1)</script>=cmd() \u202e{{ 7*7 }}"
PUBLIC = ("/", "/search", "/search?q=beech", "/sites", "/sites/shop.example", "/snapshots/1", "/-/",
          "/-/patterns", "/-/keyboard", "/admin/login")  # fmt: skip


@pytest.fixture
def filled(served: Served) -> Served:
    """A shop with a chair, and a page whose title is an attack."""
    about = "<p>A chair of beech, made by hand.</p>" * 5
    keep(served.database, served.blobs, f"<title>A chair</title><main><h1>A chair</h1>{about}</main>")
    hostile = HOSTILE.replace("<", "&lt;")
    keep(
        served.database, served.blobs, f"<title>{hostile}</title><main><h1>x</h1>{about}</main>",
        "https://shop.example/p?a=<b>&x=1",
    )  # fmt: skip
    index_pages(served.database, served.blobs)
    return served


def test_pages_answer_with_and_without_anything(served: Served, filled: Served) -> None:
    """An empty installation has pages, too."""
    for path in PUBLIC:
        response = filled.get(path, headers={"Accept": "text/html"})
        assert (path, response.status_code) == (path, 200)
        assert response.text.count("<h1") == 1


def test_nothing_is_there_yet(served: Served) -> None:
    """Empty pages say what to do."""
    assert "vitrine demo" in served.get("/").text
    assert "vitrine snapshots index" in served.get("/search").text
    assert "vitrine crawl pdp" in served.get("/sites").text


def test_nothing_that_was_captured_is_markup(filled: Served) -> None:
    """Titles, URLs and queries are text, and no template."""
    for path in ("/search?q=beech", "/sites/shop.example", f"/search?q={HOSTILE}"):
        assert "<script>alert" not in filled.get(path).text
    shown = filled.get("/snapshots/1").text + filled.get("/snapshots/2").text
    assert "<script>alert" not in shown
    assert "{{ 7*7 }}" in shown


def test_an_exhibit_has_the_headers_of_both_sides(served: Served, tmp_path: Path) -> None:
    """What was asked with and what was answered, from the WARC file; not what belongs to other records."""
    asked = (b"Accept-Language", b"cy"), (b"X-Odd", b"<script>alert(1)</script>")
    keys = record(
        served.database, tmp_path / "warcs",
        evolve(exchange(SHOP, "<p>Beech.", day(1), Server="made-up"), request_headers=asked),
        evolve(exchange(f"{SHOP}2", "<p>Oak.", day(2)), request_headers=((b"X-Other", b"1"),)),
    )  # fmt: skip
    keep(served.database, served.blobs, "<p>Beech.", SHOP)
    with served.database.write() as db:
        db.execute(update(Page).values(record_id=keys[0]))
    index_pages(served.database, served.blobs)
    shown = served.get("/snapshots/1").text
    for said in ("Headers of the answer", "made-up", "Headers of the request", "Accept-Language", ">cy<"):
        assert said in shown
    assert "<script>alert" not in shown
    assert "X-Other" not in shown
    with served.database.write() as db:  # the file says otherwise than the row: nothing is guessed
        db.execute(update(Record).where(Record.id == keys[0]).values(record_urn="<urn:uuid:another>"))
    assert "Headers of the request" not in served.get("/snapshots/1").text


def test_a_page_has_its_document_and_its_list(filled: Served) -> None:
    """As JSON what the API says, as CSV what no spreadsheet takes for a formula."""
    found = filled.get("/search.json?q=beech").json()
    assert found["total"] == filled.get("/api/search?q=beech").json()["total"] == 2
    answer = filled.get("/search.csv?q=beech")
    assert answer.headers["content-disposition"] == 'attachment; filename="search.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["url"] for row in rows} == {hit["original_url"] for hit in found["results"]}
    assert filled.get("/index.json").json()["stats"]["snapshots_total"] == 2
    assert filled.get("/snapshots/1.json").json()["snapshot"]["id"] == 1


def test_the_words_that_were_found_are_marked(filled: Served) -> None:
    """And a filter that finds nothing can be taken away."""
    assert "<mark>beech</mark>" in filled.get("/search?q=beech").text
    nothing = filled.get("/search?q=beech&from=2030-01-01&source=shop.example").text
    assert "No page was found" in nothing
    assert 'href="/search?q=beech&amp;source=shop.example"' in nothing


def test_hits_are_counted_by_site_and_year(filled: Served) -> None:
    """Each count is what the address behind it finds; of pages years are not counted."""
    elsewhere, old = "https://other.example/", day(3).replace(year=2019)
    keep(filled.database, filled.blobs, "<p>A beech.", elsewhere, at=day(3), domain="other.example")
    keep(filled.database, filled.blobs, "<p>A beech of old.", SHOP, at=old)
    index_pages(filled.database, filled.blobs)
    for question in ("?q=beech", "?q=beech&view=pages", ""):
        page = filled.get(f"/search{question}").text
        parts = re.findall(r'class="chip" href="(/search[^"]*)">([^<]+) <span class="count">(\d+)<', page)
        assert {"other.example", "shop.example"} <= {label for _, label, _ in parts}
        for address, _, count in parts:
            path, _, query = unescape(address).partition("?")
            found = filled.get(f"{path}.json?{query}").json()
            assert (address, found["total"]) == (address, int(count))
    assert ">2019 <" in filled.get("/search?q=beech").text
    assert 'aria-label="Years"' not in filled.get("/search?q=beech&view=pages").text


def test_what_cannot_be_understood_is_told_and_left_out(filled: Served) -> None:
    """A form is never answered with an error."""
    for query in ("from=yesterday", "from=2026-05-02&to=2026-05-01", "page=x", "page=99999999999999999999",
                  "view=odd", "sort=odd", "source=Ü", "q=" + "a" * 300, "from=0000-00-00"):  # fmt: skip
        assert (query, filled.get(f"/search?{query}").status_code) == (query, 200)
    assert "is no day" in filled.get("/search?from=yesterday").text


def test_a_snapshot_is_verified_when_it_is_asked(filled: Served) -> None:
    """A file that was changed is found out."""
    assert "byte for byte" in filled.get("/snapshots/1?verify=1").text
    path = next(filled.stores.settings.artifacts.rglob("*.gz"))
    path.write_bytes(b"something else")
    shown = [filled.get(f"/snapshots/{number}?verify=1").text for number in (1, 2)]
    assert sum("byte for byte" in each for each in shown) == 1


def test_pages_load_nothing_from_elsewhere(filled: Served) -> None:
    """What a browser would fetch is served here, and there is no script or style in the page itself."""
    for path in PUBLIC:
        text = filled.get(path).text
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]*)"', text)
        assert fetched
        assert all(address.startswith("/static/") for address in fetched)
        assert not re.search(r"<style|style=|\son\w+=|javascript:", text)
        assert len(text) < 60_000


def test_static_files_are_kept_for_as_long_as_they_are_the_same(served: Served) -> None:
    """Under their digest; nothing else of the package can be had."""
    [address] = re.findall(r'href="(/static/vitrine.css[^"]*)"', served.get("/").text)
    answer = served.get(address)
    assert "immutable" in answer.headers["cache-control"]
    again = served.get(address, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for other in ("nothing.css", "..%2fapp.py", "base.html", "%2e%2e"):
        assert served.get(f"/static/{other}").status_code == 404


def test_errors_are_pages_for_browsers(served: Served) -> None:
    """And documents for programs."""
    page = served.get("/snapshots/999", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "<h1>Not Found</h1>" in page.text
    assert served.get("/snapshots/999").json()["code"] == "not_found"
