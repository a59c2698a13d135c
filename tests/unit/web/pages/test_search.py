"""The page of the search: its forms, its marks, its counts, and that no form is an error."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import TYPE_CHECKING

from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
    assert "a bracket is not closed" in filled.get("/search?q=(beech").text
    assert "is not closed" not in filled.get("/search?q=(beech)").text
    assert "is no day" in filled.get("/search?from=yesterday").text
